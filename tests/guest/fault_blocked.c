// SPDX-License-Identifier: GPL-2.0-only
/*
 * Can everything be removed while a task sleeps inside handle_mm_fault()?
 *
 * mmkit-test: id=fault_blocked_redirect args="redirect" timeout=120 timeout_full=400 cpus=2 kmod=mmkit_test_fault
 * mmkit-test: id=fault_blocked_direct args="direct" timeout=120 timeout_full=400 cpus=2 kmod=mmkit_test_fault
 * mmkit-test: id=fault_blocked_fprobe args="fprobe" timeout=120 timeout_full=400 cpus=2 kmod=mmkit_test_fault
 * mmkit-test: id=fault_blocked_kretprobe args="kretprobe" timeout=120 timeout_full=400 cpus=2 kmod=mmkit_test_fault
 *
 * mmkit_fault can be removed at once. mmkit itself stays in use until the last
 * task is out where the task returns through its code (redirect, direct), and
 * only then; with fprobe and kretprobe the task is let go and counted as lost.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ktap.h"
#include "lib/faultdev.h"
#include "lib/file.h"
#include "lib/mmkit.h"
#include "lib/module.h"
#include "lib/uffd.h"
#include "lib/util.h"

/* disabling waits for the drain, but not for ever */
#define BOUND_SECONDS	15
#define MANY		64

static bool stays_inside;

static double seconds_since(unsigned long long start)
{
	return (double)(now_ns() - start) / NSEC_PER_SEC;
}

/* a call that may wait: right answer, in bounded time */
static void check_bounded(int ret, int want, unsigned long long start,
			  const char *name, const char *what)
{
	double took = seconds_since(start);

	if (took > BOUND_SECONDS)
		ktap_note("%s took %.1f s", what, took);
	ktap_err(took > BOUND_SECONDS ? -ETIMEDOUT : ret, want, "%s: %s", name,
		 what);
}

/* mmkit_fault is gone; what of mmkit? */
static void check_core_in_use(const char *name)
{
	if (stays_inside) {
		ktap_ok(hook_is("state", "draining"),
			"%s: the hook says that it is draining", name);
		ktap_err(module_unload("mmkit"), -EAGAIN,
			 "%s: mmkit is in use", name);
	} else {
		ktap_ok(hook_wait("state", "off", BOUND_SECONDS),
			"%s: the hook is off", name);
	}
}

static void check_core_goes(const char *name)
{
	ktap_ok(hook_wait("state", "off", BOUND_SECONDS),
		"%s: the hook is off once nobody is inside", name);
	ktap_err(module_unload("mmkit"), 0, "%s: then mmkit can be removed",
		 name);
}

/* a second life while the tasks of the first are still inside */
static void check_reattach(const char *name, const char *mechanism)
{
	const size_t pages = 32;
	struct fault_counts d;
	int ret;

	ret = module_load("mmkit_fault", NULL);
	ktap_err(ret, 0, "%s: mmkit_fault can be loaded again", name);
	if (ret)
		return;
	ktap_err(file_puts(MMKIT_HOOK "mechanism", mechanism), 0,
		 "%s: the mechanism can be chosen while draining", name);
	ktap_err(fault_enable(true), 0, "%s: the hook can be attached again",
		 name);
	ret = fault_known(pages, &d);
	if (ktap_err(ret, 0, "%s: the counters can be read", name))
		ktap_eq(d.stat[FS_TOTAL], pages, "%s: and counts right", name);
}

/* what a blocker is used for; all at full volume */
#define TEST_DISABLE	1
#define TEST_REMOVE	2

/**
 * struct blocker - a way to have tasks asleep inside a fault
 * @reduced: tests at reduced volume
 * @block: have @count of them, not returning before all are asleep
 * @finish: let them go, or kill them, and wait for them
 */
struct blocker {
	const char *name;
	unsigned int reduced;
	size_t count;
	int (*block)(size_t count);
	int (*finish)(void);
};

static struct uffd uffd;
static pthread_t threads[MANY];
static size_t nr_threads;

static void *toucher(void *arg)
{
	touch_write(uffd.area + (size_t)arg * page_size(), 1);
	return NULL;
}

static int block_uffd(size_t count)
{
	int ret = uffd_open(&uffd, count, UFFD_MANUAL);

	if (ret)
		return ret;
	for (nr_threads = 0; nr_threads < count; nr_threads++)
		if (thread_start(&threads[nr_threads], toucher,
				 (void *)nr_threads))
			return -EAGAIN;
	return uffd_wait_blocked(&uffd, count, 20) == count ? 0 : -ETIMEDOUT;
}

static int finish_uffd(void)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < nr_threads && !ret; i++)
		ret = uffd_resolve(&uffd, i);
	for (i = 0; i < nr_threads && !ret; i++)
		ret = -pthread_join(threads[i], NULL);
	if (!ret)
		uffd_close(&uffd);
	return ret;
}

static pid_t child;

/* the userfaultfd is the child's own: nobody can resolve its faults */
static int block_child(size_t count)
{
	int ready[2];
	char byte;

	if (pipe(ready))
		return -errno;
	child = fork_child();
	if (child < 0)
		return -errno;
	if (!child) {
		int ret = block_uffd(count);

		byte = -ret;
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		byte = EIO;
	close(ready[0]);
	return -byte;
}

static int finish_child(void)
{
	kill(child, SIGKILL);
	return wait_child(child, BOUND_SECONDS) < 0 ? -ETIMEDOUT : 0;
}

static int dev_fd;

/*
 * In a process of its own: the task keeps the mmap lock while it sleeps, and
 * only one can sleep for that reason.
 */
static int block_dev(size_t count)
{
	unsigned long long end = now_ns() + 20 * NSEC_PER_SEC;
	char *area = faultdev_map(MMKIT_TEST_FAULT_BLOCK, count, &dev_fd);

	if (!area)
		return errno == ENOENT ? -ENOSYS : -errno;
	child = fork_child();
	if (child < 0)
		return -errno;
	if (!child) {
		touch_read(area, count);
		_exit(0);
	}
	munmap(area, count * page_size());
	while (faultdev_blocked(dev_fd) != (int)count) {
		if (now_ns() > end)
			return -ETIMEDOUT;
		sleep_ms(5);
	}
	return 0;
}

static int finish_dev(void)
{
	int ret = faultdev_release(dev_fd);
	int status = wait_child(child, BOUND_SECONDS);

	close(dev_fd);
	faultdev_unload();
	if (ret)
		return ret;
	return status ? -EIO : 0;
}

static const struct blocker blockers[] = {
	{ "userfaultfd", TEST_DISABLE, 1, block_uffd, finish_uffd },
	{ "killed", 0, 1, block_child, finish_child },
	{ "64 threads", 0, MANY, block_uffd, finish_uffd },
	{ "64 threads killed", TEST_REMOVE, MANY, block_child, finish_child },
	{ "driver", TEST_REMOVE, 1, block_dev, finish_dev },
};

static bool start(const struct blocker *b, const char *mechanism,
		  const char *name)
{
	int ret;

	mmkit_fresh(mechanism);
	ret = fault_enable(true);
	if (!ktap_err(ret, 0, "%s: enable", name))
		return false;
	ret = b->block(b->count);
	if (ret == -ENOSYS || ret == -EPERM) {
		ktap_skip(strerror(-ret), "%s", name);
		return false;
	}
	return ktap_err(ret, 0, "%s: asleep in a fault", name);
}

static void test_disable(const struct blocker *b, const char *mechanism)
{
	unsigned long long before;
	char name[64];

	snprintf(name, sizeof(name), "%s, disable", b->name);
	if (!start(b, mechanism, name))
		return;
	/* a baseline, and nothing that the drain could rely on */
	ktap_err(file_puts(MMKIT_FAULT "reset", "1"), 0, "%s: reset", name);
	before = now_ns();
	check_bounded(fault_enable(false), 0, before, name, "disable");
	before = now_ns();
	check_bounded(module_unload("mmkit_fault"), 0, before, name,
		      "remove mmkit_fault");
	check_core_in_use(name);
	check_reattach(name, mechanism);
	before = now_ns();
	check_bounded(module_unload("mmkit_fault"), 0, before, name,
		      "remove mmkit_fault again");
	check_core_in_use(name);
	ktap_err(b->finish(), 0, "%s: the task goes on", name);
	check_core_goes(name);
}

static void test_remove(const struct blocker *b, const char *mechanism)
{
	unsigned long long before;
	char name[64];

	snprintf(name, sizeof(name), "%s, remove", b->name);
	if (!start(b, mechanism, name))
		return;
	before = now_ns();
	check_bounded(module_unload("mmkit_fault"), 0, before, name,
		      "remove mmkit_fault while it is on");
	check_core_in_use(name);
	ktap_err(b->finish(), 0, "%s: the task goes on", name);
	check_core_goes(name);
}

int main(int argc, char **argv)
{
	const char *mechanism = argc > 1 ? argv[1] : "redirect";
	size_t i;

	ktap_start(volume(600, 240));
	stays_inside = !strcmp(mechanism, "redirect") ||
		       !strcmp(mechanism, "direct");
	for (i = 0; i < ARRAY_SIZE(blockers); i++) {
		unsigned int tests = volume(TEST_DISABLE | TEST_REMOVE,
					    blockers[i].reduced);

		if (tests & TEST_DISABLE)
			test_disable(&blockers[i], mechanism);
		if (tests & TEST_REMOVE)
			test_remove(&blockers[i], mechanism);
	}
	ktap_err(mmkit_unload(), 0, "unload");
	return ktap_finish();
}
