/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMKIT_SYMBOL_H
#define MMKIT_SYMBOL_H

int mmkit_symbol_resolve(const char *name, unsigned long *addr);

#endif /* MMKIT_SYMBOL_H */
