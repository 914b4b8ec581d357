/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMKIT_PERCPU_H
#define MMKIT_PERCPU_H

#include <linux/percpu.h>
#include <linux/preempt.h>

/*
 * Counting on a hot path. On x86 an increment is one instruction that cannot
 * be split by migration. Elsewhere this_cpu_inc() costs a preempt-off section
 * each, so a group of increments shares one:
 *
 *	mmkit_percpu_begin();
 *	mmkit_percpu_inc(p->a);
 *	mmkit_percpu_inc(p->b);
 *	mmkit_percpu_end();
 *
 * Process context only: an interrupt must not count in the same variables.
 */
#ifdef CONFIG_X86_64
#define mmkit_percpu_begin()	do { } while (0)
#define mmkit_percpu_inc(pcp)	this_cpu_inc(pcp)
#define mmkit_percpu_end()	do { } while (0)
#else
#define mmkit_percpu_begin()	preempt_disable_notrace()
#define mmkit_percpu_inc(pcp)	raw_cpu_inc(pcp)
#define mmkit_percpu_end()	preempt_enable_notrace()
#endif

#endif /* MMKIT_PERCPU_H */
