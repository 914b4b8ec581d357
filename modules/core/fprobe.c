// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mechanism "fprobe": entry and exit through ftrace (kernel/trace/fprobe.c).
 * Not exact: it misses calls when its pool of instances is empty, and the exits
 * of calls that are inside at detach are lost.
 */

#include <linux/rcupdate.h>

#include <compat/fprobe.h>

#include "core.h"

#ifdef MMKIT_HAVE_FPROBE

/*
 * Up to a point the kernel tells the calls of a registered fprobe by its
 * address alone (7.3): one that was inside when we detached, and was counted as
 * lost, would come back as an exit of the next session.
 */
struct fprobe_data {
	unsigned int session;
	u64 data[MMKIT_PROBE_DATA / sizeof(u64)];
};

/* Context: any that the function has, preemption off. */
static int notrace fprobe_entry(struct fprobe *fp, unsigned long entry_ip,
				unsigned long ret_ip, mmkit_fprobe_regs *regs,
				void *data)
{
	struct mmkit_hook *hook = container_of(fp, struct mmkit_hook, fprobe);
	unsigned long args[MMKIT_PROBE_ARGS];
	struct fprobe_data *call = data;
	unsigned int i;

	call->session = READ_ONCE(hook->detach_seq);
	for (i = 0; i < MMKIT_PROBE_ARGS; i++)
		args[i] = mmkit_fprobe_arg(regs, i);
	this_cpu_inc(hook->count->probe_in);
	hook->probe->entry(call->data, args);
	return 0;
}

/* Context: as above. */
static void notrace fprobe_exit(struct fprobe *fp, unsigned long entry_ip,
				unsigned long ret_ip, mmkit_fprobe_regs *regs,
				void *data)
{
	struct mmkit_hook *hook = container_of(fp, struct mmkit_hook, fprobe);
	struct fprobe_data *call = data;

	if (call->session != READ_ONCE(hook->detach_seq))
		return;
	hook->probe->exit(call->data, mmkit_fprobe_return(regs));
	this_cpu_inc(hook->count->probe_out);
}

static int fprobe_attach(struct mmkit_hook *hook)
{
	unsigned long addr = hook->site ?: hook->addr;

	/* The kernel writes into it: start afresh at each registration. */
	hook->fprobe = (struct fprobe) {
		.entry_handler = fprobe_entry,
		.exit_handler = fprobe_exit,
		.entry_data_size = sizeof(struct fprobe_data),
		MMKIT_FPROBE_MAXACTIVE(MMKIT_PROBE_MAXACTIVE)
	};
	return register_fprobe_ips(&hook->fprobe, &addr, 1);
}

static int fprobe_detach(struct mmkit_hook *hook)
{
	/* 6.12 counts as missed what comes while it is being unregistered. */
	unsigned long missed = READ_ONCE(hook->fprobe.nmissed);
	int ret;

	ret = unregister_fprobe(&hook->fprobe);
	if (ret)
		return ret;
	/* A handler may still be running, and count one more. */
	synchronize_rcu();
	hook->missed += missed;
	return 0;
}

const struct mmkit_mechanism mmkit_fprobe = {
	.name = "fprobe",
	.guarded = true,
	.attach = fprobe_attach,
	.detach = fprobe_detach,
};

#else

const struct mmkit_mechanism mmkit_fprobe = {
	.name = "fprobe",
};

#endif
