/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages of code to run that are not in the page table yet. */
#ifndef MMKIT_TESTS_CODE_H
#define MMKIT_TESTS_CODE_H

#include <stddef.h>

/**
 * struct code - the same page of a file, mapped again and again
 *
 * A mapping of its own for each page: the kernel maps the neighbours of a file
 * page that faults, but not beyond the mapping.
 */
struct code {
	char *area;
	size_t pages;
	int fd;
};

/** code_map() - map @pages pages that each return at once when called */
int code_map(struct code *code, size_t pages);

/** code_call() - call every page: one instruction fault each the first time */
void code_call(const struct code *code);

/** code_unmap() - undo code_map() */
void code_unmap(struct code *code);

#endif
