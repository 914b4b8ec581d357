// SPDX-License-Identifier: GPL-2.0-only
/* Guards the probing: must not compile anywhere. */
#include <linux/module.h>

int mmkit_probe(void);
int mmkit_probe(void)
{
	return mmkit_no_such_function();
}
