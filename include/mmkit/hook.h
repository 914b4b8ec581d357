/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMKIT_HOOK_H
#define MMKIT_HOOK_H

#include <linux/completion.h>
#include <linux/ftrace.h>
#include <linux/kobject.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <compat/fprobe.h>

/**
 * struct mmkit_hook_count - who went in and who came out, per CPU
 * @in: entries of the wrapper (redirect, direct)
 * @out: exits of the wrapper
 * @probe_in: entries seen by a probe (fprobe, kretprobe)
 * @probe_out: exits seen by a probe
 *
 * Never reset, never sampled: @in and @out prove that nobody is inside the
 * wrapper any more. A probe may lose exits, so it counts apart.
 */
struct mmkit_hook_count {
	u64 in;
	u64 out;
	u64 probe_in;
	u64 probe_out;
};

#define MMKIT_PROBE_ARGS	4
#define MMKIT_PROBE_DATA	32

/**
 * struct mmkit_probe_ops - entry and exit as fprobe and kretprobe call them
 * @entry: the function's arguments; @data, of MMKIT_PROBE_DATA bytes, is kept
 *	for @exit
 * @exit: the function's return value
 *
 * Context: any that the function has, preemption off; must not sleep.
 */
struct mmkit_probe_ops {
	void (*entry)(void *data, const unsigned long args[MMKIT_PROBE_ARGS]);
	void (*exit)(void *data, unsigned long ret);
};

enum mmkit_hook_state {
	MMKIT_HOOK_OFF,
	MMKIT_HOOK_ON,
	MMKIT_HOOK_DRAINING,	/* detached, but a task may still be inside */
	MMKIT_HOOK_UNSUPPORTED,
};

enum mmkit_mechanism_id {
	MMKIT_REDIRECT,
	MMKIT_DIRECT,
	MMKIT_FPROBE,
	MMKIT_KRETPROBE,
	MMKIT_MECHANISMS,
	MMKIT_AUTO = MMKIT_MECHANISMS,
};

/**
 * struct mmkit_hook - entry and exit of one kernel function
 * @name: name of the hook, and of its folder in sysfs
 * @symbols: names that the function may have, first choice first, NULL at the
 *	end
 * @wrapper: called in the function's place; must call the function's body, as
 *	given to @set_body, and count itself in and out in @count
 * @trampoline: what a direct call calls; ends in @wrapper. NULL where the
 *	architecture has none
 * @set_body: tells the wrapper where the function goes on after its ftrace site
 * @probe: the same job for mechanisms that call at entry and at exit
 * @count: per CPU
 *
 * The rest belongs to the core. The wrapper and everything that a task may
 * sleep in lives in mmkit.ko, which pins itself from attaching until the last
 * task is out; features come and go at any time.
 */
struct mmkit_hook {
	const char *name;
	const char *const *symbols;
	void *wrapper;
	void *trampoline;
	void (*set_body)(unsigned long body);
	const struct mmkit_probe_ops *probe;
	struct mmkit_hook_count __percpu *count;

	/* private: set once, when the hook is added */
	const char *symbol;
	unsigned long addr;
	unsigned long site;
	unsigned long prepared;
	struct kobject kobj;
	struct completion released;
	struct list_head node;

	/* private: under lock */
	struct mutex lock;
	enum mmkit_hook_state state;
	enum mmkit_mechanism_id wanted;
	enum mmkit_mechanism_id attached;
	int error;
	bool inexact;
	u64 missed;
	u64 lost;
	unsigned int detach_seq;

	/* private: drain */
	struct delayed_work drain;
	wait_queue_head_t drained;
	unsigned long detached;
	unsigned long drain_poll;
	unsigned int final_seq;
	unsigned int inside_seq;
	u64 inside;

	/* private: one per mechanism */
	struct ftrace_ops redirect;
	struct ftrace_ops direct;
	unsigned long direct_addr;
#ifdef MMKIT_HAVE_FPROBE
	struct fprobe fprobe;
#endif
	struct kretprobe kretprobe;
};

int mmkit_hook_enable(struct mmkit_hook *hook);
int mmkit_hook_disable(struct mmkit_hook *hook);
bool mmkit_hook_enabled(struct mmkit_hook *hook);
bool mmkit_hook_supported(struct mmkit_hook *hook);
void mmkit_hook_forget_inexact(struct mmkit_hook *hook);

#endif /* MMKIT_HOOK_H */
