// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs mmkit/fault/: how long faults took, as percentiles in latency and as
 * buckets in latency_raw.
 */

#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <mmkit/clock.h>
#include <mmkit/fault.h>
#include <mmkit/histogram.h>
#include <mmkit/hook.h>
#include <mmkit/sysfs.h>

#include "fault.h"

/* What had been counted at the last reset. */
static u64 *baseline;
static DEFINE_MUTEX(baseline_lock);
static struct dentry *fault_debugfs;

/*
 * The clock may go backwards between two CPUs, or over a suspend. Such a
 * difference lands up here, where no latency of this world does.
 */
#define BACKWARD	((unsigned int)mmkit_hist_bucket(1ULL << 62))

/* Returns the sum of all buckets but those that @backward is set to the sum of. */
static u64 read_since_reset(u64 *counts, u64 *backward)
{
	unsigned int i;
	u64 total = 0;

	*backward = 0;

	mutex_lock(&baseline_lock);
	mmkit_fault_read_latency(counts);
	for (i = 0; i < MMKIT_HIST_BUCKETS; i++) {
		counts[i] -= baseline[i];
		if (i < BACKWARD) {
			total += counts[i];
		} else {
			*backward += counts[i];
			counts[i] = 0;
		}
	}
	mutex_unlock(&baseline_lock);
	return total;
}

static bool is_supported(void)
{
	return mmkit_hook_supported(&mmkit_fault_hook) && mmkit_cycles_khz();
}

static int latency_show(struct seq_file *seq, void *unused)
{
	static const struct {
		const char *name;
		unsigned int per_mille;
	} rows[] = {
		{ "p50", 500 }, { "p90", 900 }, { "p99", 990 }, { "p99.9", 999 },
	};
	u64 *counts, total, backward;
	unsigned int i;

	if (!is_supported()) {
		seq_puts(seq, MMKIT_UNSUPPORTED);
		return 0;
	}
	counts = kvmalloc_array(MMKIT_HIST_BUCKETS, sizeof(*counts), GFP_KERNEL);
	if (!counts)
		return -ENOMEM;
	total = read_since_reset(counts, &backward);
	seq_printf(seq, "count %llu\n", total + backward);
	seq_printf(seq, "backward %llu\n", backward);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 cycles = mmkit_hist_percentile(counts, total,
						   rows[i].per_mille);

		seq_printf(seq, "%s %llu ns\n", rows[i].name,
			   mmkit_cycles_to_ns(cycles));
	}
	seq_printf(seq, "max %llu ns\n",
		   mmkit_cycles_to_ns(mmkit_hist_max(counts)));
	kvfree(counts);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(latency);

static int latency_raw_show(struct seq_file *seq, void *unused)
{
	u64 *counts, backward;
	unsigned int i;

	if (!is_supported()) {
		seq_puts(seq, MMKIT_UNSUPPORTED);
		return 0;
	}
	counts = kvmalloc_array(MMKIT_HIST_BUCKETS, sizeof(*counts), GFP_KERNEL);
	if (!counts)
		return -ENOMEM;
	read_since_reset(counts, &backward);
	seq_puts(seq, "low_ns high_ns count\n");
	for (i = 0; i < MMKIT_HIST_BUCKETS; i++)
		if (counts[i])
			seq_printf(seq, "%llu %llu %llu\n",
				   mmkit_cycles_to_ns(mmkit_hist_low(i)),
				   mmkit_cycles_to_ns(mmkit_hist_low(i + 1) - 1),
				   counts[i]);
	kvfree(counts);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(latency_raw);

/**
 * fault_latency_reset() - count from zero from now on
 *
 * Context: process; takes a mutex.
 */
void fault_latency_reset(void)
{
	mutex_lock(&baseline_lock);
	mmkit_fault_read_latency(baseline);
	mutex_unlock(&baseline_lock);
}

/**
 * fault_latency_init() - make the files in debugfs
 *
 * Without debugfs there are none, and that is no error.
 *
 * Return: 0 or -ENOMEM.
 */
int fault_latency_init(void)
{
	baseline = kvcalloc(MMKIT_HIST_BUCKETS, sizeof(*baseline), GFP_KERNEL);
	if (!baseline)
		return -ENOMEM;
	fault_debugfs = debugfs_create_dir("fault", mmkit_debugfs);
	debugfs_create_file("latency", 0444, fault_debugfs, NULL, &latency_fops);
	debugfs_create_file("latency_raw", 0444, fault_debugfs, NULL,
			    &latency_raw_fops);
	return 0;
}

/**
 * fault_latency_exit() - undo fault_latency_init()
 */
void fault_latency_exit(void)
{
	debugfs_remove_recursive(fault_debugfs);
	kvfree(baseline);
}
