// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mechanisms as a set: which there are, which work on this kernel, and
 * which suit a function.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/bitops.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "core.h"
#include "site.h"

/* Also the order in which "auto" tries, "direct" left out: it shuts BPF out. */
const struct mmkit_mechanism *const mmkit_mechanisms[MMKIT_MECHANISMS] = {
	[MMKIT_REDIRECT] = &mmkit_redirect,
	[MMKIT_DIRECT] = &mmkit_direct,
	[MMKIT_FPROBE] = &mmkit_fprobe,
	[MMKIT_KRETPROBE] = &mmkit_kretprobe,
};

/* Bit per mechanism that passed the self-test; set once, at load. */
static unsigned long working;

/**
 * mmkit_mechanisms_found() - note what the self-test has found
 * @works: bitmap of enum mmkit_mechanism_id
 */
void mmkit_mechanisms_found(unsigned long works)
{
	working = works;
}

/**
 * mmkit_mechanism_works() - does this kernel have a mechanism, and does it fire
 * @id: mechanism; MMKIT_AUTO always does
 */
bool mmkit_mechanism_works(enum mmkit_mechanism_id id)
{
	return id == MMKIT_AUTO || (working & BIT(id));
}

/**
 * mmkit_mechanism_suits() - can a hook be attached by a mechanism
 * @hook: hook
 * @id: mechanism; MMKIT_AUTO always suits
 */
bool mmkit_mechanism_suits(struct mmkit_hook *hook, enum mmkit_mechanism_id id)
{
	return id == MMKIT_AUTO || (working & hook->prepared & BIT(id));
}

/**
 * mmkit_mechanisms_usable() - can a hook be attached at all
 * @hook: hook, prepared
 */
bool mmkit_mechanisms_usable(struct mmkit_hook *hook)
{
	return working & hook->prepared;
}

/**
 * mmkit_mechanism_parse() - mechanism by name
 * @name: "auto" or a mechanism's name, a newline may follow
 *
 * Return: enum mmkit_mechanism_id, or -EINVAL.
 */
int mmkit_mechanism_parse(const char *name)
{
	int id;

	if (sysfs_streq(name, "auto"))
		return MMKIT_AUTO;
	for (id = 0; id < MMKIT_MECHANISMS; id++)
		if (sysfs_streq(name, mmkit_mechanisms[id]->name))
			return id;
	return -EINVAL;
}

/**
 * mmkit_mechanisms_prepare() - make a hook ready to be attached
 * @hook: hook; @hook->addr is set
 *
 * Sets each ftrace_ops' filter once and for good: setting it anew, or freeing
 * it, between two registrations leaves dangling hashes behind up to 6.12. What
 * cannot be prepared is not attached: an ftrace_ops without a filter would
 * stand for every function of the kernel.
 */
void mmkit_mechanisms_prepare(struct mmkit_hook *hook)
{
	int id;

	hook->site = mmkit_find_site(hook->addr);
	if (hook->site)
		hook->set_body(hook->site + MMKIT_SITE_BYTES);
	for (id = 0; id < MMKIT_MECHANISMS; id++) {
		const struct mmkit_mechanism *mechanism = mmkit_mechanisms[id];
		int ret = 0;

		if (mechanism->prepare)
			ret = mechanism->prepare(hook);
		if (ret)
			pr_info("%s: %s cannot be prepared (error %d)\n",
				hook->name, mechanism->name, ret);
		else
			__set_bit(id, &hook->prepared);
	}
}

/**
 * mmkit_mechanisms_release() - undo mmkit_mechanisms_prepare()
 * @hook: hook, detached and drained
 */
void mmkit_mechanisms_release(struct mmkit_hook *hook)
{
	int id;

	for (id = 0; id < MMKIT_MECHANISMS; id++)
		if (mmkit_mechanisms[id]->release &&
		    __test_and_clear_bit(id, &hook->prepared))
			mmkit_mechanisms[id]->release(hook);
}
