/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMKIT_COMPAT_FTRACE_H
#define MMKIT_COMPAT_FTRACE_H

#include <generated/mmkit_compat.h>
#include <linux/errno.h>
#include <linux/ftrace.h>

/*
 * What an ftrace callback is given, and how it says where the traced function
 * continues. An ftrace_ops that sets it needs MMKIT_FTRACE_IPMODIFY.
 */
#ifdef HAVE_FTRACE_FUNC_FTRACE_REGS
typedef struct ftrace_regs mmkit_ftrace_regs;
#define MMKIT_FTRACE_IPMODIFY	FTRACE_OPS_FL_IPMODIFY
#else
typedef struct pt_regs mmkit_ftrace_regs;
/* The callback does not recurse: it stores one register. */
#define MMKIT_FTRACE_IPMODIFY	(FTRACE_OPS_FL_IPMODIFY | \
				 FTRACE_OPS_FL_SAVE_REGS | \
				 FTRACE_OPS_FL_RECURSION_SAFE)
#endif

static __always_inline void mmkit_ftrace_set_ip(mmkit_ftrace_regs *fregs,
						unsigned long ip)
{
#if defined(HAVE_FTRACE_REGS_SET_INSTRUCTION_POINTER)
	ftrace_regs_set_instruction_pointer(fregs, ip);
#elif defined(HAVE_FTRACE_INSTRUCTION_POINTER_SET)
	ftrace_instruction_pointer_set(fregs, ip);
#else
	instruction_pointer_set(fregs, ip);
#endif
}

/*
 * Direct calls: the traced function's site calls a trampoline of ours. @ops has
 * its filter set to the site @ip already; kernels without an ops use @ip alone.
 */
#if defined(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS) && \
	(defined(HAVE_REGISTER_FTRACE_DIRECT_OPS) || \
	 defined(HAVE_REGISTER_FTRACE_DIRECT_MULTI) || \
	 defined(HAVE_REGISTER_FTRACE_DIRECT_IP))
#define MMKIT_HAVE_FTRACE_DIRECT	1
#endif

#ifdef MMKIT_HAVE_FTRACE_DIRECT
static inline int mmkit_ftrace_direct_register(struct ftrace_ops *ops,
					       unsigned long ip,
					       unsigned long addr)
{
#if defined(HAVE_REGISTER_FTRACE_DIRECT_OPS)
	return register_ftrace_direct(ops, addr);
#elif defined(HAVE_REGISTER_FTRACE_DIRECT_MULTI)
	int ret = register_ftrace_direct_multi(ops, addr);

	/* A failure leaves these set, and they would refuse the next try. */
	if (ret && !(ops->flags & FTRACE_OPS_FL_ENABLED)) {
		ops->func = NULL;
		ops->trampoline = 0;
	}
	return ret;
#else
	return register_ftrace_direct(ip, addr);
#endif
}

static inline int mmkit_ftrace_direct_unregister(struct ftrace_ops *ops,
						 unsigned long ip,
						 unsigned long addr)
{
#if defined(HAVE_REGISTER_FTRACE_DIRECT_OPS)
	/*
	 * Keep the filter: freeing it here leaves the ops with dangling
	 * hashes up to 6.12, and this ops is used again.
	 */
	return unregister_ftrace_direct(ops, addr, false);
#elif defined(HAVE_REGISTER_FTRACE_DIRECT_MULTI)
	return unregister_ftrace_direct_multi(ops, addr);
#else
	return unregister_ftrace_direct(ip, addr);
#endif
}
#endif /* MMKIT_HAVE_FTRACE_DIRECT */

#endif /* MMKIT_COMPAT_FTRACE_H */
