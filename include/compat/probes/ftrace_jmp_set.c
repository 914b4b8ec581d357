// SPDX-License-Identifier: GPL-2.0-only
/* A direct call that is a jump (bit 0 of the address set), 7.x amd64. */
#include <linux/ftrace.h>

#ifndef CONFIG_DYNAMIC_FTRACE_WITH_JMP
#error not configured
#endif

unsigned long mmkit_probe(unsigned long addr);
unsigned long mmkit_probe(unsigned long addr)
{
	return ftrace_jmp_set(addr);
}
