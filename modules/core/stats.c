// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading histograms. Counting in them is mmkit_hist_bucket() and an increment.
 */

#include <linux/math64.h>
#include <linux/module.h>

#include <mmkit/histogram.h>

/**
 * mmkit_hist_low() - smallest value that a bucket holds
 * @bucket: index; MMKIT_HIST_BUCKETS gives 0, the end of u64 plus one
 */
u64 mmkit_hist_low(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < MMKIT_HIST_SUB)
		return bucket;
	shift = (bucket >> MMKIT_HIST_SUB_BITS) - 1;
	return (u64)(MMKIT_HIST_SUB + (bucket & (MMKIT_HIST_SUB - 1))) << shift;
}
EXPORT_SYMBOL_GPL(mmkit_hist_low);

/**
 * mmkit_hist_middle() - the value that stands for a bucket
 * @bucket: index
 */
u64 mmkit_hist_middle(unsigned int bucket)
{
	u64 low = mmkit_hist_low(bucket);
	u64 last = mmkit_hist_low(bucket + 1) - 1;

	return low + (last - low) / 2;
}
EXPORT_SYMBOL_GPL(mmkit_hist_middle);

/**
 * mmkit_hist_percentile() - value below or at which a share of all values lies
 * @counts: MMKIT_HIST_BUCKETS counts
 * @total: their sum
 * @per_mille: share in thousandths, 999 for p99.9
 *
 * Nearest rank: the smallest value such that the share is reached.
 *
 * Return: middle of the bucket, at most 1.6 % off; 0 when nothing was counted.
 */
u64 mmkit_hist_percentile(const u64 *counts, u64 total, unsigned int per_mille)
{
	u64 rank = div_u64(total * per_mille + 999, 1000);
	u64 sum = 0;
	unsigned int i;

	if (!total)
		return 0;
	for (i = 0; i < MMKIT_HIST_BUCKETS; i++) {
		sum += counts[i];
		if (sum >= rank && sum)
			break;
	}
	return mmkit_hist_middle(i);
}
EXPORT_SYMBOL_GPL(mmkit_hist_percentile);

/**
 * mmkit_hist_max() - largest value counted
 * @counts: MMKIT_HIST_BUCKETS counts
 *
 * Return: middle of its bucket; 0 when nothing was counted.
 */
u64 mmkit_hist_max(const u64 *counts)
{
	unsigned int i = MMKIT_HIST_BUCKETS;

	while (i--)
		if (counts[i])
			return mmkit_hist_middle(i);
	return 0;
}
EXPORT_SYMBOL_GPL(mmkit_hist_max);
