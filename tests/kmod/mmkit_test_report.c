// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the kernel report trouble, to see that a run of a guest fails on it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

static bool warn;
module_param(warn, bool, 0);
MODULE_PARM_DESC(warn, "a warning");

static bool oops;
module_param(oops, bool, 0);
MODULE_PARM_DESC(oops, "a bad access");

static int __init test_init(void)
{
	WARN(warn, "mmkit_test_report: this is a test\n");
	if (oops)
		WRITE_ONCE(*(int *)8, 1);
	return 0;
}

static void __exit test_exit(void)
{
}

module_init(test_init);
module_exit(test_exit);
MODULE_DESCRIPTION("mmkit test: kernel reports");
MODULE_LICENSE("GPL");
