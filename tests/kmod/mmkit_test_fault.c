// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device whose mappings answer a fault as the test wants it: error codes that
 * are hard to provoke otherwise, and faults that block without userfaultfd.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "mmkit_test_fault.h"

static struct page *test_page;
static DECLARE_WAIT_QUEUE_HEAD(release_wait);
static atomic_t nr_released = ATOMIC_INIT(0);
static atomic_t nr_blocked = ATOMIC_INIT(0);

static vm_fault_t give_page(struct vm_fault *vmf, vm_fault_t extra)
{
	get_page(test_page);
	vmf->page = test_page;
	return extra;
}

static vm_fault_t block(struct vm_fault *vmf)
{
	int seen = atomic_read(&nr_released), ret;

	atomic_inc(&nr_blocked);
	ret = wait_event_killable(release_wait,
				  atomic_read(&nr_released) != seen);
	atomic_dec(&nr_blocked);
	return ret ? VM_FAULT_SIGBUS : give_page(vmf, 0);
}

static vm_fault_t test_vm_fault(struct vm_fault *vmf)
{
	enum mmkit_test_fault what = (uintptr_t)vmf->vma->vm_private_data;

	switch (what) {
	case MMKIT_TEST_FAULT_PAGE:
		return give_page(vmf, 0);
	case MMKIT_TEST_FAULT_MAJOR:
		return give_page(vmf, VM_FAULT_MAJOR);
	case MMKIT_TEST_FAULT_SIGSEGV:
		return VM_FAULT_SIGSEGV;
	case MMKIT_TEST_FAULT_HWPOISON:
		return VM_FAULT_HWPOISON;
	case MMKIT_TEST_FAULT_OOM:
		return VM_FAULT_OOM;
	case MMKIT_TEST_FAULT_BLOCK:
		return block(vmf);
	case MMKIT_TEST_FAULT_SIGBUS:
	default:
		return VM_FAULT_SIGBUS;
	}
}

static const struct vm_operations_struct test_vm_ops = {
	.fault = test_vm_fault,
};

static int test_mmap(struct file *file, struct vm_area_struct *vma)
{
	vma->vm_private_data = (void *)vma->vm_pgoff;
	vma->vm_ops = &test_vm_ops;
	return 0;
}

static ssize_t test_read(struct file *file, char __user *buf, size_t size,
			 loff_t *pos)
{
	char text[16];
	int len = scnprintf(text, sizeof(text), "%d\n",
			    atomic_read(&nr_blocked));

	return simple_read_from_buffer(buf, size, pos, text, len);
}

static ssize_t test_write(struct file *file, const char __user *buf,
			  size_t size, loff_t *pos)
{
	atomic_inc(&nr_released);
	wake_up_all(&release_wait);
	return size;
}

static const struct file_operations test_fops = {
	.owner = THIS_MODULE,
	.mmap = test_mmap,
	.read = test_read,
	.write = test_write,
};

static struct miscdevice test_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = MMKIT_TEST_FAULT_NAME,
	.fops = &test_fops,
};

static int __init test_init(void)
{
	int ret;

	test_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!test_page)
		return -ENOMEM;
	ret = misc_register(&test_device);
	if (ret)
		put_page(test_page);
	return ret;
}

static void __exit test_exit(void)
{
	misc_deregister(&test_device);
	put_page(test_page);
}

module_init(test_init);
module_exit(test_exit);

MODULE_DESCRIPTION("mmkit test: a device with faults to order");
MODULE_LICENSE("GPL");
