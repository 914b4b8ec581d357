/* SPDX-License-Identifier: GPL-2.0-only */
/* What a page fault costs, in instructions. */
#ifndef MMKIT_TESTS_COST_H
#define MMKIT_TESTS_COST_H

/**
 * struct cost - of one write fault in anonymous memory
 * @min: of the cheapest repeat; what repeats best
 * @median: of all repeats
 *
 * In instructions where QEMU runs with -icount shift=0, which makes the guest's
 * clocks tick once per instruction; in nanoseconds anywhere else. The loop
 * around the fault is in it, the same every time: only differences mean much.
 */
struct cost {
	double min, median;
};

/**
 * cost_measure() - fault @pages pages, again and again
 * @pages: at most what one page table maps; best no more than a CPU's list of
 *	free pages holds (some hundred), or the state of the page allocator
 *	shows
 * @repeats: how often; a few more come first and are not counted
 */
struct cost cost_measure(unsigned int pages, unsigned int repeats);

#endif
