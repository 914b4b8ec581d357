// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wrapper of handle_mm_fault(): every page fault passes here while the hook
 * is on. It counts, takes the time, and calls the function's body. A task may
 * sleep in the body, so the wrapper is in mmkit.ko, which stays until everybody
 * is out (hook.c), and features only read what it counts.
 *
 * Per fault it does four per-CPU increments: in, one cell by class and outcome,
 * one bucket of the latency histogram, and out.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include <compat/fault_flags.h>
#include <mmkit/clock.h>
#include <mmkit/fault.h>
#include <mmkit/histogram.h>
#include <mmkit/hook.h>
#include <mmkit/percpu.h>

#include "body.h"
#include "core.h"
#include "site.h"

/*
 * The class of a fault as the hot path stores it: the flags that matter, with
 * the topmost folded down to a bit that is free, so that three instructions make
 * an index of nine bits. What else is folded down on a flag that matters is bit
 * 11, FAULT_FLAG_ORIG_PTE_VALID: that is for use below handle_mm_fault(), and no
 * caller sets it. Readers turn the index into MMKIT_FAULT_*.
 */
#define CLASS_LOW	(FAULT_FLAG_WRITE | FAULT_FLAG_TRIED | FAULT_FLAG_USER | \
			 FAULT_FLAG_REMOTE | FAULT_FLAG_INSTRUCTION)
#define VMA_LOCK_SHIFT	11
#define VMA_LOCK_FOLDED	(MMKIT_FAULT_FLAG_VMA_LOCK >> VMA_LOCK_SHIFT)
#define CLASS_MASK	(CLASS_LOW | VMA_LOCK_FOLDED)
#define CLASS_INDICES	(CLASS_MASK + 1)

/* Outcomes that are rare enough for a branch of their own. */
#define RARE_RESULT	(VM_FAULT_RETRY | VM_FAULT_MAJOR | VM_FAULT_ERROR)

/*
 * One per CPU, about 24 KiB: alloc_percpu() ends at 32 KiB, and the static
 * per-CPU space of all modules together at 8 KiB.
 */
struct fault_cpu {
	struct mmkit_hook_count count;
	u64 done[CLASS_INDICES];
	u64 rare[MMKIT_FAULT_OUTCOMES][MMKIT_FAULT_CLASSES];
	u64 latency[MMKIT_HIST_BUCKETS];
};

static struct fault_cpu __percpu *fault_cpu __ro_after_init;

/* Somebody wants to see each fault; sets the cost of it aside until then. */
static DEFINE_STATIC_KEY_FALSE(fault_observed);
static const struct mmkit_fault_observer __rcu *fault_observer;
static DEFINE_MUTEX(fault_observer_lock);

/*
 * The hook relies on this prototype: the build breaks where it is another, and
 * not the kernel that runs.
 */
static_assert(__same_type(handle_mm_fault, mmkit_fault_wrap));

static vm_fault_t no_body(struct vm_area_struct *vma, unsigned long address,
			  unsigned int flags, struct pt_regs *regs)
{
	return VM_FAULT_SIGBUS;
}

MMKIT_DEFINE_BODY(mmkit_fault_body, no_body);

static __always_inline unsigned int class_index(unsigned int flags)
{
	return (flags | flags >> VMA_LOCK_SHIFT) & CLASS_MASK;
}

/* The same class as readers know it. */
static __always_inline unsigned int class_of(unsigned int flags)
{
	unsigned int class = 0;

	if (flags & FAULT_FLAG_WRITE)
		class |= MMKIT_FAULT_WRITE;
	if (flags & FAULT_FLAG_TRIED)
		class |= MMKIT_FAULT_TRIED;
	if (flags & FAULT_FLAG_USER)
		class |= MMKIT_FAULT_USER;
	if (flags & FAULT_FLAG_REMOTE)
		class |= MMKIT_FAULT_REMOTE;
	if (flags & FAULT_FLAG_INSTRUCTION)
		class |= MMKIT_FAULT_INSTRUCTION;
	if (flags & MMKIT_FAULT_FLAG_VMA_LOCK)
		class |= MMKIT_FAULT_VMA_LOCK;
	return class;
}

/* And back. */
static unsigned int flags_of(unsigned int class)
{
	unsigned int flags = 0;

	if (class & MMKIT_FAULT_WRITE)
		flags |= FAULT_FLAG_WRITE;
	if (class & MMKIT_FAULT_TRIED)
		flags |= FAULT_FLAG_TRIED;
	if (class & MMKIT_FAULT_USER)
		flags |= FAULT_FLAG_USER;
	if (class & MMKIT_FAULT_REMOTE)
		flags |= FAULT_FLAG_REMOTE;
	if (class & MMKIT_FAULT_INSTRUCTION)
		flags |= FAULT_FLAG_INSTRUCTION;
	if (class & MMKIT_FAULT_VMA_LOCK)
		flags |= MMKIT_FAULT_FLAG_VMA_LOCK;
	return flags;
}

/*
 * A fault that held its VMA's lock and has to be retried comes back with the
 * mmap lock: marked as tried when it did I/O (arch/x86/mm/fault.c,
 * arch/arm64/mm/fault.c), not at all when a signal is pending, and otherwise
 * looking like one that could not get the VMA's lock in the first place.
 */
static __always_inline enum mmkit_fault_outcome
retry_outcome(unsigned int flags, vm_fault_t ret)
{
	if ((flags & MMKIT_FAULT_FLAG_VMA_LOCK) && !(ret & VM_FAULT_MAJOR) &&
	    !signal_pending(current))
		return MMKIT_FAULT_RETRY_LOCKED;
	return MMKIT_FAULT_RETRY;
}

static __always_inline enum mmkit_fault_outcome
outcome_of(unsigned int flags, vm_fault_t ret)
{
	if (ret & VM_FAULT_RETRY)
		return retry_outcome(flags, ret);
	if (ret & VM_FAULT_OOM)
		return MMKIT_FAULT_OOM;
	if (ret & (VM_FAULT_HWPOISON | VM_FAULT_HWPOISON_LARGE))
		return MMKIT_FAULT_HWPOISON;
	if (ret & VM_FAULT_SIGBUS)
		return MMKIT_FAULT_SIGBUS;
	if (ret & VM_FAULT_SIGSEGV)
		return MMKIT_FAULT_SIGSEGV;
	if (ret & VM_FAULT_ERROR)
		return MMKIT_FAULT_OTHER;
	return MMKIT_FAULT_MAJOR;
}

/*
 * Count a fault that has returned.
 *
 * Context: process, may be preempted and moved to another CPU at any point.
 */
static __always_inline void count_done(struct fault_cpu __percpu *c,
				       unsigned int flags, u64 cycles)
{
	mmkit_count(c->done[class_index(flags)]);
	mmkit_count(c->latency[mmkit_hist_bucket(cycles)]);
}

static noinline notrace void
count_rare(unsigned int flags, vm_fault_t ret, u64 cycles)
{
	enum mmkit_fault_outcome outcome = outcome_of(flags, ret);
	struct fault_cpu __percpu *c = mmkit_this_cpu_ptr(fault_cpu);

	mmkit_count(c->rare[outcome][class_of(flags)]);
	mmkit_count(c->latency[mmkit_hist_bucket(cycles)]);
}
NOKPROBE_SYMBOL(count_rare);

static noinline notrace void
count_fault(unsigned int flags, vm_fault_t ret, u64 cycles)
{
	if (ret & RARE_RESULT)
		count_rare(flags, ret, cycles);
	else
		count_done(mmkit_this_cpu_ptr(fault_cpu), flags, cycles);
}
NOKPROBE_SYMBOL(count_fault);

/* Context: process; the observer runs with preemption off, as RCU reader. */
static notrace void observe_fault(const struct mmkit_fault_event *event)
{
	const struct mmkit_fault_observer *observer;

	preempt_disable_notrace();
	observer = rcu_dereference_sched(fault_observer);
	if (observer)
		observer->fault(event);
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(observe_fault);

static __always_inline void count_out(void)
{
	struct fault_cpu __percpu *c = mmkit_this_cpu_ptr(fault_cpu);

	mmkit_count(c->count.out);
}

static noinline notrace vm_fault_t
wrap_observed(struct vm_area_struct *vma, unsigned long address,
	      unsigned int flags, struct pt_regs *regs)
{
	struct mmkit_fault_event event = {
		.address = address,
		.regs = regs,
		.flags = flags,
	};
	u64 start = mmkit_cycles();

	event.ret = mmkit_body(mmkit_fault_body)(vma, address, flags, regs);
	event.cycles = mmkit_cycles() - start;
	observe_fault(&event);
	count_fault(flags, event.ret, event.cycles);
	count_out();
	return event.ret;
}
NOKPROBE_SYMBOL(wrap_observed);

/* A function of its own keeps the wrapper's registers few. */
static noinline notrace vm_fault_t
leave_rare(unsigned int flags, vm_fault_t ret, u64 cycles)
{
	count_rare(flags, ret, cycles);
	count_out();
	return ret;
}
NOKPROBE_SYMBOL(leave_rare);

/* Called in handle_mm_fault()'s place, by redirect.c and direct.c. */
noinline notrace __used vm_fault_t
mmkit_fault_wrap(struct vm_area_struct *vma, unsigned long address,
		 unsigned int flags, struct pt_regs *regs)
{
	struct fault_cpu __percpu *c;
	u64 start, cycles;
	vm_fault_t ret;

	/* First of all: from here on a drain knows that we are inside. */
	c = mmkit_this_cpu_ptr(fault_cpu);
	mmkit_count(c->count.in);
	if (static_branch_unlikely(&fault_observed))
		return wrap_observed(vma, address, flags, regs);
	start = mmkit_cycles();
	ret = mmkit_body(mmkit_fault_body)(vma, address, flags, regs);
	cycles = mmkit_cycles() - start;
	if (unlikely(ret & RARE_RESULT))
		return leave_rare(flags, ret, cycles);
	c = mmkit_this_cpu_ptr_again(c, fault_cpu);
	count_done(c, flags, cycles);
	/* Last of all: a drain no longer waits for us. */
	mmkit_count(c->count.out);
	return ret;
}
NOKPROBE_SYMBOL(mmkit_fault_wrap);

static void set_body(unsigned long body)
{
	mmkit_set_body(mmkit_fault_body, body);
}

/* The same job for fprobe and kretprobe. */
struct fault_probe_data {
	unsigned long address;
	struct pt_regs *regs;
	u64 start;
	unsigned int flags;
};

static notrace void probe_entry(void *data, const unsigned long args[MMKIT_PROBE_ARGS])
{
	struct fault_probe_data *fault = data;

	fault->address = args[1];
	fault->flags = args[2];
	fault->regs = (struct pt_regs *)args[3];
	fault->start = mmkit_cycles();
}
NOKPROBE_SYMBOL(probe_entry);

static notrace void probe_exit(void *data, unsigned long ret)
{
	struct fault_probe_data *fault = data;
	struct mmkit_fault_event event = {
		.address = fault->address,
		.regs = fault->regs,
		.flags = fault->flags,
		.ret = (__force vm_fault_t)ret,
		.cycles = mmkit_cycles() - fault->start,
	};

	if (static_branch_unlikely(&fault_observed))
		observe_fault(&event);
	count_fault(event.flags, event.ret, event.cycles);
}
NOKPROBE_SYMBOL(probe_exit);

static const struct mmkit_probe_ops probe_ops = {
	.entry = probe_entry,
	.exit = probe_exit,
};

static const char *const symbols[] = { "handle_mm_fault", NULL };

struct mmkit_hook mmkit_fault_hook = {
	.name = "handle_mm_fault",
	.symbols = symbols,
	.wrapper = mmkit_fault_wrap,
#ifdef MMKIT_HAS_TRAMPOLINES
	.trampoline = mmkit_fault_trampoline,
#endif
	.set_body = set_body,
	.probe = &probe_ops,
};
EXPORT_SYMBOL_GPL(mmkit_fault_hook);

/**
 * mmkit_fault_read_counts() - sum of all CPUs' fault counts
 * @counts: filled in; never reset, so a reader subtracts its own baseline
 *
 * Each fault is one increment of one cell, so a sum over cells is right at any
 * moment, up to those faults that return while it is being made.
 *
 * Context: any.
 */
void mmkit_fault_read_counts(struct mmkit_fault_counts *counts)
{
	unsigned int class, outcome;
	int cpu;

	memset(counts, 0, sizeof(*counts));
	for_each_possible_cpu(cpu) {
		const struct fault_cpu *c = per_cpu_ptr(fault_cpu, cpu);

		for (class = 0; class < MMKIT_FAULT_CLASSES; class++) {
			unsigned int flags = flags_of(class);

			/* Where a flag does not exist two classes are one. */
			if (class_of(flags) == class)
				counts->cell[MMKIT_FAULT_DONE][class] +=
					READ_ONCE(c->done[class_index(flags)]);
			for (outcome = MMKIT_FAULT_DONE + 1;
			     outcome < MMKIT_FAULT_OUTCOMES; outcome++)
				counts->cell[outcome][class] +=
					READ_ONCE(c->rare[outcome][class]);
		}
	}
}
EXPORT_SYMBOL_GPL(mmkit_fault_read_counts);

/**
 * mmkit_fault_read_latency() - sum of all CPUs' latency histograms
 * @counts: filled in; values are mmkit_cycles(); never reset
 *
 * Context: any.
 */
void mmkit_fault_read_latency(u64 counts[MMKIT_HIST_BUCKETS])
{
	unsigned int i;
	int cpu;

	for (i = 0; i < MMKIT_HIST_BUCKETS; i++)
		counts[i] = 0;
	for_each_possible_cpu(cpu) {
		const struct fault_cpu *c = per_cpu_ptr(fault_cpu, cpu);

		for (i = 0; i < MMKIT_HIST_BUCKETS; i++)
			counts[i] += READ_ONCE(c->latency[i]);
	}
}
EXPORT_SYMBOL_GPL(mmkit_fault_read_latency);

/**
 * mmkit_fault_set_observer() - have each fault shown to a feature
 * @observer: called for every fault that returns from now on; NULL: no more.
 *	Replaces the one before
 *
 * Faults cost more while there is an observer. On return no call of the one
 * before is running any more, so its module may go.
 *
 * Context: process; may sleep.
 */
void mmkit_fault_set_observer(const struct mmkit_fault_observer *observer)
{
	const struct mmkit_fault_observer *old;

	mutex_lock(&fault_observer_lock);
	old = rcu_dereference_protected(fault_observer,
					lockdep_is_held(&fault_observer_lock));
	rcu_assign_pointer(fault_observer, observer);
	if (observer && !old)
		static_branch_enable(&fault_observed);
	else if (!observer && old)
		static_branch_disable(&fault_observed);
	mutex_unlock(&fault_observer_lock);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(mmkit_fault_set_observer);

int __init mmkit_fault_wrap_init(void)
{
	int ret;

	BUILD_BUG_ON(CLASS_LOW & VMA_LOCK_FOLDED);
	BUILD_BUG_ON(MMKIT_FAULT_FLAG_VMA_LOCK && !VMA_LOCK_FOLDED);
	BUILD_BUG_ON(MMKIT_FAULT_FLAG_VMA_LOCK & (MMKIT_FAULT_FLAG_VMA_LOCK - 1));
	BUILD_BUG_ON(CLASS_INDICES > 512);
	BUILD_BUG_ON(sizeof(struct fault_probe_data) > MMKIT_PROBE_DATA);

	fault_cpu = alloc_percpu(struct fault_cpu);
	if (!fault_cpu)
		return -ENOMEM;
	mmkit_fault_hook.count = &fault_cpu->count;
	mmkit_hook_init(&mmkit_fault_hook);
	ret = mmkit_hook_sysfs_add(&mmkit_fault_hook);
	if (ret) {
		mmkit_hook_exit(&mmkit_fault_hook);
		free_percpu(fault_cpu);
	}
	return ret;
}

void mmkit_fault_wrap_exit(void)
{
	mmkit_hook_sysfs_remove(&mmkit_fault_hook);
	mmkit_hook_exit(&mmkit_fault_hook);
	free_percpu(fault_cpu);
}
