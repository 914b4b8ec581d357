// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a kernel promises and what it does may differ: a function that is not
 * traceable, an ftrace that is switched off. So at load each mechanism is
 * attached to a function of our own, which is called, and has to be seen.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/compiler.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/string.h>

#include "body.h"
#include "core.h"
#include "site.h"

typedef unsigned long (*selftest_fn)(unsigned long a, unsigned long b,
				     unsigned long c, unsigned long d);

static const unsigned long test_args[MMKIT_PROBE_ARGS] = { 2, 3, 5, 7 };
#define TEST_RESULT	(2 + 2 * 3 + 3 * 5 + 4 * 7)

/* Calls seen from entry to exit with the right values. */
static unsigned int seen;

/* The function that is hooked. Global, so that no clone of it is made. */
noinline __used unsigned long
mmkit_selftest_target(unsigned long a, unsigned long b,
		      unsigned long c, unsigned long d)
{
	return a + 2 * b + 3 * c + 4 * d;
}

static unsigned long no_body(unsigned long a, unsigned long b,
			     unsigned long c, unsigned long d)
{
	return 0;
}

MMKIT_DEFINE_BODY(mmkit_selftest_body, no_body);

noinline notrace __used unsigned long
mmkit_selftest_wrap(unsigned long a, unsigned long b,
		    unsigned long c, unsigned long d)
{
	unsigned long ret;

	ret = mmkit_body(mmkit_selftest_body)(a, b, c, d);
	if (ret == TEST_RESULT)
		seen++;
	return ret;
}
NOKPROBE_SYMBOL(mmkit_selftest_wrap);

static void set_body(unsigned long body)
{
	mmkit_set_body(mmkit_selftest_body, body);
}

static void notrace probe_entry(void *data, const unsigned long args[MMKIT_PROBE_ARGS])
{
	bool *right = data;

	*right = !memcmp(args, test_args, sizeof(test_args));
}

static void notrace probe_exit(void *data, unsigned long ret)
{
	bool *right = data;

	if (*right && ret == TEST_RESULT)
		seen++;
}

static const struct mmkit_probe_ops probe_ops = {
	.entry = probe_entry,
	.exit = probe_exit,
};

static DEFINE_PER_CPU(struct mmkit_hook_count, selftest_count);

static struct mmkit_hook selftest_hook = {
	.name = "selftest",
	.wrapper = mmkit_selftest_wrap,
#ifdef MMKIT_HAS_TRAMPOLINES
	.trampoline = mmkit_selftest_trampoline,
#endif
	.set_body = set_body,
	.probe = &probe_ops,
	.count = &selftest_count,
};

/* Call the target so that no compiler can know which function it is. */
static bool call_is_right(void)
{
	selftest_fn target = mmkit_selftest_target;

	OPTIMIZER_HIDE_VAR(target);
	return target(test_args[0], test_args[1], test_args[2],
		      test_args[3]) == TEST_RESULT;
}

static bool fires(enum mmkit_mechanism_id id)
{
	const struct mmkit_mechanism *mechanism = mmkit_mechanisms[id];
	bool right;
	int ret;

	if (!mechanism->attach) {
		pr_info("%s: this kernel does not have it\n", mechanism->name);
		return false;
	}
	if (!test_bit(id, &selftest_hook.prepared))
		return false;
	seen = 0;
	ret = mechanism->attach(&selftest_hook);
	if (ret) {
		pr_info("%s: does not attach (error %d)\n", mechanism->name,
			ret);
		return false;
	}
	right = call_is_right() && seen == 1;
	ret = mechanism->detach(&selftest_hook);
	if (ret) {
		/* The kernel may call into this module from now on. */
		pr_err("%s: does not detach (error %d); mmkit cannot be unloaded\n",
		       mechanism->name, ret);
		__module_get(THIS_MODULE);
		return false;
	}
	right = right && call_is_right() && seen == 1;
	if (!right)
		pr_warn("%s: attaches, but does not fire as it must: not used (kernel.ftrace_enabled=0?)\n",
			mechanism->name);
	return right;
}

/**
 * mmkit_selftest() - try each mechanism on a function of our own
 *
 * Nobody else calls that function, so nothing has to be drained; what a task may
 * have been interrupted in is waited for before the module's text goes (main.c).
 *
 * Context: process, module initialisation; may sleep.
 * Return: bitmap of enum mmkit_mechanism_id.
 */
unsigned long mmkit_selftest(void)
{
	unsigned long works = 0;
	int id;

	selftest_hook.addr = (unsigned long)mmkit_selftest_target;
	mmkit_mechanisms_prepare(&selftest_hook);
	for (id = 0; id < MMKIT_MECHANISMS; id++)
		if (fires(id))
			__set_bit(id, &works);
	mmkit_mechanisms_release(&selftest_hook);
	return works;
}
