// SPDX-License-Identifier: GPL-2.0-only
/* Guards the probing: must compile everywhere. */
#include <linux/module.h>

int mmkit_probe(void);
int mmkit_probe(void)
{
	return 0;
}
