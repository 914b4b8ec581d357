/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMKIT_FAULT_FAULT_H
#define MMKIT_FAULT_FAULT_H

/* What the files of mmkit_fault.ko share. */

struct kobject;

/* counts.c */
int fault_counts_init(struct kobject *parent);
void fault_counts_exit(void);
void fault_counts_reset(void);

/* latency.c */
int fault_latency_init(void);
void fault_latency_exit(void);
void fault_latency_reset(void);

#endif /* MMKIT_FAULT_FAULT_H */
