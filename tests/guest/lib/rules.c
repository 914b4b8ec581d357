// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <string.h>

#include "../ktap.h"
#include "rules.h"
#include "util.h"

bool decide_pgfault(void)
{
	int ret = pgfault_counts_retries();

	if (ret < 0) {
		ktap_note("no trial of pgfault: %s", strerror(-ret));
		ret = !fault_supported(FS_VMA_LOCK_SUCCESS);
	}
	ktap_note("pgfault counts %s", ret ? "every attempt" :
		  "a fault that is retried once");
	return ret;
}

enum relation { EQUAL, AT_MOST };

/* sum of the parts, relation, other side */
static const struct rule {
	const char *name;
	enum relation relation;
	enum fault_stat other;
	unsigned int nr_parts;
	enum fault_stat parts[8];
} rules[] = {
	{ "user + kernel + remote == total", EQUAL, FS_TOTAL, 3,
	  { FS_USER, FS_KERNEL, FS_REMOTE } },
	{ "vma_lock_success + vma_lock_retry + mmap_lock == total", EQUAL,
	  FS_TOTAL, 3, { FS_VMA_LOCK_SUCCESS, FS_VMA_LOCK_RETRY, FS_MMAP_LOCK } },
	{ "the results add up to total", EQUAL, FS_TOTAL, 8,
	  { FS_MAJOR, FS_MINOR, FS_RETRY, FS_OOM, FS_SIGBUS, FS_SIGSEGV,
	    FS_HWPOISON, FS_OTHER_ERROR } },
	{ "vma_lock_abort <= mmap_lock", AT_MOST, FS_MMAP_LOCK, 1,
	  { FS_VMA_LOCK_ABORT } },
	{ "vma_lock_retry <= retry", AT_MOST, FS_RETRY, 1,
	  { FS_VMA_LOCK_RETRY } },
};

static bool rule_holds(const struct rule *r, const struct fault_counts *d)
{
	unsigned long long sum = 0;
	unsigned int i;

	for (i = 0; i < r->nr_parts; i++)
		sum += d->stat[r->parts[i]];
	if (r->relation == EQUAL ? sum == d->stat[r->other] :
				   sum <= d->stat[r->other])
		return true;
	ktap_note("%s: the sum is %llu, %s is %llu", r->name, sum,
		  fault_stat_names[r->other], d->stat[r->other]);
	return false;
}

bool sums_right(const struct fault_counts *d)
{
	bool good = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		good &= rule_holds(&rules[i], d);
	return good;
}

void check_sums(const struct fault_counts *d, const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		ktap_ok(rule_holds(&rules[i], d), "%s: %s", name,
			rules[i].name);
}

void check_rules(const struct fault_counts *d, bool retries_in_pgfault,
		 const char *name)
{
	unsigned long long counted = d->stat[FS_TOTAL];

	if (!retries_in_pgfault)
		counted -= d->stat[FS_RETRY];
	ktap_eq(counted, d->pgfault, "%s: %s == pgfault", name,
		retries_in_pgfault ? "total" : "total - retry");
	check_sums(d, name);
}
