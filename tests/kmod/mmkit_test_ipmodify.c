// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another user that may change where handle_mm_fault() continues, as a live
 * patch does: at most one can be there. It changes nothing. With plain=1 it is
 * the cheapest user of ftrace that there is, for the benchmark.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/string.h>

/* The last argument differs between kernels; nothing is done with it. */
static void notrace nothing(unsigned long ip, unsigned long parent_ip,
			    struct ftrace_ops *ops, void *regs)
{
}

static bool plain;
module_param(plain, bool, 0);
MODULE_PARM_DESC(plain, "do not ask for IPMODIFY");

static struct ftrace_ops test_ops = {
	.func = (void *)nothing,
};

/* What frees a filter is not exported everywhere; an empty one owns nothing. */
static void free_filter(void)
{
	ftrace_set_filter(&test_ops, NULL, 0, 1);
}

static int __init test_init(void)
{
	char symbol[] = "handle_mm_fault";
	int ret;

	if (!plain)
		test_ops.flags = FTRACE_OPS_FL_IPMODIFY;
	if (!plain && IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS))
		test_ops.flags |= FTRACE_OPS_FL_SAVE_REGS;
	ret = ftrace_set_filter(&test_ops, symbol, strlen(symbol), 1);
	if (!ret)
		ret = register_ftrace_function(&test_ops);
	if (ret)
		free_filter();
	return ret;
}

static void __exit test_exit(void)
{
	unregister_ftrace_function(&test_ops);
	free_filter();
}

module_init(test_init);
module_exit(test_exit);

MODULE_DESCRIPTION("mmkit test: an IPMODIFY user of handle_mm_fault");
MODULE_LICENSE("GPL");
