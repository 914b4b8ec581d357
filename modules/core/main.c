// SPDX-License-Identifier: GPL-2.0-only
/*
 * mmkit: what the other mmkit modules share. Hooks on kernel functions,
 * symbols, statistics, and the root of everything in sysfs and debugfs.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "core.h"

static char *mechanism = "auto";
module_param(mechanism, charp, 0444);
MODULE_PARM_DESC(mechanism,
		 "how hooks attach: auto (default), redirect, direct, fprobe, kretprobe");

/* A kernel that does not boot with mmkit loaded early is rescued by this. */
#define MMKIT_RESCUE	"mmkit_disable"
/* Generous: boot configuration makes the line longer than the usual 4 KiB. */
#define COMMAND_LINE_MAX	SZ_64K

/*
 * The kernel keeps its command line for itself, so ask for it as everybody
 * else does. An initramfs that loads modules before it mounts /proc is not
 * rescued.
 */
static bool __init disabled_on_command_line(void)
{
	bool found = false;
	struct file *file;
	loff_t pos = 0;
	char *line, *word, *rest;
	ssize_t len;

	line = kvzalloc(COMMAND_LINE_MAX, GFP_KERNEL);
	if (!line)
		return false;
	file = filp_open("/proc/cmdline", O_RDONLY, 0);
	if (IS_ERR(file))
		goto out;
	do {
		len = kernel_read(file, line + pos, COMMAND_LINE_MAX - 1 - pos,
				  &pos);
	} while (len > 0);
	filp_close(file, NULL);
	rest = line;
	while ((word = strsep(&rest, " \t\n")))
		if (!strcmp(word, MMKIT_RESCUE) ||
		    !strcmp(word, MMKIT_RESCUE "=1"))
			found = true;
out:
	kvfree(line);
	return found;
}

/*
 * No hook is attached any more and no drain is left, but a task may have been
 * preempted in the last instructions of a wrapper or on its way through a
 * trampoline. It does not sleep there, so wait until every task has slept or
 * has been in user mode, and, where the kernel is not preemptible, every CPU.
 */
static void wait_for_text_users(void)
{
	synchronize_rcu_tasks();
	synchronize_rcu();
}

static int __init mmkit_init(void)
{
	int ret;

	if (disabled_on_command_line()) {
		pr_notice("not loaded: " MMKIT_RESCUE " is on the kernel command line\n");
		return -ENODEV;
	}
	ret = mmkit_sysfs_init();
	if (ret)
		return ret;
	mmkit_ftrace_guard_init();
	mmkit_mechanisms_found(mmkit_selftest());
	ret = mmkit_hooks_init(mechanism);
	if (ret)
		goto err_sysfs;
	ret = mmkit_hook_sysfs_init();
	if (ret)
		goto err_hooks;
	ret = mmkit_fault_wrap_init();
	if (ret)
		goto err_hook_sysfs;
	return 0;

err_hook_sysfs:
	mmkit_hook_sysfs_exit();
err_hooks:
	mmkit_hooks_exit();
err_sysfs:
	mmkit_ftrace_guard_exit();
	mmkit_sysfs_exit();
	wait_for_text_users();
	return ret;
}

static void __exit mmkit_exit(void)
{
	mmkit_fault_wrap_exit();
	mmkit_hook_sysfs_exit();
	mmkit_hooks_exit();
	mmkit_ftrace_guard_exit();
	mmkit_sysfs_exit();
	wait_for_text_users();
}

module_init(mmkit_init);
module_exit(mmkit_exit);

MODULE_AUTHOR("mmkit developers");
MODULE_DESCRIPTION("Memory management study kit: shared helper");
MODULE_LICENSE("GPL");
MODULE_VERSION(MMKIT_VERSION);
