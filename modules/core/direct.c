// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mechanism "direct": the function's ftrace site calls, or jumps to, the
 * wrapper itself. The cheapest there is, and the mechanism of BPF's fentry and
 * fexit: one of the two at a time.
 */

#include <linux/ftrace.h>

#include <compat/ftrace.h>

#include "core.h"
#include "site.h"

#if defined(MMKIT_CAN_WRAP) && defined(MMKIT_HAVE_FTRACE_DIRECT)

static int direct_prepare(struct mmkit_hook *hook)
{
	if (!hook->site || !hook->trampoline)
		return -ENOENT;
#ifdef HAVE_FTRACE_JMP_SET
	/* A jump leaves the stack as the caller made it: no trampoline. */
	hook->direct_addr = ftrace_jmp_set((unsigned long)hook->wrapper);
#else
	hook->direct_addr = (unsigned long)hook->trampoline;
#endif
	return ftrace_set_filter_ip(&hook->direct, hook->site, 0, 1);
}

static int direct_attach(struct mmkit_hook *hook)
{
	return mmkit_ftrace_direct_register(&hook->direct, hook->site,
					    hook->direct_addr);
}

static int direct_detach(struct mmkit_hook *hook)
{
	return mmkit_ftrace_direct_unregister(&hook->direct, hook->site,
					      hook->direct_addr);
}

static void direct_release(struct mmkit_hook *hook)
{
	ftrace_set_filter(&hook->direct, NULL, 0, 1);
}

const struct mmkit_mechanism mmkit_direct = {
	.name = "direct",
	.exact = true,
	.guarded = true,
	.prepare = direct_prepare,
	.attach = direct_attach,
	.detach = direct_detach,
	.release = direct_release,
};

#else

const struct mmkit_mechanism mmkit_direct = {
	.name = "direct",
	.exact = true,
};

#endif
