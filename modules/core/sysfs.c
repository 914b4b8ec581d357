// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/mmkit and debugfs mmkit/: the roots, and what every file of
 * theirs needs.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/timekeeping.h>

#include <mmkit/sysfs.h>

#include "core.h"

struct kobject *mmkit_kobj;
EXPORT_SYMBOL_GPL(mmkit_kobj);

/* An error pointer when debugfs is off: debugfs functions take it as it is. */
struct dentry *mmkit_debugfs;
EXPORT_SYMBOL_GPL(mmkit_debugfs);

static DEFINE_MUTEX(epoch_lock);
static u64 epoch;

/**
 * mmkit_epoch_advance() - note that counters start again
 *
 * Exporters take a counter that went back for a restart only if they are told
 * so. The epoch is the wall-clock time of the last reset in nanoseconds, made
 * to grow even if the clock did not; it therefore also tells a reload.
 *
 * Context: process; takes a mutex.
 * Return: the new epoch.
 */
u64 mmkit_epoch_advance(void)
{
	u64 now;

	mutex_lock(&epoch_lock);
	now = ktime_get_real_ns();
	epoch = now > epoch ? now : epoch + 1;
	now = epoch;
	mutex_unlock(&epoch_lock);
	return now;
}
EXPORT_SYMBOL_GPL(mmkit_epoch_advance);

/**
 * mmkit_parse_bool() - what a switch in sysfs accepts
 * @buf: as written, NUL after @count bytes
 * @count: bytes written
 * @value: set only on success
 *
 * Stricter than kstrtobool(), which looks at the first character alone: just
 * the numbers 0 and 1, and a newline after them.
 *
 * Return: 0, -EINVAL, or -ERANGE for a number that no integer holds.
 */
int mmkit_parse_bool(const char *buf, size_t count, bool *value)
{
	unsigned long number;
	int ret;

	/* kernfs hands over the first page of whatever is longer. */
	if (count >= SZ_4K || strnlen(buf, count) != count)
		return -EINVAL;
	ret = kstrtoul(buf, 10, &number);
	if (ret)
		return ret;
	if (number > 1)
		return -EINVAL;
	*value = number;
	return 0;
}
EXPORT_SYMBOL_GPL(mmkit_parse_bool);

static ssize_t version_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%s\n", MMKIT_VERSION);
}

static ssize_t epoch_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	u64 now;

	mutex_lock(&epoch_lock);
	now = epoch;
	mutex_unlock(&epoch_lock);
	return sysfs_emit(buf, "%llu\n", now);
}

static struct kobj_attribute version_attr = __ATTR_RO(version);
static struct kobj_attribute epoch_attr = __ATTR_RO(epoch);

static struct attribute *mmkit_attrs[] = {
	&version_attr.attr,
	&epoch_attr.attr,
	NULL,
};

static const struct attribute_group mmkit_group = {
	.attrs = mmkit_attrs,
};

int mmkit_sysfs_init(void)
{
	int ret;

	mmkit_epoch_advance();
	mmkit_kobj = kobject_create_and_add("mmkit", kernel_kobj);
	if (!mmkit_kobj)
		return -ENOMEM;
	ret = sysfs_create_group(mmkit_kobj, &mmkit_group);
	if (ret) {
		kobject_put(mmkit_kobj);
		return ret;
	}
	mmkit_debugfs = debugfs_create_dir("mmkit", NULL);
	if (IS_ERR(mmkit_debugfs))
		pr_info("no tables in debugfs: it is not available (error %ld)\n",
			PTR_ERR(mmkit_debugfs));
	return 0;
}

void mmkit_sysfs_exit(void)
{
	debugfs_remove_recursive(mmkit_debugfs);
	sysfs_remove_group(mmkit_kobj, &mmkit_group);
	kobject_put(mmkit_kobj);
}
