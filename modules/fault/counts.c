// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/mmkit/fault/stats/: how many faults, of which kind. Each file is
 * a sum over cells of struct mmkit_fault_counts, less a baseline.
 */

#include <linux/kobject.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include <mmkit/fault.h>
#include <mmkit/hook.h>
#include <mmkit/sysfs.h>

#include "fault.h"

/* What had been counted at the last reset: the wrapper's counts only grow. */
static struct mmkit_fault_counts baseline;
static DEFINE_MUTEX(baseline_lock);

/* Does a fault of this class and outcome count for a file? */
typedef bool (*cell_filter)(unsigned int class, enum mmkit_fault_outcome outcome);

static bool is_retry(enum mmkit_fault_outcome outcome)
{
	return outcome == MMKIT_FAULT_RETRY ||
	       outcome == MMKIT_FAULT_RETRY_LOCKED;
}

static bool is_handled(enum mmkit_fault_outcome outcome)
{
	return outcome == MMKIT_FAULT_DONE || outcome == MMKIT_FAULT_MAJOR;
}

static bool total(unsigned int class, enum mmkit_fault_outcome outcome)
{
	return true;
}

/*
 * Whose fault: remote before all else (another process's memory, charged to
 * the task that reached for it), then user mode, then the kernel on behalf of
 * the task itself.
 */
static bool remote(unsigned int class, enum mmkit_fault_outcome outcome)
{
	return class & MMKIT_FAULT_REMOTE;
}

static bool user(unsigned int class, enum mmkit_fault_outcome outcome)
{
	return !(class & MMKIT_FAULT_REMOTE) && (class & MMKIT_FAULT_USER);
}

static bool kernel(unsigned int class, enum mmkit_fault_outcome outcome)
{
	return !(class & (MMKIT_FAULT_REMOTE | MMKIT_FAULT_USER));
}

static bool write(unsigned int class, enum mmkit_fault_outcome outcome)
{
	return class & MMKIT_FAULT_WRITE;
}

static bool instruction(unsigned int class, enum mmkit_fault_outcome outcome)
{
	return class & MMKIT_FAULT_INSTRUCTION;
}

/* As getrusage() has it: with I/O, or handled after a retry. */
static bool major(unsigned int class, enum mmkit_fault_outcome outcome)
{
	return outcome == MMKIT_FAULT_MAJOR ||
	       (outcome == MMKIT_FAULT_DONE && (class & MMKIT_FAULT_TRIED));
}

static bool minor(unsigned int class, enum mmkit_fault_outcome outcome)
{
	return is_handled(outcome) && !major(class, outcome);
}

static bool retry(unsigned int class, enum mmkit_fault_outcome outcome)
{
	return is_retry(outcome);
}

static bool oom(unsigned int class, enum mmkit_fault_outcome outcome)
{
	return outcome == MMKIT_FAULT_OOM;
}

static bool sigbus(unsigned int class, enum mmkit_fault_outcome outcome)
{
	return outcome == MMKIT_FAULT_SIGBUS;
}

static bool sigsegv(unsigned int class, enum mmkit_fault_outcome outcome)
{
	return outcome == MMKIT_FAULT_SIGSEGV;
}

static bool hwpoison(unsigned int class, enum mmkit_fault_outcome outcome)
{
	return outcome == MMKIT_FAULT_HWPOISON;
}

static bool other_error(unsigned int class, enum mmkit_fault_outcome outcome)
{
	return outcome == MMKIT_FAULT_OTHER;
}

static bool mmap_lock(unsigned int class, enum mmkit_fault_outcome outcome)
{
	return !(class & MMKIT_FAULT_VMA_LOCK);
}

static bool vma_lock_success(unsigned int class,
			     enum mmkit_fault_outcome outcome)
{
	return (class & MMKIT_FAULT_VMA_LOCK) && !is_retry(outcome);
}

static bool vma_lock_retry(unsigned int class, enum mmkit_fault_outcome outcome)
{
	return (class & MMKIT_FAULT_VMA_LOCK) && is_retry(outcome);
}

/*
 * A first try from user mode that holds the mmap lock: its VMA's lock could not
 * be taken, or was given up on (and of the latter there are as many as there
 * are vma_lock_came_back).
 */
static bool first_under_mmap_lock(unsigned int class,
				  enum mmkit_fault_outcome outcome)
{
	return user(class, outcome) && mmap_lock(class, outcome) &&
	       !(class & MMKIT_FAULT_TRIED);
}

static bool vma_lock_came_back(unsigned int class,
			       enum mmkit_fault_outcome outcome)
{
	return outcome == MMKIT_FAULT_RETRY_LOCKED;
}

static u64 sum_cells(const struct mmkit_fault_counts *counts, cell_filter filter)
{
	unsigned int class, outcome;
	u64 sum = 0;

	for (outcome = 0; outcome < MMKIT_FAULT_OUTCOMES; outcome++)
		for (class = 0; class < MMKIT_FAULT_CLASSES; class++)
			if (filter(class, outcome))
				sum += counts->cell[outcome][class];
	return sum;
}

/*
 * vma_lock_abort is a difference of two sums, and a task may be between the
 * two: never show less than nothing.
 */
static u64 sum_aborts(const struct mmkit_fault_counts *counts)
{
	u64 first = sum_cells(counts, first_under_mmap_lock);
	u64 back = sum_cells(counts, vma_lock_came_back);

	return first > back ? first - back : 0;
}

struct count_attribute {
	struct kobj_attribute attr;
	cell_filter filter;	/* NULL: aborts */
	bool supported;
};

static ssize_t count_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	struct count_attribute *count =
		container_of(attr, struct count_attribute, attr);
	struct mmkit_fault_counts *counts;
	unsigned int i;
	ssize_t ret;
	u64 sum;

	if (!mmkit_hook_supported(&mmkit_fault_hook) || !count->supported)
		return sysfs_emit(buf, MMKIT_UNSUPPORTED);
	counts = kmalloc(sizeof(*counts), GFP_KERNEL);
	if (!counts)
		return -ENOMEM;
	mutex_lock(&baseline_lock);
	mmkit_fault_read_counts(counts);
	for (i = 0; i < sizeof(*counts) / sizeof(u64); i++)
		((u64 *)counts)[i] -= ((u64 *)&baseline)[i];
	mutex_unlock(&baseline_lock);
	sum = count->filter ? sum_cells(counts, count->filter) :
			      sum_aborts(counts);
	ret = sysfs_emit(buf, "%llu\n", sum);
	kfree(counts);
	return ret;
}

#define COUNT(_name, _filter, _supported)				\
	static struct count_attribute _name##_count = {			\
		.attr = __ATTR(_name, 0444, count_show, NULL),		\
		.filter = _filter,					\
		.supported = _supported,				\
	}

COUNT(total, total, true);
COUNT(user, user, true);
COUNT(kernel, kernel, true);
COUNT(remote, remote, true);
COUNT(write, write, true);
COUNT(instruction, instruction, true);
COUNT(major, major, true);
COUNT(minor, minor, true);
COUNT(retry, retry, true);
COUNT(vma_lock_success, vma_lock_success, MMKIT_FAULT_HAS_VMA_LOCK);
COUNT(vma_lock_retry, vma_lock_retry, MMKIT_FAULT_HAS_VMA_LOCK);
COUNT(vma_lock_abort, NULL, MMKIT_FAULT_HAS_VMA_LOCK);
COUNT(mmap_lock, mmap_lock, true);
COUNT(oom, oom, true);
COUNT(sigbus, sigbus, true);
COUNT(sigsegv, sigsegv, true);
COUNT(hwpoison, hwpoison, IS_ENABLED(CONFIG_MEMORY_FAILURE));
COUNT(other_error, other_error, true);

static struct attribute *count_attrs[] = {
	&total_count.attr.attr,
	&user_count.attr.attr,
	&kernel_count.attr.attr,
	&remote_count.attr.attr,
	&write_count.attr.attr,
	&instruction_count.attr.attr,
	&major_count.attr.attr,
	&minor_count.attr.attr,
	&retry_count.attr.attr,
	&vma_lock_success_count.attr.attr,
	&vma_lock_retry_count.attr.attr,
	&vma_lock_abort_count.attr.attr,
	&mmap_lock_count.attr.attr,
	&oom_count.attr.attr,
	&sigbus_count.attr.attr,
	&sigsegv_count.attr.attr,
	&hwpoison_count.attr.attr,
	&other_error_count.attr.attr,
	NULL,
};

static const struct attribute_group count_group = {
	.attrs = count_attrs,
};

static struct kobject *stats_kobj;

/**
 * fault_counts_reset() - count from zero from now on
 *
 * Context: process; takes a mutex.
 */
void fault_counts_reset(void)
{
	mutex_lock(&baseline_lock);
	mmkit_fault_read_counts(&baseline);
	mutex_unlock(&baseline_lock);
}

/**
 * fault_counts_init() - make stats/
 * @parent: folder to make it in
 *
 * Return: 0 or a negative errno.
 */
int fault_counts_init(struct kobject *parent)
{
	int ret;

	stats_kobj = kobject_create_and_add("stats", parent);
	if (!stats_kobj)
		return -ENOMEM;
	ret = sysfs_create_group(stats_kobj, &count_group);
	if (ret)
		kobject_put(stats_kobj);
	return ret;
}

/**
 * fault_counts_exit() - undo fault_counts_init()
 */
void fault_counts_exit(void)
{
	sysfs_remove_group(stats_kobj, &count_group);
	kobject_put(stats_kobj);
}
