// SPDX-License-Identifier: GPL-2.0-only
/*
 * Addresses of functions that the kernel does not export.
 */

#include <linux/errno.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <mmkit/symbol.h>

/*
 * A clone (.isra, .constprop, .part, .cold) may take other arguments than the
 * function it was made from, and __pfx_ marks the padding before a function.
 */
static bool is_plain_name(const char *name)
{
	return name[0] && !strchr(name, '.') &&
	       strncmp(name, "__pfx_", strlen("__pfx_"));
}

/**
 * mmkit_symbol_resolve() - find a kernel function by its exact name
 * @name: of the function
 * @addr: set to its address, after the ENDBR where the function has one
 *
 * kallsyms_lookup_name() is not exported, but a kprobe may be asked for by name
 * (kernel/kprobes.c). It is registered disabled, so no text is patched. The
 * address is turned back into a name, so that a clone or a suffix that the
 * kernel's look-up ignores is never taken for the function itself.
 *
 * Context: process; may sleep.
 * Return: 0; -ENOENT when there is no such function; -EINVAL when it is a
 * clone, or must not be probed.
 */
int mmkit_symbol_resolve(const char *name, unsigned long *addr)
{
	struct kprobe probe = {
		.symbol_name = name,
		.flags = KPROBE_FLAG_DISABLED,
	};
	char *found;
	int ret;

	if (!is_plain_name(name))
		return -EINVAL;
	found = kzalloc(KSYM_SYMBOL_LEN, GFP_KERNEL);
	if (!found)
		return -ENOMEM;
	ret = register_kprobe(&probe);
	if (ret)
		goto out;
	sprint_symbol_no_offset(found, (unsigned long)probe.addr);
	if (strcmp(found, name))
		ret = -EINVAL;
	else
		*addr = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
out:
	kfree(found);
	return ret;
}
