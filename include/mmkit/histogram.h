/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMKIT_HISTOGRAM_H
#define MMKIT_HISTOGRAM_H

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/types.h>

/*
 * Log-linear histogram of 64-bit values, after HdrHistogram: exact below 32,
 * then 32 equal buckets per power of two. The middle of a bucket is at most
 * 1/64 = 1.6 % away from any value in it. Covers all of u64, so a bucket index
 * needs no bound check; what lands in the topmost buckets is a counter that ran
 * backwards between two CPUs.
 */
#define MMKIT_HIST_SUB_BITS	5
#define MMKIT_HIST_SUB		BIT(MMKIT_HIST_SUB_BITS)
#define MMKIT_HIST_BUCKETS	((64 - MMKIT_HIST_SUB_BITS + 1) * MMKIT_HIST_SUB)

/**
 * mmkit_hist_bucket() - bucket that a value belongs to
 * @value: value to count
 *
 * Context: any; no branch, no memory access.
 * Return: index below MMKIT_HIST_BUCKETS.
 */
static __always_inline unsigned long mmkit_hist_bucket(u64 value)
{
	unsigned long shift = __fls(value | MMKIT_HIST_SUB) - MMKIT_HIST_SUB_BITS;

	return (shift << MMKIT_HIST_SUB_BITS) + (value >> shift);
}

u64 mmkit_hist_low(unsigned int bucket);
u64 mmkit_hist_middle(unsigned int bucket);
u64 mmkit_hist_percentile(const u64 *counts, u64 total, unsigned int per_mille);
u64 mmkit_hist_max(const u64 *counts);

#endif /* MMKIT_HISTOGRAM_H */
