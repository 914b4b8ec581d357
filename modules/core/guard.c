// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel.ftrace_enabled=0 stops every ftrace_ops without a word, unless one of
 * those registered is marked permanent; and a direct call or a probe cannot be
 * marked. So while one of these is on, an ops that is permanent sits on a
 * function that nobody calls: the sysctl then says EBUSY.
 */

#include <linux/ftrace.h>
#include <linux/mutex.h>

#include <compat/ftrace.h>

#include "core.h"
#include "site.h"

noinline __used void mmkit_guard_target(void)
{
	/* Or the compiler might merge it with another empty function. */
	barrier();
}

static void notrace guard_func(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, mmkit_ftrace_regs *fregs)
{
}

static struct ftrace_ops guard_ops = {
	.func = guard_func,
	.flags = FTRACE_OPS_FL_PERMANENT,
};

static DEFINE_MUTEX(guard_lock);
static unsigned int guard_users;
static bool guard_ready;

/**
 * mmkit_ftrace_guard_init() - set the guard's filter, once and for good
 *
 * Where this fails ftrace does not work, and neither does what it would guard.
 *
 * Context: process, module initialisation; may sleep.
 */
void mmkit_ftrace_guard_init(void)
{
	/* Not as a constant, into the middle of which objtool sees us point. */
	void (*target)(void) = mmkit_guard_target;
	unsigned long site;

	OPTIMIZER_HIDE_VAR(target);
	site = mmkit_find_site((unsigned long)target);
	guard_ready = site && !ftrace_set_filter_ip(&guard_ops, site, 0, 1);
}

/**
 * mmkit_ftrace_guard_exit() - undo mmkit_ftrace_guard_init()
 */
void mmkit_ftrace_guard_exit(void)
{
	ftrace_set_filter(&guard_ops, NULL, 0, 1);
}

/**
 * mmkit_ftrace_guard_get() - keep ftrace from being switched off
 *
 * Context: process; may sleep.
 * Return: 0; -EBUSY when it is off already; -ENODEV when it does not work.
 */
int mmkit_ftrace_guard_get(void)
{
	int ret = 0;

	mutex_lock(&guard_lock);
	if (!guard_users)
		ret = guard_ready ? register_ftrace_function(&guard_ops) :
				    -ENODEV;
	if (!ret)
		guard_users++;
	mutex_unlock(&guard_lock);
	return ret;
}

/**
 * mmkit_ftrace_guard_put() - undo mmkit_ftrace_guard_get()
 */
void mmkit_ftrace_guard_put(void)
{
	mutex_lock(&guard_lock);
	if (!--guard_users)
		unregister_ftrace_function(&guard_ops);
	mutex_unlock(&guard_lock);
}
