// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks as users see them: a folder each in /sys/kernel/mmkit/hooks/, and all
 * of them as one table in debugfs mmkit/hooks.
 */

#include <linux/debugfs.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include <mmkit/sysfs.h>

#include "core.h"

static struct kset *hooks_kset;
static LIST_HEAD(hooks);
static DEFINE_MUTEX(hooks_lock);

static const char *const state_names[] = {
	[MMKIT_HOOK_OFF] = "off",
	[MMKIT_HOOK_ON] = "on",
	[MMKIT_HOOK_DRAINING] = "draining",
	[MMKIT_HOOK_UNSUPPORTED] = "unsupported",
};

/* Those below: hook->lock held. */
static const char *mechanism_name(struct mmkit_hook *hook)
{
	return hook->state == MMKIT_HOOK_ON ?
	       mmkit_mechanisms[hook->attached]->name : "none";
}

static const char *symbol_name(struct mmkit_hook *hook)
{
	return hook->symbol ?: "none";
}

struct hook_attribute {
	struct attribute attr;
	ssize_t (*show)(struct mmkit_hook *hook, char *buf);
	ssize_t (*store)(struct mmkit_hook *hook, const char *buf, size_t count);
};

static ssize_t symbol_show(struct mmkit_hook *hook, char *buf)
{
	return sysfs_emit(buf, "%s\n", symbol_name(hook));
}

static ssize_t mechanism_show(struct mmkit_hook *hook, char *buf)
{
	return sysfs_emit(buf, "%s\n", mechanism_name(hook));
}

static ssize_t mechanism_store(struct mmkit_hook *hook, const char *buf,
			       size_t count)
{
	int id;

	if (strnlen(buf, count) != count)
		return -EINVAL;
	id = mmkit_mechanism_parse(buf);
	if (id >= 0)
		id = mmkit_hook_choose(hook, id);
	return id ?: count;
}

static ssize_t available_show(struct mmkit_hook *hook, char *buf)
{
	ssize_t len = 0;
	int id;

	/* "auto" first, as the one that most people want. */
	len += sysfs_emit_at(buf, len,
			     hook->wanted == MMKIT_AUTO ? "[auto]" : "auto");
	for (id = 0; id < MMKIT_MECHANISMS; id++)
		if (mmkit_mechanism_suits(hook, id))
			len += sysfs_emit_at(buf, len,
					     hook->wanted == id ?
					     " [%s]" : " %s",
					     mmkit_mechanisms[id]->name);
	return len + sysfs_emit_at(buf, len, "\n");
}

static ssize_t state_show(struct mmkit_hook *hook, char *buf)
{
	return sysfs_emit(buf, "%s\n", state_names[hook->state]);
}

static ssize_t errno_show(struct mmkit_hook *hook, char *buf)
{
	return sysfs_emit(buf, "%d\n", -hook->error);
}

static ssize_t hits_show(struct mmkit_hook *hook, char *buf)
{
	return sysfs_emit(buf, "%llu\n", mmkit_hook_hits(hook));
}

static ssize_t missed_show(struct mmkit_hook *hook, char *buf)
{
	return sysfs_emit(buf, "%llu\n", mmkit_hook_missed(hook));
}

static ssize_t lost_show(struct mmkit_hook *hook, char *buf)
{
	return sysfs_emit(buf, "%llu\n", mmkit_hook_lost(hook));
}

static ssize_t exact_show(struct mmkit_hook *hook, char *buf)
{
	return sysfs_emit(buf, "%d\n", !hook->inexact);
}

#define HOOK_ATTR_RO(_name)						\
	static struct hook_attribute _name##_attr = __ATTR_RO(_name)

HOOK_ATTR_RO(symbol);
static struct hook_attribute mechanism_attr =
	__ATTR(mechanism, 0644, mechanism_show, mechanism_store);
HOOK_ATTR_RO(available);
HOOK_ATTR_RO(state);
HOOK_ATTR_RO(errno);
HOOK_ATTR_RO(hits);
HOOK_ATTR_RO(missed);
HOOK_ATTR_RO(lost);
HOOK_ATTR_RO(exact);

static struct attribute *hook_attrs[] = {
	&symbol_attr.attr,
	&mechanism_attr.attr,
	&available_attr.attr,
	&state_attr.attr,
	&errno_attr.attr,
	&hits_attr.attr,
	&missed_attr.attr,
	&lost_attr.attr,
	&exact_attr.attr,
	NULL,
};
ATTRIBUTE_GROUPS(hook);

static ssize_t hook_attr_show(struct kobject *kobj, struct attribute *attr,
			      char *buf)
{
	struct mmkit_hook *hook = container_of(kobj, struct mmkit_hook, kobj);
	ssize_t ret;

	mutex_lock(&hook->lock);
	ret = container_of(attr, struct hook_attribute, attr)->show(hook, buf);
	mutex_unlock(&hook->lock);
	return ret;
}

static ssize_t hook_attr_store(struct kobject *kobj, struct attribute *attr,
			       const char *buf, size_t count)
{
	struct mmkit_hook *hook = container_of(kobj, struct mmkit_hook, kobj);

	return container_of(attr, struct hook_attribute, attr)->store(hook, buf,
								      count);
}

static const struct sysfs_ops hook_sysfs_ops = {
	.show = hook_attr_show,
	.store = hook_attr_store,
};

/* The hook is static: whoever removes it waits for this. */
static void hook_release(struct kobject *kobj)
{
	complete(&container_of(kobj, struct mmkit_hook, kobj)->released);
}

static struct kobj_type hook_ktype = {
	.sysfs_ops = &hook_sysfs_ops,
	.release = hook_release,
	.default_groups = hook_groups,
};

int mmkit_hook_sysfs_add(struct mmkit_hook *hook)
{
	int ret;

	init_completion(&hook->released);
	hook->kobj.kset = hooks_kset;
	ret = kobject_init_and_add(&hook->kobj, &hook_ktype, NULL, "%s",
				   hook->name);
	if (ret) {
		kobject_put(&hook->kobj);
		wait_for_completion(&hook->released);
		return ret;
	}
	mutex_lock(&hooks_lock);
	list_add_tail(&hook->node, &hooks);
	mutex_unlock(&hooks_lock);
	return 0;
}

void mmkit_hook_sysfs_remove(struct mmkit_hook *hook)
{
	mutex_lock(&hooks_lock);
	list_del(&hook->node);
	mutex_unlock(&hooks_lock);
	kobject_del(&hook->kobj);
	kobject_put(&hook->kobj);
	wait_for_completion(&hook->released);
}

static int hooks_show(struct seq_file *seq, void *unused)
{
	struct mmkit_hook *hook;

	seq_puts(seq, "hook symbol mechanism state errno hits missed lost exact\n");
	mutex_lock(&hooks_lock);
	list_for_each_entry(hook, &hooks, node) {
		mutex_lock(&hook->lock);
		seq_printf(seq, "%s %s %s %s %d %llu %llu %llu %d\n",
			   hook->name, symbol_name(hook), mechanism_name(hook),
			   state_names[hook->state], -hook->error,
			   mmkit_hook_hits(hook), mmkit_hook_missed(hook),
			   mmkit_hook_lost(hook), !hook->inexact);
		mutex_unlock(&hook->lock);
	}
	mutex_unlock(&hooks_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(hooks);

int mmkit_hook_sysfs_init(void)
{
	hooks_kset = kset_create_and_add("hooks", NULL, mmkit_kobj);
	if (!hooks_kset)
		return -ENOMEM;
	debugfs_create_file("hooks", 0444, mmkit_debugfs, NULL, &hooks_fops);
	return 0;
}

void mmkit_hook_sysfs_exit(void)
{
	kset_unregister(hooks_kset);
}
