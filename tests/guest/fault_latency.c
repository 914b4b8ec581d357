// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is the latency histogram complete and right?
 *
 * mmkit-test: timeout=60 cpus=2
 *
 * Complete: it holds as many faults as total. Right: faults that a userfaultfd
 * holds up for a known time are where they belong.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "lib/file.h"
#include "lib/mmkit.h"
#include "lib/uffd.h"
#include "lib/util.h"

#define FAST		400
#define SLOW		40
#define DELAY_MS	20
#define LATENCY		MMKIT_DEBUGFS "fault/latency"
#define LATENCY_RAW	MMKIT_DEBUGFS "fault/latency_raw"
#define MAX_BUCKETS	2048

struct latency {
	unsigned long long count, backward, p50, p90, p99, p99_9, max;
};

struct bucket {
	unsigned long long low, high, count;
};

static struct bucket buckets[MAX_BUCKETS];
static size_t nr_buckets;
static char text[256 << 10];

static bool read_latency(struct latency *l)
{
	if (file_read(LATENCY, text, sizeof(text)) < 0)
		return false;
	return sscanf(text,
		      "count %llu backward %llu p50 %llu ns p90 %llu ns p99 %llu ns p99.9 %llu ns max %llu ns",
		      &l->count, &l->backward, &l->p50, &l->p90, &l->p99,
		      &l->p99_9, &l->max) == 7;
}

static bool read_buckets(void)
{
	char *line, *save = NULL;

	nr_buckets = 0;
	if (file_read(LATENCY_RAW, text, sizeof(text)) < 0)
		return false;
	line = strtok_r(text, "\n", &save);
	if (!line || strcmp(line, "low_ns high_ns count"))
		return false;
	while ((line = strtok_r(NULL, "\n", &save))) {
		struct bucket *b = &buckets[nr_buckets];

		if (nr_buckets == MAX_BUCKETS ||
		    sscanf(line, "%llu %llu %llu", &b->low, &b->high,
			   &b->count) != 3)
			return false;
		nr_buckets++;
	}
	return true;
}

/* in which bucket the value of this rank is, counted from 1 */
static const struct bucket *bucket_of_rank(unsigned long long rank)
{
	unsigned long long sum = 0;
	size_t i;

	for (i = 0; i < nr_buckets; i++) {
		sum += buckets[i].count;
		if (sum >= rank)
			return &buckets[i];
	}
	return NULL;
}

static void check_percentile(unsigned long long value, unsigned long long count,
			     unsigned int per_mille, const char *name)
{
	unsigned long long rank = (count * per_mille + 999) / 1000;
	const struct bucket *b = bucket_of_rank(rank ? rank : 1);

	/* low and high are rounded to nanoseconds, one by one */
	if (!ktap_ok(b && value + 1 >= b->low && value <= b->high + 1,
		     "%s is in the bucket of its rank", name) && b)
		ktap_note("%llu is not in %llu..%llu", value, b->low, b->high);
}

static void check_complete(const struct latency *l,
			   const struct fault_counts *c)
{
	unsigned long long sum = 0, previous = 0;
	bool ordered = true, narrow = true;
	size_t i;

	for (i = 0; i < nr_buckets; i++) {
		const struct bucket *b = &buckets[i];

		sum += b->count;
		if (b->low > b->high || (i && b->low < previous))
			ordered = false;
		/* 32 buckets for each power of two; one clock tick at least */
		if (b->high - b->low > b->low / 32 + 100)
			narrow = false;
		previous = b->high;
	}
	ktap_eq(l->count, c->stat[FS_TOTAL], "count is total");
	/* what a counter that ran backwards took has no bucket */
	ktap_eq(sum + l->backward, l->count, "the buckets add up to count");
	ktap_ok(ordered, "the buckets are ordered and apart");
	ktap_ok(narrow, "no bucket is wider than 1/32 of its value");
	ktap_ok(l->p50 <= l->p90 && l->p90 <= l->p99 && l->p99 <= l->p99_9 &&
		l->p99_9 <= l->max, "the percentiles are ordered");
	check_percentile(l->p50, sum, 500, "p50");
	check_percentile(l->p90, sum, 900, "p90");
	check_percentile(l->p99, sum, 990, "p99");
	check_percentile(l->p99_9, sum, 999, "p99.9");
	check_percentile(l->max, sum, 1000, "max");
}

/* slow faults, one at a time; the longest and shortest as seen from outside */
static int slow_faults(struct uffd *u, unsigned long long *shortest,
		       unsigned long long *longest)
{
	size_t i;

	*shortest = ~0ull;
	*longest = 0;
	for (i = 0; i < u->pages; i++) {
		unsigned long long start = now_ns(), took;

		touch_write(u->area + i * page_size(), 1);
		took = now_ns() - start;
		if (took < *shortest)
			*shortest = took;
		if (took > *longest)
			*longest = took;
	}
	return 0;
}

static unsigned long long count_from(unsigned long long ns)
{
	unsigned long long sum = 0;
	size_t i;

	for (i = 0; i < nr_buckets; i++)
		if (buckets[i].high >= ns)
			sum += buckets[i].count;
	return sum;
}

static void check_delay(const struct latency *l, unsigned long long shortest,
			unsigned long long longest)
{
	unsigned long long delay = DELAY_MS * NSEC_PER_MSEC;
	/*
	 * 1/64 is what a bucket's middle may be off, and 1/32 more is for the
	 * two clocks: where there is no hardware the frequency of the counter
	 * is an estimate.
	 */
	unsigned long long low = delay - delay / 64 - delay / 32;
	unsigned long long high = longest + longest / 64 + longest / 32;

	ktap_note("delay %d ms; faults took %llu to %llu ns; p99 %llu p99.9 %llu max %llu",
		  DELAY_MS, shortest, longest, l->p99, l->p99_9, l->max);
	ktap_ok(l->p99 >= low && l->p99 <= high, "p99 is a slow fault");
	ktap_ok(l->p99_9 >= low && l->p99_9 <= high, "p99.9 is a slow fault");
	ktap_ok(l->max >= low && l->max <= high, "max is a slow fault");
	ktap_ok(l->p50 < low, "p50 is a fast fault");
	/* each waits once, in its first attempt */
	ktap_eq(count_from(low), SLOW, "as many slow faults as there were");
}

int main(int argc, char **argv)
{
	unsigned long long shortest, longest;
	struct fault_counts c;
	struct latency l;
	struct uffd u;
	char *fast;
	int ret;

	ktap_start(150);
	mmkit_fresh(argc > 1 ? argv[1] : NULL);
	if (!file_exists(LATENCY))
		ktap_skip_all("no debugfs");
	lock_memory();
	ret = uffd_open(&u, SLOW, DELAY_MS);
	if (ret)
		ktap_skip_all("no userfaultfd: %s", strerror(-ret));
	fast = map_anon(FAST);
	ktap_ok(read_latency(&l) && !l.count && !l.max,
		"an empty histogram reads 0");
	ktap_err(fault_enable(true), 0, "enable");
	touch_write(fast, FAST);
	slow_faults(&u, &shortest, &longest);
	ktap_err(fault_enable(false), 0, "disable");
	ktap_ok(read_latency(&l), "the table can be read");
	ktap_ok(read_buckets(), "the buckets can be read");
	ktap_err(fault_read_stats(&c), 0, "the counters can be read");
	check_complete(&l, &c);
	check_delay(&l, shortest, longest);
	uffd_close(&u);
	ktap_err(mmkit_unload(), 0, "unload");
	return ktap_finish();
}
