// SPDX-License-Identifier: GPL-2.0-only
/* register_ftrace_direct_multi() (5.16 to 6.3). */
#include <linux/ftrace.h>

int mmkit_probe(struct ftrace_ops *ops);
int mmkit_probe(struct ftrace_ops *ops)
{
	return register_ftrace_direct_multi(ops, 0) ?:
	       unregister_ftrace_direct_multi(ops, 0);
}
