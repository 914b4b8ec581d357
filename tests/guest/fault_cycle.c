// SPDX-License-Identifier: GPL-2.0-only
/*
 * Can the hook be attached and detached, and mmkit_fault loaded and removed,
 * again and again while other tasks fault, without losing a count?
 *
 * mmkit-test: id=fault_cycle_redirect args="redirect" timeout=120 timeout_full=1200 cpus=2
 * mmkit-test: id=fault_cycle_direct args="direct" timeout=120 timeout_full=1200 cpus=2
 * mmkit-test: id=fault_cycle_fprobe args="fprobe" timeout=120 timeout_full=1200 cpus=2
 * mmkit-test: id=fault_cycle_kretprobe args="kretprobe" timeout=120 timeout_full=1200 cpus=2
 *
 * redirect and direct have to be exact. fprobe and kretprobe need not be, but
 * have to say by how much: every call is in total, in missed or in lost.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "lib/file.h"
#include "lib/load.h"
#include "lib/mmkit.h"
#include "lib/module.h"
#include "lib/rules.h"
#include "lib/uffd.h"
#include "lib/util.h"

#define THREADS		8
#define WINDOW_MS	300
#define UNLOAD_SECONDS	15
/* more than mmkit asks the kernel to have return instances for (1024) */
#define BLOCKED		1100
#define PAGES		64

static bool retries_in_pgfault, exact;

/* the hook is off and nobody is inside: nothing moves */
static bool settled(void)
{
	struct fault_counts c;
	unsigned long long hits, lost;
	int ret;

	if (!hook_wait("state", "off", UNLOAD_SECONDS)) {
		ktap_note("the hook does not get off");
		return false;
	}
	ret = fault_read_stats(&c);
	if (ret) {
		ktap_note("cannot read the counters: %s", strerror(-ret));
		return false;
	}
	hits = hook_u64("hits");
	lost = hook_u64("lost");
	if (c.stat[FS_TOTAL] + lost != hits) {
		ktap_note("total %llu + lost %llu != hits %llu",
			  c.stat[FS_TOTAL], lost, hits);
		return false;
	}
	if (exact && (lost || hook_u64("missed"))) {
		ktap_note("lost %llu, missed %llu", lost, hook_u64("missed"));
		return false;
	}
	return sums_right(&c);
}

static void switch_cycles(unsigned int cycles)
{
	unsigned int i, wrong = 0;
	struct load load;
	int ret;

	ret = load_start(&load, 1u << LOAD_STORM, THREADS);
	if (ret)
		ktap_bail("cannot start the load: %s", strerror(-ret));
	for (i = 0; i < cycles && wrong < 3; i++) {
		ret = fault_enable(true);
		if (!ret) {
			/* from at once to long enough to be in every CPU */
			sleep_ms(i % 4 * 10);
			ret = fault_enable(false);
		}
		if (ret || !settled()) {
			ktap_note("cycle %u: %s", i, strerror(-ret));
			wrong++;
		}
	}
	ktap_ok(load_stop(&load) && load_rounds(&load, LOAD_STORM) > 0,
		"switching: the load ran");
	ktap_eq(wrong, 0, "switching: every cycle left right counters");
	ktap_note("%u cycles: hits %llu missed %llu lost %llu", i,
		  hook_u64("hits"), hook_u64("missed"), hook_u64("lost"));
}

static void module_cycles(unsigned int cycles)
{
	unsigned int i, wrong = 0;
	struct load load;
	int ret;

	ret = load_start(&load, 1u << LOAD_STORM, THREADS);
	if (ret)
		ktap_bail("cannot start the load: %s", strerror(-ret));
	for (i = 0; i < cycles && wrong < 3; i++) {
		ret = module_unload("mmkit_fault");
		if (!ret && i % 2 && !hook_is("state", "off"))
			ret = -EBUSY;
		if (!ret)
			ret = module_load("mmkit_fault", "enable=1");
		if (!ret && !hook_is("state", "on"))
			ret = -ENXIO;
		if (ret) {
			ktap_note("cycle %u: %s", i, strerror(-ret));
			wrong++;
		}
		/* removed while it is on, or after it was switched off */
		if (i % 2)
			fault_enable(false);
	}
	ktap_ok(load_stop(&load) && load_rounds(&load, LOAD_STORM) > 0,
		"reloading: the load ran");
	ktap_eq(wrong, 0, "reloading: every cycle worked");
	ktap_err(fault_enable(false), 0, "reloading: off in the end");
}

/*
 * Processes of one thread: nothing contends for the locks, so nothing is
 * retried, and the calls that were missed have been counted once in pgfault.
 */
static void exact_window(const char *name)
{
	unsigned long long missed, lost;
	struct fault_counts before, after, d;
	struct load load[THREADS];
	bool good = true;
	int i, ret;

	ret = fault_enable(true);
	missed = hook_u64("missed");
	lost = hook_u64("lost");
	lock_memory();
	if (!ret)
		ret = fault_read(&before);
	for (i = 0; i < THREADS && !ret; i++)
		ret = load_start(&load[i], 1u << LOAD_STORM, 1);
	if (ret)
		ktap_bail("cannot start the window: %s", strerror(-ret));
	sleep_ms(WINDOW_MS);
	for (i = 0; i < THREADS; i++)
		good &= load_stop(&load[i]);
	ret = fault_read(&after);
	missed = hook_u64("missed") - missed;
	lost = hook_u64("lost") - lost;
	if (ret)
		ktap_bail("cannot read the counters: %s", strerror(-ret));
	d = fault_growth(&before, &after);
	fault_print(&d);
	ktap_ok(good && d.stat[FS_TOTAL] > THREADS, "%s: the load ran", name);
	check_sums(&d, name);
	if (exact)
		ktap_eq(missed, 0, "%s: nothing is missed", name);
	ktap_eq(d.stat[FS_TOTAL] + missed + lost,
		d.pgfault + (retries_in_pgfault ? 0 : d.stat[FS_RETRY]),
		"%s: total + missed + lost is what the kernel counted", name);
	ktap_err(fault_enable(false), 0, "%s: disable", name);
}

struct blocked {
	struct uffd *u;
	size_t page;
	pthread_t thread;
};

static void *blocked_thread(void *arg)
{
	struct blocked *b = arg;

	touch_write(b->u->area + b->page * page_size(), 1);
	return NULL;
}

/*
 * While more tasks are inside the function than a probe can follow, it misses
 * calls, and each of them has to be shown.
 */
static void known_misses(void)
{
	static struct blocked blocked[BLOCKED];
	unsigned long long missed, lost;
	struct fault_counts before, after, d;
	size_t started, i;
	struct uffd u;
	char *area;
	int ret;

	ret = uffd_open(&u, BLOCKED, UFFD_MANUAL);
	if (ret) {
		ktap_skip(strerror(-ret), "full: every call is accounted for");
		ktap_skip(strerror(-ret), "full: says that it is not exact");
		return;
	}
	ret = fault_enable(true);
	for (started = 0; started < BLOCKED && !ret; started++) {
		blocked[started].u = &u;
		blocked[started].page = started;
		ret = thread_start(&blocked[started].thread, blocked_thread,
				   &blocked[started]);
	}
	if (ret)
		ktap_bail("cannot block %d threads: %d", BLOCKED, ret);
	if (uffd_wait_blocked(&u, BLOCKED, 30) != BLOCKED)
		ktap_bail("not all threads got blocked");
	area = map_anon(PAGES);
	missed = hook_u64("missed");
	ret = fault_read(&before);
	touch_write(area, PAGES);
	if (!ret)
		ret = fault_read(&after);
	missed = hook_u64("missed") - missed;
	if (ret)
		ktap_bail("cannot read the counters: %s", strerror(-ret));
	d = fault_growth(&before, &after);
	ktap_note("%d tasks inside: %llu of %d calls missed", BLOCKED, missed,
		  PAGES);
	ktap_eq(d.stat[FS_TOTAL] + missed, PAGES,
		"full: every call is accounted for");
	ktap_ok(hook_is("exact", exact ? "1" : "0"),
		"full: says whether it is exact");

	/* detach with all of them inside */
	lost = hook_u64("lost");
	ktap_err(fault_enable(false), 0, "full: disable");
	for (i = 0; i < BLOCKED; i++)
		uffd_resolve(&u, i);
	for (i = 0; i < BLOCKED; i++)
		pthread_join(blocked[i].thread, NULL);
	ktap_ok(settled(), "full: every entry is in total or in lost");
	ktap_note("detached with %d inside: %llu lost", BLOCKED,
		  hook_u64("lost") - lost);
	uffd_close(&u);
	unmap_anon(area, PAGES);
}

int main(int argc, char **argv)
{
	const char *mechanism = argc > 1 ? argv[1] : "redirect";

	ktap_start(volume(1800, 240));
	mmkit_fresh(mechanism);
	exact = !strcmp(mechanism, "redirect") || !strcmp(mechanism, "direct");
	lock_memory();
	retries_in_pgfault = decide_pgfault();
	switch_cycles(volume(300, 10));
	exact_window("after switching");
	/* with the others there is nothing to be missed */
	if (!exact || volume_full())
		known_misses();
	module_cycles(volume(100, 4));
	exact_window("after reloading");
	ktap_err(mmkit_unload(), 0, "unload");
	return ktap_finish();
}
