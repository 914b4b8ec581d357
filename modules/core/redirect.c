// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mechanism "redirect": an ftrace_ops that makes the function continue in the
 * wrapper, as livepatch does (kernel/livepatch/patch.c). Lives beside BPF,
 * kprobes and other tracers; there can be one such user of a function.
 */

#include <linux/ftrace.h>

#include <compat/ftrace.h>

#include "core.h"
#include "site.h"

#ifdef MMKIT_CAN_WRAP

/* Context: any that the function has, preemption off. */
static void notrace redirect_to_wrapper(unsigned long ip,
					unsigned long parent_ip,
					struct ftrace_ops *ops,
					mmkit_ftrace_regs *fregs)
{
	struct mmkit_hook *hook = container_of(ops, struct mmkit_hook, redirect);

	mmkit_ftrace_set_ip(fregs, (unsigned long)hook->wrapper);
}

static int redirect_prepare(struct mmkit_hook *hook)
{
	if (!hook->site)
		return -ENOENT;
	hook->redirect.func = redirect_to_wrapper;
	/* Or kernel.ftrace_enabled=0 would silently stop the counting. */
	hook->redirect.flags = MMKIT_FTRACE_IPMODIFY | FTRACE_OPS_FL_PERMANENT;
	return ftrace_set_filter_ip(&hook->redirect, hook->site, 0, 1);
}

/*
 * While BPF changes its own trampoline of the function, the kernel waits a
 * millisecond and says -EAGAIN (bpf_tramp_ftrace_ops_func()).
 */
#define REDIRECT_TRIES	100

static int redirect_attach(struct mmkit_hook *hook)
{
	unsigned int i;
	int ret;

	for (i = 0; i < REDIRECT_TRIES; i++) {
		ret = register_ftrace_function(&hook->redirect);
		if (ret != -EAGAIN)
			break;
	}
	return ret;
}

static int redirect_detach(struct mmkit_hook *hook)
{
	return unregister_ftrace_function(&hook->redirect);
}

/*
 * ftrace_free_filter() is not exported everywhere; an empty filter owns no
 * memory either.
 */
static void redirect_release(struct mmkit_hook *hook)
{
	ftrace_set_filter(&hook->redirect, NULL, 0, 1);
}

const struct mmkit_mechanism mmkit_redirect = {
	.name = "redirect",
	.exact = true,
	.prepare = redirect_prepare,
	.attach = redirect_attach,
	.detach = redirect_detach,
	.release = redirect_release,
};

#else

const struct mmkit_mechanism mmkit_redirect = {
	.name = "redirect",
	.exact = true,
};

#endif
