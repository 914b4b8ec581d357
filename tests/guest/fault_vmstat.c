// SPDX-License-Identifier: GPL-2.0-only
/*
 * Are the lock outcomes those that the kernel counts itself?
 *
 * mmkit-test: timeout=90 timeout_full=240 cpus=2
 *
 * Kernels with CONFIG_PER_VMA_LOCK_STATS (our debug kernels; no stock one)
 * count vma_lock_* in /proc/vmstat. They do so in the fault handler of the
 * architecture, so theirs also has what never reaches handle_mm_fault():
 * an access that the VMA does not allow (success), and one to an address
 * that no VMA has, or by a task that is killed while it waits (abort).
 * Without these, all three are equal.
 */
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "ktap.h"
#include "lib/file.h"
#include "lib/load.h"
#include "lib/mmkit.h"
#include "lib/util.h"

#define PAGES		64
#define READ_TRIES	2000
#define CASE_TRIES	10

/*
 * LOAD_ERROR and LOAD_KILL are the exclusions; LOAD_UFFD, since the copying of
 * a page takes the VMA's lock, too, and counts when that fails.
 */
#define LOADS	(LOAD_ALL & ~(1u << LOAD_ERROR | 1u << LOAD_KILL | 1u << LOAD_UFFD))

struct locks {
	unsigned long long success, retry, abort;
};

static int vmstat_locks(struct locks *l)
{
	int ret;

	ret = vmstat("vma_lock_success", &l->success);
	if (!ret)
		ret = vmstat("vma_lock_retry", &l->retry);
	if (!ret)
		ret = vmstat("vma_lock_abort", &l->abort);
	return ret;
}

/* The kernel's and ours at one moment: nothing moved while we read. */
static void read_both(struct locks *kernel, struct fault_counts *ours)
{
	struct locks before;
	int tries;

	for (tries = 0; tries < READ_TRIES; tries++) {
		if (vmstat_locks(&before) || fault_read(ours) ||
		    vmstat_locks(kernel))
			break;
		if (!memcmp(&before, kernel, sizeof(before)))
			return;
	}
	ktap_bail("cannot read the counters");
}

/**
 * struct window - what both have counted between two moments
 */
struct window {
	struct locks kernel;
	struct fault_counts ours;
};

static void window_open(struct window *w)
{
	read_both(&w->kernel, &w->ours);
}

static void window_close(struct window *w)
{
	struct fault_counts ours;
	struct locks kernel;

	read_both(&kernel, &ours);
	w->kernel.success = kernel.success - w->kernel.success;
	w->kernel.retry = kernel.retry - w->kernel.retry;
	w->kernel.abort = kernel.abort - w->kernel.abort;
	w->ours = fault_growth(&w->ours, &ours);
}

/*
 * @success and @abort: what the kernel alone has counted.
 */
static bool window_right(const struct window *w, unsigned int success,
			 unsigned int abort)
{
	const unsigned long long *stat = w->ours.stat;

	return w->kernel.success == stat[FS_VMA_LOCK_SUCCESS] + success &&
	       w->kernel.retry == stat[FS_VMA_LOCK_RETRY] &&
	       w->kernel.abort == stat[FS_VMA_LOCK_ABORT] + abort;
}

static void window_print(const struct window *w)
{
	ktap_note("vmstat: success %llu retry %llu abort %llu",
		  w->kernel.success, w->kernel.retry, w->kernel.abort);
	fault_print(&w->ours);
}

static sigjmp_buf back;

static void on_signal(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

/* Each access is refused: the VMA is read-only, or is not there. */
static void refused_writes(volatile char *area)
{
	volatile size_t next = 0;
	size_t page;

	sigsetjmp(back, 1);
	while (next < PAGES) {
		page = next;
		next = page + 1;
		area[page * page_size()] = 1;
	}
}

static void check_refused(const char *name, bool unmapped)
{
	struct window w;
	bool right;
	int tries;

	/* Another process may have the like in the window: once more then. */
	for (tries = 0; tries < CASE_TRIES; tries++) {
		char *area = map_anon(PAGES);

		if (unmapped)
			munmap(area, PAGES * page_size());
		else
			mprotect(area, PAGES * page_size(), PROT_READ);
		window_open(&w);
		refused_writes(area);
		window_close(&w);
		if (!unmapped)
			unmap_anon(area, PAGES);
		right = window_right(&w, unmapped ? 0 : PAGES,
				     unmapped ? PAGES : 0);
		if (right)
			break;
	}
	if (!ktap_ok(right, "%s", name))
		window_print(&w);
}

static void check_load(unsigned int seconds)
{
	struct load load;
	struct window w;

	load_prepare_disk();
	window_open(&w);
	if (load_start(&load, LOADS, 2))
		ktap_bail("cannot start the load");
	sleep_ms(seconds * 1000);
	ktap_ok(load_stop(&load), "load: starts and stops");
	window_close(&w);
	load_release_disk();
	window_print(&w);
	ktap_ok(w.kernel.success && w.kernel.retry && w.kernel.abort,
		"load: has all three outcomes");
	ktap_eq(w.ours.stat[FS_VMA_LOCK_SUCCESS], w.kernel.success,
		"load: vma_lock_success is the kernel's");
	ktap_eq(w.ours.stat[FS_VMA_LOCK_RETRY], w.kernel.retry,
		"load: vma_lock_retry is the kernel's");
	ktap_eq(w.ours.stat[FS_VMA_LOCK_ABORT], w.kernel.abort,
		"load: vma_lock_abort is the kernel's");
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	unsigned int seconds = volume(60, 10);
	struct locks locks;

	ktap_start(seconds + 150);
	if (vmstat_locks(&locks))
		ktap_skip_all("no vma_lock_* in /proc/vmstat");
	mmkit_fresh(NULL);
	sigaction(SIGSEGV, &action, NULL);
	if (lock_memory())
		ktap_bail("cannot lock memory");
	if (!ktap_err(fault_enable(true), 0, "enable"))
		return ktap_finish();
	check_refused("write to a read-only mapping: a success for the kernel alone",
		      false);
	check_refused("write to an unmapped page: an abort for the kernel alone",
		      true);
	check_load(seconds);
	ktap_err(fault_enable(false), 0, "disable");
	ktap_err(mmkit_unload(), 0, "unload");
	return ktap_finish();
}
