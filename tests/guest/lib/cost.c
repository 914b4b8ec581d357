// SPDX-License-Identifier: GPL-2.0-only
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "../ktap.h"
#include "cost.h"
#include "util.h"

#define WARM_UP	32

/*
 * The counter itself and no system call: that alone would be some hundred
 * instructions. With -icount the TSC of QEMU counts instructions.
 */
static double ticks(void)
{
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (double)((uint64_t)high << 32 | low);
#elif defined(__aarch64__)
	uint64_t count, frequency;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(count));
	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
	return (double)count * 1e9 / (double)frequency;
#else
#error "which counter is there?"
#endif
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/*
 * All in one page table, or a round would cost one more or less of them by
 * where the kernel happens to put the mapping.
 */
static double one_round(unsigned int pages)
{
	size_t page = page_size(), table = page / sizeof(uint64_t);
	char *area = map_anon(2 * table), *p;
	double start;

	p = (char *)(((uintptr_t)area + table * page - 1) & -(table * page));
	start = ticks();
	touch_write(p, pages);
	start = ticks() - start;
	unmap_anon(area, 2 * table);
	return start / pages;
}

struct cost cost_measure(unsigned int pages, unsigned int repeats)
{
	double *all = calloc(repeats, sizeof(*all));
	struct cost cost;
	unsigned int i;

	if (!all)
		ktap_bail("no memory");
	/* one fault for each page */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	for (i = 0; i < WARM_UP; i++)
		one_round(pages);
	for (i = 0; i < repeats; i++)
		all[i] = one_round(pages);
	qsort(all, repeats, sizeof(*all), compare);
	cost.min = all[0];
	cost.median = all[repeats / 2];
	free(all);
	return cost;
}
