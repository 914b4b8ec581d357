// SPDX-License-Identifier: GPL-2.0-only
/* fprobe handlers get struct pt_regs (6.4 to 6.13). */
#include <linux/fprobe.h>

#ifndef CONFIG_FPROBE
#error not configured
#endif

int mmkit_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
		struct pt_regs *regs, void *data);
void mmkit_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
		struct pt_regs *regs, void *data);
struct fprobe mmkit_probe = {
	.entry_handler = mmkit_entry,
	.exit_handler = mmkit_exit,
};
