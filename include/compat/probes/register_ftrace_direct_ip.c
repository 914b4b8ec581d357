// SPDX-License-Identifier: GPL-2.0-only
/* register_ftrace_direct() takes an address (5.5 to 6.3). */
#include <linux/ftrace.h>

int mmkit_probe(unsigned long ip);
int mmkit_probe(unsigned long ip)
{
	return register_ftrace_direct(ip, 0) ?: unregister_ftrace_direct(ip, 0);
}
