// SPDX-License-Identifier: GPL-2.0-only
/*
 * mmkit_fault: accounts page faults. The counting itself is done by the wrapper
 * of handle_mm_fault() in mmkit.ko; here it is switched on and off, and shown
 * in /sys/kernel/mmkit/fault/.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include <mmkit/fault.h>
#include <mmkit/hook.h>
#include <mmkit/sysfs.h>

#include "fault.h"

static bool enable;

/* As strict as the file of the same name; "enable" alone means 1. */
static int enable_param_set(const char *value, const struct kernel_param *param)
{
	if (!value) {
		enable = true;
		return 0;
	}
	return mmkit_parse_bool(value, strlen(value), &enable);
}

static const struct kernel_param_ops enable_param_ops = {
	.flags = KERNEL_PARAM_OPS_FL_NOARG,
	.set = enable_param_set,
};

module_param_cb(enable, &enable_param_ops, NULL, 0);
MODULE_PARM_DESC(enable, "start counting when the module is loaded (default: no)");

static struct kobject *fault_kobj;

static void reset_all(void)
{
	fault_counts_reset();
	fault_latency_reset();
	mmkit_hook_forget_inexact(&mmkit_fault_hook);
	mmkit_epoch_advance();
}

static ssize_t enable_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	if (!mmkit_hook_supported(&mmkit_fault_hook))
		return sysfs_emit(buf, MMKIT_UNSUPPORTED);
	return sysfs_emit(buf, "%d\n", mmkit_hook_enabled(&mmkit_fault_hook));
}

static ssize_t enable_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *buf, size_t count)
{
	bool on;
	int ret;

	ret = mmkit_parse_bool(buf, count, &on);
	if (ret)
		return ret;
	ret = on ? mmkit_hook_enable(&mmkit_fault_hook) :
		   mmkit_hook_disable(&mmkit_fault_hook);
	return ret ?: count;
}

static ssize_t reset_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *buf, size_t count)
{
	bool reset;
	int ret;

	ret = mmkit_parse_bool(buf, count, &reset);
	if (ret)
		return ret;
	if (!reset)
		return -EINVAL;
	reset_all();
	return count;
}

static struct kobj_attribute enable_attr = __ATTR_RW(enable);
static struct kobj_attribute reset_attr = __ATTR_WO(reset);

static struct attribute *fault_attrs[] = {
	&enable_attr.attr,
	&reset_attr.attr,
	NULL,
};

static const struct attribute_group fault_group = {
	.attrs = fault_attrs,
};

static int __init fault_init(void)
{
	int ret;

	fault_kobj = kobject_create_and_add("fault", mmkit_kobj);
	if (!fault_kobj)
		return -ENOMEM;
	ret = fault_counts_init(fault_kobj);
	if (ret)
		goto err_kobj;
	ret = fault_latency_init();
	if (ret)
		goto err_counts;
	/* What was counted before this module came is not ours to show. */
	reset_all();
	ret = sysfs_create_group(fault_kobj, &fault_group);
	if (ret)
		goto err_latency;
	if (enable && mmkit_hook_enable(&mmkit_fault_hook))
		pr_warn("enable=1: not started, see the line above\n");
	return 0;

err_latency:
	fault_latency_exit();
err_counts:
	fault_counts_exit();
err_kobj:
	kobject_put(fault_kobj);
	return ret;
}

static void __exit fault_exit(void)
{
	sysfs_remove_group(fault_kobj, &fault_group);
	mmkit_hook_disable(&mmkit_fault_hook);
	mmkit_fault_set_observer(NULL);
	fault_latency_exit();
	fault_counts_exit();
	kobject_put(fault_kobj);
}

module_init(fault_init);
module_exit(fault_exit);

MODULE_AUTHOR("mmkit developers");
MODULE_DESCRIPTION("Memory management study kit: page fault accounting");
MODULE_LICENSE("GPL");
MODULE_VERSION(MMKIT_VERSION);
