// SPDX-License-Identifier: GPL-2.0-only
/* register_ftrace_direct() takes an ftrace_ops (6.4). */
#include <linux/ftrace.h>

int mmkit_probe(struct ftrace_ops *ops);
int mmkit_probe(struct ftrace_ops *ops)
{
	return register_ftrace_direct(ops, 0) ?: unregister_ftrace_direct(ops, 0, false);
}
