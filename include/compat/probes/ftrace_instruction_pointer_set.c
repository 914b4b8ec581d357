// SPDX-License-Identifier: GPL-2.0-only
/* The same under its older name (5.11 to 6.1). */
#include <linux/ftrace.h>

void mmkit_probe(struct ftrace_regs *fregs);
void mmkit_probe(struct ftrace_regs *fregs)
{
	ftrace_instruction_pointer_set(fregs, 0);
}
