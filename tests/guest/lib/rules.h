/* SPDX-License-Identifier: GPL-2.0-only */
/* What the fault counters must fulfil in every window. */
#ifndef MMKIT_TESTS_RULES_H
#define MMKIT_TESTS_RULES_H

#include <stdbool.h>

#include "mmkit.h"

/**
 * decide_pgfault() - does pgfault count every attempt of a retried fault?
 *
 * By pgfault_counts_retries(); where no fault can be made to be retried, by
 * what came into the kernel with the change: per-VMA locks (both are of 6.4).
 * mmkit_fault must be loaded.
 */
bool decide_pgfault(void);

/**
 * check_sums() - the parts of a window add up; one result each
 * @name: goes before the name of each result
 */
void check_sums(const struct fault_counts *d, const char *name);

/** check_rules() - check_sums(), and total is what the kernel counted */
void check_rules(const struct fault_counts *d, bool retries_in_pgfault,
		 const char *name);

/**
 * sums_right() - the same as check_sums() without results, for loops
 *
 * Return: whether all hold; ktap_note()s those that do not.
 */
bool sums_right(const struct fault_counts *d);

#endif
