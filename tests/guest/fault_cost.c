// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is the cost of counting, in instructions per fault, within its limits?
 *
 * mmkit-test: timeout=90 cpus=1 icount=yes
 *
 * Instructions and not time: that repeats to within a few. Needs QEMU with
 * -icount, see tests/bench/fault-hook for the comparison with others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "ktap.h"
#include "lib/cost.h"
#include "lib/file.h"
#include "lib/mmkit.h"
#include "lib/module.h"
#include "lib/util.h"

#define PAGES	128
/* two runs of the same differ by so much */
#define NOISE	8

/**
 * struct limits - how much a fault may cost more
 * @redirect: by default
 * @direct: by the cheapest mechanism
 *
 * On newer arm64 kernels a bare ftrace entry alone costs more.
 */
static const struct limits {
	const char *machine;
	int min_major, redirect, direct;
} limits[] = {
	{ "x86_64", 6, 100, 60 },
	{ "aarch64", 7, 155, 120 },
	{ "aarch64", 6, 120, 80 },
};

static const struct limits *find_limits(void)
{
	struct utsname u;
	size_t i;

	uname(&u);
	for (i = 0; i < ARRAY_SIZE(limits); i++)
		if (!strcmp(u.machine, limits[i].machine) &&
		    atoi(u.release) >= limits[i].min_major)
			return &limits[i];
	return NULL;
}

static double measure(const char *what)
{
	struct cost cost = cost_measure(PAGES, volume(256, 64));

	ktap_note("%-24s min %7.1f median %7.1f", what, cost.min, cost.median);
	return cost.min;
}

static void check_at_most(double added, int limit, const char *name)
{
	if (!ktap_ok(added <= limit, "%s: within the limit", name))
		ktap_note("%.1f instructions, at most %d expected", added,
			  limit);
}

static void check_nothing(double added, const char *name)
{
	if (!ktap_ok(added <= NOISE && added >= -NOISE, "%s: costs nothing",
		     name))
		ktap_note("%.1f instructions, 0 +- %d expected", added, NOISE);
}

static void check_mechanism(const char *name, double base, int limit)
{
	char text[64];
	double added;

	if (!mechanism_available(name)) {
		ktap_skip("this kernel does not have it", "%s", name);
		return;
	}
	ktap_err(file_puts(MMKIT_HOOK "mechanism", name), 0, "%s: chosen",
		 name);
	ktap_err(fault_enable(true), 0, "%s: enable", name);
	snprintf(text, sizeof(text), "%s, on", name);
	added = measure(text) - base;
	ktap_note("%s adds %.1f instructions", name, added);
	ktap_err(fault_enable(false), 0, "%s: disable", name);
	if (limit)
		check_at_most(added, limit, name);
	else
		ktap_ok(added > 0, "%s: was measured", name);
	snprintf(text, sizeof(text), "%s, off again", name);
	check_nothing(measure(text) - base, text);
}

/* a clock that counts instructions does not stand still in a loop, nor jump */
static bool clock_counts_instructions(void)
{
	struct cost a = cost_measure(PAGES, 32), b = cost_measure(PAGES, 32);

	return a.min > 500 && b.min - a.min < NOISE && a.min - b.min < NOISE;
}

int main(void)
{
	const struct limits *limit = find_limits();
	double base;

	ktap_start(volume(600, 200));
	mmkit_fresh(NULL);
	mmkit_unload();
	if (!clock_counts_instructions())
		ktap_skip_all("the clock does not count instructions (QEMU -icount)");
	base = measure("not loaded");
	ktap_err(module_load("mmkit_fault", NULL), 0, "load");
	check_nothing(measure("loaded, off") - base, "loaded, off");
	if (!limit)
		ktap_note("no limit is set for this kernel");
	check_mechanism("redirect", base, limit ? limit->redirect : 0);
	check_mechanism("direct", base, limit ? limit->direct : 0);
	ktap_err(mmkit_unload(), 0, "unload");
	check_nothing(measure("unloaded") - base, "unloaded");
	return ktap_finish();
}
