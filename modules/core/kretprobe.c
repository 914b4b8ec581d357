// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mechanism "kretprobe": works everywhere, costs most, and is not exact: a
 * call for which no instance is free is missed, and the exits of calls that
 * are inside at detach are lost.
 */

#include <linux/kprobes.h>
#include <linux/ptrace.h>

#include <compat/kretprobe.h>

#include "core.h"

/* Context: any that the function has, preemption off. */
static int notrace kretprobe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = mmkit_kretprobe_of(ri);
	unsigned long args[MMKIT_PROBE_ARGS];
	struct mmkit_hook *hook;
	unsigned int i;

	if (!rp)
		return 1;
	hook = container_of(rp, struct mmkit_hook, kretprobe);
	for (i = 0; i < MMKIT_PROBE_ARGS; i++)
		args[i] = regs_get_kernel_argument(regs, i);
	this_cpu_inc(hook->count->probe_in);
	hook->probe->entry(ri->data, args);
	return 0;
}
NOKPROBE_SYMBOL(kretprobe_entry);

/* Context: as above. */
static int notrace kretprobe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe *rp = mmkit_kretprobe_of(ri);
	struct mmkit_hook *hook;

	if (!rp)
		return 0;
	hook = container_of(rp, struct mmkit_hook, kretprobe);
	hook->probe->exit(ri->data, regs_return_value(regs));
	this_cpu_inc(hook->count->probe_out);
	return 0;
}
NOKPROBE_SYMBOL(kretprobe_exit);

static int kretprobe_attach(struct mmkit_hook *hook)
{
	/* The kernel writes into it: start afresh at each registration. */
	hook->kretprobe = (struct kretprobe) {
		.kp.addr = (kprobe_opcode_t *)hook->addr,
		.entry_handler = kretprobe_entry,
		.handler = kretprobe_exit,
		.data_size = MMKIT_PROBE_DATA,
		.maxactive = MMKIT_PROBE_MAXACTIVE,
	};
	return register_kretprobe(&hook->kretprobe);
}

static int kretprobe_detach(struct mmkit_hook *hook)
{
	unregister_kretprobe(&hook->kretprobe);
	hook->missed += hook->kretprobe.nmissed + hook->kretprobe.kp.nmissed;
	return 0;
}

const struct mmkit_mechanism mmkit_kretprobe = {
	.name = "kretprobe",
	.guarded = IS_ENABLED(CONFIG_KPROBES_ON_FTRACE),
	.attach = kretprobe_attach,
	.detach = kretprobe_detach,
};
