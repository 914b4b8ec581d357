/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMKIT_PERCPU_H
#define MMKIT_PERCPU_H

#include <linux/atomic.h>
#include <linux/percpu.h>

/*
 * Counting on a hot path, in a structure of u64 that every CPU has one of and
 * that is only ever read as a sum over all CPUs:
 *
 *	struct counts __percpu *c = mmkit_this_cpu_ptr(counts);
 *
 *	mmkit_count(c->a);
 *	something_long();
 *	c = mmkit_this_cpu_ptr_again(c, counts);
 *	mmkit_count(c->b);
 *
 * On x86 an increment of a per-CPU variable is one instruction. Elsewhere
 * this_cpu_inc() is an atomic increment, as here, with preemption switched off
 * around it; we leave that out, since an increment that lands on the CPU that
 * the task has left is still in the sum. So there the pointer may be kept as
 * well, where on x86 it is cheaper to load it again than to save a register.
 *
 * Context: any.
 */
#ifdef CONFIG_X86_64
#define mmkit_this_cpu_ptr(counts)	(counts)
#define mmkit_this_cpu_ptr_again(c, counts)	(counts)
#define mmkit_count(counter)		this_cpu_inc(counter)
#else
#define mmkit_this_cpu_ptr(counts)					\
	((__force typeof(counts))raw_cpu_ptr(counts))
#define mmkit_this_cpu_ptr_again(c, counts)	(c)
#define mmkit_count(counter)						\
	atomic64_inc((__force atomic64_t *)&(counter))
#endif

#endif /* MMKIT_PERCPU_H */
