// SPDX-License-Identifier: GPL-2.0-only
/* Per-VMA locks (6.4): the fault flag that says a fault holds one. */
#include <linux/mm.h>

unsigned int mmkit_probe(void);
unsigned int mmkit_probe(void)
{
	return FAULT_FLAG_VMA_LOCK;
}
