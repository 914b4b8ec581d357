// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks: which function, attached how, and when everybody is out again.
 *
 * A hook is OFF, ON or DRAINING. Detaching stops new calls from being seen, but
 * a task may still sleep inside the wrapper (a fault blocked in userfaultfd,
 * say), and return to it hours later. So mmkit.ko holds a reference on itself
 * from the first attach until the drain has shown that nobody is inside:
 *
 *   1. Everyone who had passed the function's site has counted itself in: no
 *      task can sleep between the two, so synchronize_rcu_tasks(), and
 *      synchronize_rcu() where the kernel is not preemptible, waits for them.
 *   2. The sums of out and in are equal. Out is read first: a task that comes
 *      in meanwhile makes them differ, never look equal.
 *
 * Who has just counted itself out is still in the wrapper's last instructions:
 * for them the module's exit waits, in the same two ways (main.c).
 *
 * A hook may be attached again while it drains; the drain then starts over at
 * the next detach.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/stddef.h>

#include <mmkit/symbol.h>

#include "core.h"

/*
 * How long a drain waits between two looks at the counters: longer and longer,
 * since a task may sleep inside for days.
 */
#define DRAIN_POLL		(HZ / 20)
#define DRAIN_POLL_MAX		(5 * HZ)
/* After this long a task that is inside is taken to sleep there. */
#define DRAIN_SLEEPER		HZ
/* Disabling never waits longer. */
#define DRAIN_WAIT_MAX		(10 * HZ)

static enum mmkit_mechanism_id default_mechanism = MMKIT_AUTO;
static struct workqueue_struct *drain_wq;

/* Sum over all CPUs of one member of struct mmkit_hook_count. */
static u64 sum(struct mmkit_hook *hook, size_t member)
{
	u64 total = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		total += READ_ONCE(*(u64 *)((char *)per_cpu_ptr(hook->count, cpu) +
					    member));
	return total;
}

#define sum_of(hook, member)	sum(hook, offsetof(struct mmkit_hook_count, member))

/* Tasks inside the wrapper; may be too high, never too low. */
static u64 tasks_inside(struct mmkit_hook *hook)
{
	u64 out = sum_of(hook, out);

	smp_rmb();	/* out first: see the top of this file */
	return sum_of(hook, in) - out;
}

/**
 * mmkit_hook_hits() - calls seen since the module was loaded
 * @hook: hook
 */
u64 mmkit_hook_hits(struct mmkit_hook *hook)
{
	return sum_of(hook, in) + sum_of(hook, probe_in);
}

/**
 * mmkit_hook_missed() - calls that the mechanism could not follow
 * @hook: hook
 *
 * Context: hook->lock held.
 */
u64 mmkit_hook_missed(struct mmkit_hook *hook)
{
	u64 missed = hook->missed;

	if (hook->state != MMKIT_HOOK_ON)
		return missed;
#ifdef MMKIT_HAVE_FPROBE
	if (hook->attached == MMKIT_FPROBE)
		missed += hook->fprobe.nmissed;
#endif
	if (hook->attached == MMKIT_KRETPROBE)
		missed += hook->kretprobe.nmissed + hook->kretprobe.kp.nmissed;
	return missed;
}

/**
 * mmkit_hook_lost() - calls seen at entry whose exit was never seen
 * @hook: hook
 *
 * What is inside while a probe is attached is not lost yet.
 *
 * Context: hook->lock held.
 */
u64 mmkit_hook_lost(struct mmkit_hook *hook)
{
	return hook->lost;
}

static void drain_work(struct work_struct *work)
{
	struct mmkit_hook *hook = container_of(to_delayed_work(work),
					       struct mmkit_hook, drain);
	unsigned int seq;
	u64 inside;

	mutex_lock(&hook->lock);
	seq = hook->detach_seq;
	if (hook->state != MMKIT_HOOK_DRAINING) {
		mutex_unlock(&hook->lock);
		return;
	}
	mutex_unlock(&hook->lock);

	/* Once per detach: nobody comes in any more after that. */
	if (hook->final_seq != seq) {
		synchronize_rcu_tasks();
		synchronize_rcu();
		hook->final_seq = seq;
		hook->drain_poll = DRAIN_POLL;
	}
	inside = tasks_inside(hook);

	mutex_lock(&hook->lock);
	if (hook->state == MMKIT_HOOK_DRAINING && hook->detach_seq == seq) {
		hook->inside = inside;
		hook->inside_seq = seq;
		if (!inside) {
			hook->state = MMKIT_HOOK_OFF;
			module_put(THIS_MODULE);
		} else {
			queue_delayed_work(drain_wq, &hook->drain,
					   hook->drain_poll);
			if (time_after(jiffies, hook->detached +
						DRAIN_WAIT_MAX))
				hook->drain_poll = min(2 * hook->drain_poll,
						       DRAIN_POLL_MAX);
		}
	}
	mutex_unlock(&hook->lock);
	wake_up_all(&hook->drained);
}

static void explain(struct mmkit_hook *hook, const char *mechanism, int error)
{
	switch (error) {
	case -EBUSY:
		pr_warn("%s: %s not attached, the function is taken: another user of ftrace redirects it or calls it directly (livepatch, BPF fentry/fexit, a kprobe with a post handler), or kernel.ftrace_enabled is 0; see enabled_functions in tracefs\n",
			hook->name, mechanism);
		break;
	case -EPERM:
		pr_warn("%s: %s not attached, not permitted: kernel lockdown?\n",
			hook->name, mechanism);
		break;
	default:
		pr_warn("%s: %s not attached (error %d)\n",
			hook->name, mechanism, error);
	}
}

static int attach_by(struct mmkit_hook *hook, enum mmkit_mechanism_id id)
{
	const struct mmkit_mechanism *mechanism = mmkit_mechanisms[id];
	int ret = 0;

	if (mechanism->guarded)
		ret = mmkit_ftrace_guard_get();
	if (!ret) {
		ret = mechanism->attach(hook);
		if (ret && mechanism->guarded)
			mmkit_ftrace_guard_put();
	}
	if (ret) {
		explain(hook, mechanism->name, ret);
		return ret;
	}
	hook->attached = id;
	if (!mechanism->exact)
		hook->inexact = true;
	return 0;
}

/*
 * "auto" falls back to something less exact only where a mechanism does not
 * work. What may pass (somebody else has the function, no memory) is an error:
 * the user is told and may choose.
 */
static bool is_lasting(int error)
{
	return error == -EOPNOTSUPP || error == -EINVAL || error == -ENODEV;
}

static int attach(struct mmkit_hook *hook)
{
	enum mmkit_mechanism_id id;
	int ret = -EOPNOTSUPP;

	if (hook->wanted != MMKIT_AUTO)
		return mmkit_mechanism_suits(hook, hook->wanted) ?
		       attach_by(hook, hook->wanted) : -EOPNOTSUPP;
	for (id = 0; id < MMKIT_MECHANISMS; id++) {
		if (id == MMKIT_DIRECT || !mmkit_mechanism_suits(hook, id))
			continue;
		ret = attach_by(hook, id);
		if (!ret || !is_lasting(ret))
			break;
	}
	return ret;
}

/**
 * mmkit_hook_enable() - attach a hook
 * @hook: hook; nothing is done when it is on already
 *
 * Context: process; may sleep.
 * Return: 0; -EBUSY when another user of ftrace has the function; -EOPNOTSUPP
 * when this kernel lacks the function or the mechanism; or what the mechanism
 * returned. Logged, and shown in the hook's folder.
 */
int mmkit_hook_enable(struct mmkit_hook *hook)
{
	int ret = 0;

	mutex_lock(&hook->lock);
	switch (hook->state) {
	case MMKIT_HOOK_UNSUPPORTED:
		ret = -EOPNOTSUPP;
		break;
	case MMKIT_HOOK_ON:
		break;
	case MMKIT_HOOK_OFF:
	case MMKIT_HOOK_DRAINING:
		/* Before the first call can be inside; kept while draining. */
		if (hook->state == MMKIT_HOOK_OFF)
			__module_get(THIS_MODULE);
		ret = attach(hook);
		hook->error = ret;
		if (!ret)
			hook->state = MMKIT_HOOK_ON;
		else if (hook->state == MMKIT_HOOK_OFF)
			module_put(THIS_MODULE);
		break;
	}
	mutex_unlock(&hook->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(mmkit_hook_enable);

/* Out, or known to have somebody asleep inside. */
static bool drain_settled(struct mmkit_hook *hook, unsigned long start)
{
	bool settled;

	mutex_lock(&hook->lock);
	settled = hook->state != MMKIT_HOOK_DRAINING ||
		  (hook->inside_seq == hook->detach_seq && hook->inside &&
		   time_after(jiffies, start + DRAIN_SLEEPER));
	mutex_unlock(&hook->lock);
	return settled;
}

/* Has there been another look at who is inside? */
static bool drain_moved(struct mmkit_hook *hook, unsigned int seq)
{
	return READ_ONCE(hook->state) != MMKIT_HOOK_DRAINING ||
	       READ_ONCE(hook->inside_seq) != seq;
}

static int wait_for_drain(struct mmkit_hook *hook)
{
	unsigned long start = jiffies;
	unsigned long deadline = start + DRAIN_WAIT_MAX;
	long ret;

	/* Its condition takes a mutex, so not as wait_event()'s condition. */
	while (!drain_settled(hook, start) && time_before(jiffies, deadline)) {
		unsigned int seq = READ_ONCE(hook->inside_seq);

		ret = wait_event_killable_timeout(hook->drained,
						  drain_moved(hook, seq),
						  DRAIN_POLL);
		if (ret < 0)
			return -EINTR;
	}
	mutex_lock(&hook->lock);
	if (hook->state == MMKIT_HOOK_DRAINING) {
		if (hook->inside_seq == hook->detach_seq)
			pr_info("%s: off; %llu task(s) still inside: mmkit stays in use until they are out\n",
				hook->name, hook->inside);
		else
			pr_info("%s: off; still waiting for RCU: mmkit stays in use until then\n",
				hook->name);
	}
	mutex_unlock(&hook->lock);
	return 0;
}

/**
 * mmkit_hook_disable() - detach a hook, and wait until everybody is out
 * @hook: hook
 *
 * On return no new call is seen. Waits for tasks inside, but no longer than it
 * takes to know that one is asleep there, 10 s at most: mmkit.ko then stays in
 * use until it is out, and a feature that used the hook may go.
 *
 * Context: process; may sleep.
 * Return: 0, also when a task is still inside; -EINTR when killed while waiting
 * (the hook is off all the same); or what the mechanism returned, and then the
 * hook is still on.
 */
int mmkit_hook_disable(struct mmkit_hook *hook)
{
	const struct mmkit_mechanism *mechanism;
	int ret = 0;

	mutex_lock(&hook->lock);
	if (hook->state == MMKIT_HOOK_ON) {
		mechanism = mmkit_mechanisms[hook->attached];
		ret = mechanism->detach(hook);
		if (!ret) {
			if (mechanism->guarded)
				mmkit_ftrace_guard_put();
			if (!mechanism->exact)
				hook->lost = sum_of(hook, probe_in) -
					     sum_of(hook, probe_out);
			hook->detach_seq++;
			hook->detached = jiffies;
			hook->state = MMKIT_HOOK_DRAINING;
			mod_delayed_work(drain_wq, &hook->drain, 0);
		} else {
			pr_err("%s: %s not detached (error %d)\n", hook->name,
			       mechanism->name, ret);
		}
		hook->error = ret;
	}
	mutex_unlock(&hook->lock);
	return ret ?: wait_for_drain(hook);
}
EXPORT_SYMBOL_GPL(mmkit_hook_disable);

/**
 * mmkit_hook_enabled() - is a hook attached
 * @hook: hook
 */
bool mmkit_hook_enabled(struct mmkit_hook *hook)
{
	return READ_ONCE(hook->state) == MMKIT_HOOK_ON;
}
EXPORT_SYMBOL_GPL(mmkit_hook_enabled);

/**
 * mmkit_hook_supported() - could a hook be attached on this kernel
 * @hook: hook
 */
bool mmkit_hook_supported(struct mmkit_hook *hook)
{
	return READ_ONCE(hook->state) != MMKIT_HOOK_UNSUPPORTED;
}
EXPORT_SYMBOL_GPL(mmkit_hook_supported);

/**
 * mmkit_hook_forget_inexact() - what was counted so far is no longer shown
 * @hook: hook
 *
 * For a feature that resets its figures: they are exact again, unless an
 * inexact mechanism goes on.
 */
void mmkit_hook_forget_inexact(struct mmkit_hook *hook)
{
	mutex_lock(&hook->lock);
	hook->inexact = hook->state == MMKIT_HOOK_ON &&
			!mmkit_mechanisms[hook->attached]->exact;
	mutex_unlock(&hook->lock);
}
EXPORT_SYMBOL_GPL(mmkit_hook_forget_inexact);

/**
 * mmkit_hook_choose() - choose the mechanism for the next attach
 * @hook: hook
 * @id: mechanism, or MMKIT_AUTO
 *
 * Return: 0; -EOPNOTSUPP when this kernel does not have it; -EBUSY while the
 * hook is on.
 */
int mmkit_hook_choose(struct mmkit_hook *hook, enum mmkit_mechanism_id id)
{
	int ret = 0;

	if (!mmkit_mechanism_suits(hook, id))
		return -EOPNOTSUPP;
	mutex_lock(&hook->lock);
	if (hook->state == MMKIT_HOOK_ON)
		ret = -EBUSY;
	else
		hook->wanted = id;
	mutex_unlock(&hook->lock);
	return ret;
}

static int resolve(struct mmkit_hook *hook)
{
	const char *const *symbol;
	int ret = -ENOENT;

	for (symbol = hook->symbols; *symbol; symbol++) {
		ret = mmkit_symbol_resolve(*symbol, &hook->addr);
		if (!ret) {
			hook->symbol = *symbol;
			return 0;
		}
	}
	return ret;
}

/**
 * mmkit_hook_init() - find a hook's function and get ready to attach
 * @hook: hook, its public part filled in
 *
 * A function that this kernel does not have is no error: the hook is there and
 * says unsupported.
 *
 * Context: process, module initialisation; may sleep.
 */
void mmkit_hook_init(struct mmkit_hook *hook)
{
	mutex_init(&hook->lock);
	init_waitqueue_head(&hook->drained);
	INIT_DELAYED_WORK(&hook->drain, drain_work);
	hook->wanted = default_mechanism;
	hook->attached = MMKIT_AUTO;
	hook->error = resolve(hook);
	if (!hook->error) {
		mmkit_mechanisms_prepare(hook);
		if (!mmkit_mechanisms_usable(hook))
			hook->error = -EOPNOTSUPP;
	}
	if (hook->error) {
		hook->state = MMKIT_HOOK_UNSUPPORTED;
		pr_warn("%s: unsupported on this kernel (error %d)\n",
			hook->name, hook->error);
	}
}

/**
 * mmkit_hook_exit() - undo mmkit_hook_init()
 * @hook: hook, off; mmkit.ko cannot be unloaded before
 */
void mmkit_hook_exit(struct mmkit_hook *hook)
{
	cancel_delayed_work_sync(&hook->drain);
	mmkit_mechanisms_release(hook);
}

/**
 * mmkit_hooks_init() - what all hooks share
 * @mechanism: how hooks attach unless they are told otherwise
 *
 * Return: 0; -EINVAL for a name that is none; -EOPNOTSUPP for a mechanism that
 * does not work on this kernel; -ENOMEM.
 */
int mmkit_hooks_init(const char *mechanism)
{
	int id = mmkit_mechanism_parse(mechanism);

	if (id < 0) {
		pr_err("mechanism=%s: not one of auto, redirect, direct, fprobe, kretprobe\n",
		       mechanism);
		return -EINVAL;
	}
	if (!mmkit_mechanism_works(id)) {
		pr_err("mechanism=%s: does not work on this kernel\n",
		       mechanism);
		return -EOPNOTSUPP;
	}
	default_mechanism = id;
	drain_wq = alloc_workqueue("mmkit", WQ_UNBOUND, 0);
	return drain_wq ? 0 : -ENOMEM;
}

/**
 * mmkit_hooks_exit() - undo mmkit_hooks_init()
 */
void mmkit_hooks_exit(void)
{
	destroy_workqueue(drain_wq);
}
