/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMKIT_PERCPU_H
#define MMKIT_PERCPU_H

#include <linux/atomic.h>
#include <linux/percpu.h>

/**
 * mmkit_percpu_inc() - count one event on a hot path
 * @pcp: u64 per-CPU variable that is only ever read as a sum over all CPUs
 *
 * On x86 an increment of a per-CPU variable is one instruction. Elsewhere
 * this_cpu_inc() is an atomic increment, as here, with preemption switched off
 * around it; we leave that out, since an increment that lands on the CPU that
 * the task has just left is still in the sum.
 *
 * Context: any.
 */
#ifdef CONFIG_X86_64
#define mmkit_percpu_inc(pcp)	this_cpu_inc(pcp)
#else
#define mmkit_percpu_inc(pcp)						\
	atomic64_inc((atomic64_t *)raw_cpu_ptr(&(pcp)))
#endif

#endif /* MMKIT_PERCPU_H */
