// SPDX-License-Identifier: GPL-2.0-only
/*
 * Do the counters keep what a CPU had counted before it went?
 *
 * mmkit-test: timeout=60 cpus=2
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ktap.h"
#include "lib/file.h"
#include "lib/load.h"
#include "lib/mmkit.h"
#include "lib/rules.h"
#include "lib/util.h"

#define PAGES	256

static unsigned int cpu;
static bool retries_in_pgfault;

static int set_online(bool online)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online",
		 cpu);
	return file_puts(path, online ? "1" : "0");
}

/* the last CPU that can go and is not the only one */
static bool find_cpu(void)
{
	char path[64];
	int i;

	for (i = sysconf(_SC_NPROCESSORS_CONF) - 1; i > 0; i--) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/online", i);
		if (file_exists(path)) {
			cpu = i;
			return true;
		}
	}
	return false;
}

static int run_on(unsigned int where)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(where, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

static struct fault_counts read_counts(void)
{
	struct fault_counts c;
	int ret = fault_read(&c);

	if (ret)
		ktap_bail("cannot read the counters: %s", strerror(-ret));
	return c;
}

static void fault_pages(void)
{
	char *area = map_anon(PAGES);

	touch_write(area, PAGES);
	unmap_anon(area, PAGES);
}

static void check_window(const struct fault_counts *before, const char *name)
{
	struct fault_counts after = read_counts();
	struct fault_counts d = fault_growth(before, &after);

	check_rules(&d, retries_in_pgfault, name);
}

static void check_totals(void)
{
	struct fault_counts start = read_counts(), before, after;

	ktap_err(run_on(cpu), 0, "run on the CPU that will go");
	fault_pages();
	run_on(0);
	before = read_counts();
	ktap_ok(before.stat[FS_TOTAL] >= start.stat[FS_TOTAL] + PAGES,
		"faults on that CPU are counted");
	ktap_err(set_online(false), 0, "offline");
	after = read_counts();
	ktap_ok(after.stat[FS_TOTAL] >= before.stat[FS_TOTAL],
		"offline: the total is kept");
	check_window(&start, "offline");
	fault_pages();
	check_window(&start, "offline, with faults");

	/* the hook comes and goes with the CPU away */
	ktap_err(fault_enable(false), 0, "offline: disable");
	ktap_err(fault_enable(true), 0, "offline: enable");
	start = read_counts();
	fault_pages();
	ktap_err(set_online(true), 0, "online");
	check_window(&start, "online again");
	run_on(cpu);
	fault_pages();
	run_on(0);
	check_window(&start, "online again, with faults");
}

static void check_under_load(unsigned int cycles)
{
	struct fault_counts before = read_counts();
	unsigned int i, wrong = 0;
	struct load load;
	int ret;

	ret = load_start(&load, 1u << LOAD_STORM | 1u << LOAD_VMA |
			 1u << LOAD_FORK, 4);
	if (ret)
		ktap_bail("cannot start the load: %s", strerror(-ret));
	for (i = 0; i < cycles; i++) {
		ret = set_online(false);
		sleep_ms(50);
		if (!ret)
			ret = set_online(true);
		sleep_ms(50);
		if (ret) {
			ktap_note("cycle %u: %s", i, strerror(-ret));
			wrong++;
		}
	}
	ktap_ok(load_stop(&load) && load_rounds(&load, LOAD_STORM) > 0,
		"under load: the load ran");
	ktap_eq(wrong, 0, "under load: the CPU came and went");
	check_window(&before, "under load");
}

int main(int argc, char **argv)
{
	ktap_start(volume(400, 150));
	if (!find_cpu())
		ktap_skip_all("no CPU can be taken offline");
	mmkit_fresh(argc > 1 ? argv[1] : NULL);
	lock_memory();
	retries_in_pgfault = decide_pgfault();
	ktap_err(fault_enable(true), 0, "enable");
	check_totals();
	check_under_load(volume(100, 5));
	ktap_err(fault_enable(false), 0, "disable");
	ktap_err(mmkit_unload(), 0, "unload");
	return ktap_finish();
}
