// SPDX-License-Identifier: GPL-2.0-only
/* An ftrace callback gets struct ftrace_regs (5.11); before that, pt_regs. */
#include <linux/ftrace.h>

void mmkit_probe(unsigned long ip, unsigned long parent_ip,
		 struct ftrace_ops *op, struct ftrace_regs *fregs);
ftrace_func_t mmkit_probe_func = mmkit_probe;
