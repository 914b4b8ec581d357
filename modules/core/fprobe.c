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

/* Context: any that the function has, preemption off. */
static int notrace fprobe_entry(struct fprobe *fp, unsigned long entry_ip,
				unsigned long ret_ip, mmkit_fprobe_regs *regs,
				void *data)
{
	struct mmkit_hook *hook = container_of(fp, struct mmkit_hook, fprobe);
	unsigned long args[MMKIT_PROBE_ARGS];
	unsigned int i;

	for (i = 0; i < MMKIT_PROBE_ARGS; i++)
		args[i] = mmkit_fprobe_arg(regs, i);
	this_cpu_inc(hook->count->probe_in);
	hook->probe->entry(data, args);
	return 0;
}

/* Context: as above. */
static void notrace fprobe_exit(struct fprobe *fp, unsigned long entry_ip,
				unsigned long ret_ip, mmkit_fprobe_regs *regs,
				void *data)
{
	struct mmkit_hook *hook = container_of(fp, struct mmkit_hook, fprobe);

	hook->probe->exit(data, mmkit_fprobe_return(regs));
	this_cpu_inc(hook->count->probe_out);
}

static int fprobe_attach(struct mmkit_hook *hook)
{
	unsigned long addr = hook->site ?: hook->addr;

	/* The kernel writes into it: start afresh at each registration. */
	hook->fprobe = (struct fprobe) {
		.entry_handler = fprobe_entry,
		.exit_handler = fprobe_exit,
		.entry_data_size = MMKIT_PROBE_DATA,
		MMKIT_FPROBE_MAXACTIVE(MMKIT_PROBE_MAXACTIVE)
	};
	return register_fprobe_ips(&hook->fprobe, &addr, 1);
}

static int fprobe_detach(struct mmkit_hook *hook)
{
	int ret = unregister_fprobe(&hook->fprobe);

	if (ret)
		return ret;
	/* A handler may still be running, and count one more. */
	synchronize_rcu();
	hook->missed += hook->fprobe.nmissed;
	hook->fprobe.nmissed = 0;
	return 0;
}

const struct mmkit_mechanism mmkit_fprobe = {
	.name = "fprobe",
	.attach = fprobe_attach,
	.detach = fprobe_detach,
};

#else

const struct mmkit_mechanism mmkit_fprobe = {
	.name = "fprobe",
};

#endif
