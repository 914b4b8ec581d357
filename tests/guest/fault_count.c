// SPDX-License-Identifier: GPL-2.0-only
/*
 * Are the fault counters exact?
 *
 * mmkit-test: id=fault_count timeout=120 timeout_full=240 cpus=2 kmod=mmkit_test_fault
 * mmkit-test: id=fault_count_direct args="direct" timeout=120 timeout_full=240 cpus=2 kmod=mmkit_test_fault
 *
 * First a known number of faults of each class, then a mixed load, both in
 * windows that begin and end with the load at rest. The truth is what the
 * kernel counts itself: pgfault in /proc/vmstat and getrusage().
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ktap.h"
#include "lib/code.h"
#include "lib/faultdev.h"
#include "lib/file.h"
#include "lib/load.h"
#include "lib/mmkit.h"
#include "lib/rules.h"
#include "lib/uffd.h"
#include "lib/util.h"

#define PAGES		64
#define CLASS_TRIES	10
#define HUGE_PAGES	"/proc/sys/vm/nr_hugepages"

static bool retries_in_pgfault;

/**
 * struct class_case - a known number of faults of one class
 * @prepare: what may fault before; returns 0, or -errno when it cannot be done
 * @act: the faults
 * @want: counters and by how many times PAGES they grow; ends with times 0
 */
struct class_case {
	const char *name;
	int (*prepare)(void);
	void (*act)(void);
	void (*clean)(void);
	struct {
		enum fault_stat stat;
		unsigned int times;
	} want[8];
};

static char *area;

static int prepare_anon(void)
{
	area = map_anon(PAGES);
	return 0;
}

static void clean_anon(void)
{
	unmap_anon(area, PAGES);
}

static void act_read(void)
{
	touch_read(area, PAGES);
}

static void act_write(void)
{
	touch_write(area, PAGES);
}

static int prepare_cow(void)
{
	prepare_anon();
	touch_read(area, PAGES);
	return 0;
}

static struct code code;

static int prepare_code(void)
{
	return code_map(&code, PAGES);
}

static void act_code(void)
{
	code_call(&code);
}

static void clean_code(void)
{
	code_unmap(&code);
}

static int zero_fd, pipe_fd[2];

static void act_kernel_write(void)
{
	if (read(zero_fd, area, PAGES * page_size()) < 0)
		ktap_note("read: %s", strerror(errno));
}

static void act_kernel_read(void)
{
	size_t page = page_size(), i;
	char own[8];

	for (i = 0; i < PAGES; i++)
		if (write(pipe_fd[1], area + i * page, sizeof(own)) < 0 ||
		    read(pipe_fd[0], own, sizeof(own)) < 0)
			ktap_note("pipe: %s", strerror(errno));
}

static void act_populate(void)
{
	if (mlock(area, PAGES * page_size()))
		ktap_note("mlock: %s", strerror(errno));
}

static pid_t child;
static char *own_area;

static int prepare_remote(void)
{
	own_area = map_anon(PAGES);
	prepare_anon();
	child = fork_child();
	if (child < 0)
		return -errno;
	if (!child) {
		for (;;)
			pause();
	}
	/* after the fork, or it would be copied on write */
	touch_write(own_area, PAGES);
	return wait_asleep(child, 5) ? 0 : -ETIMEDOUT;
}

static void act_remote_read(void)
{
	size_t bytes = PAGES * page_size();
	struct iovec own = { own_area, bytes }, theirs = { area, bytes };

	if (process_vm_readv(child, &own, 1, &theirs, 1, 0) < 0)
		ktap_note("process_vm_readv: %s", strerror(errno));
}

static void act_remote_write(void)
{
	size_t bytes = PAGES * page_size();
	struct iovec own = { own_area, bytes }, theirs = { area, bytes };

	if (process_vm_writev(child, &own, 1, &theirs, 1, 0) < 0)
		ktap_note("process_vm_writev: %s", strerror(errno));
}

static void clean_remote(void)
{
	kill(child, SIGKILL);
	wait_child(child, 5);
	clean_anon();
	unmap_anon(own_area, PAGES);
}

static struct uffd uffd;

static int prepare_uffd(void)
{
	return uffd_open(&uffd, PAGES, 0);
}

static void act_uffd(void)
{
	touch_write(uffd.area, PAGES);
}

static void clean_uffd(void)
{
	uffd_close(&uffd);
}

static char *reserved, *stack_top;
static size_t reserved_bytes;

/* one page that grows down when the page below it is touched */
static int prepare_stack(void)
{
	size_t page = page_size(), gap = 1024 * page;

	reserved_bytes = gap + (PAGES + 2) * page;
	reserved = mmap(NULL, reserved_bytes, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (reserved == MAP_FAILED)
		return -errno;
	munmap(reserved, reserved_bytes);
	stack_top = mmap(reserved + reserved_bytes - page, page,
			 PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED |
			 MAP_GROWSDOWN, -1, 0);
	if (stack_top == MAP_FAILED)
		return -errno;
	touch_write(stack_top, 1);
	return 0;
}

static void act_stack(void)
{
	size_t page = page_size(), i;

	for (i = 1; i <= PAGES; i++)
		touch_write(stack_top - i * page, 1);
}

static void clean_stack(void)
{
	munmap(reserved, reserved_bytes);
}

static sigjmp_buf signal_env;
static volatile sig_atomic_t nr_signals;

static void on_signal(int sig)
{
	(void)sig;
	nr_signals++;
	siglongjmp(signal_env, 1);
}

static void act_signal(void)
{
	volatile size_t i;

	for (i = 0; i < PAGES; i++)
		if (!sigsetjmp(signal_env, 1))
			touch_read(area + i * page_size(), 1);
}

static int file_fd;

static int prepare_sigbus(void)
{
	size_t bytes = PAGES * page_size();

	file_fd = memfd_create("mmkit-sigbus", MFD_CLOEXEC);
	if (file_fd < 0 || ftruncate(file_fd, bytes))
		return -errno;
	area = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file_fd, 0);
	if (area == MAP_FAILED || ftruncate(file_fd, 0))
		return -errno;
	return 0;
}

static void clean_file(void)
{
	munmap(area, PAGES * page_size());
	close(file_fd);
}

static int prepare_disk(void)
{
	size_t bytes = PAGES * page_size();
	int ret = load_prepare_disk();

	if (ret)
		return -ENODEV;
	file_fd = open(LOAD_DISK_PATH, O_RDONLY | O_CLOEXEC);
	if (file_fd < 0)
		return -errno;
	/* no readahead: every page has to be waited for */
	posix_fadvise(file_fd, 0, bytes, POSIX_FADV_DONTNEED);
	area = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file_fd, 0);
	if (area == MAP_FAILED || madvise(area, bytes, MADV_RANDOM))
		return -errno;
	return 0;
}

static int prepare_dev(enum mmkit_test_fault what)
{
	area = faultdev_map(what, PAGES, &file_fd);
	return area ? 0 : -errno;
}

static int prepare_dev_sigsegv(void)
{
	return prepare_dev(MMKIT_TEST_FAULT_SIGSEGV);
}

static int prepare_dev_hwpoison(void)
{
	return prepare_dev(MMKIT_TEST_FAULT_HWPOISON);
}

static int prepare_dev_oom(void)
{
	return prepare_dev(MMKIT_TEST_FAULT_OOM);
}

static int prepare_dev_major(void)
{
	return prepare_dev(MMKIT_TEST_FAULT_MAJOR);
}

/*
 * Page by page through get_user_pages(): no signal is sent, and the kernel does
 * not look for a process to kill when the memory is said to be exhausted.
 */
static void act_gup(void)
{
	size_t page = page_size(), i;
	char byte;

	for (i = 0; i < PAGES; i++) {
		struct iovec own = { &byte, 1 }, it = { area + i * page, 1 };

		if (process_vm_readv(getpid(), &own, 1, &it, 1, 0) >= 0)
			ktap_note("page %zu can be read", i);
	}
}

static const struct class_case classes[] = {
	{ "user read", prepare_anon, act_read, clean_anon, {
		{ FS_TOTAL, 1 }, { FS_USER, 1 }, { FS_MINOR, 1 },
		{ FS_VMA_LOCK_SUCCESS, 1 } } },
	{ "user write", prepare_anon, act_write, clean_anon, {
		{ FS_TOTAL, 1 }, { FS_USER, 1 }, { FS_WRITE, 1 },
		{ FS_MINOR, 1 }, { FS_VMA_LOCK_SUCCESS, 1 } } },
	{ "write to the zero page", prepare_cow, act_write, clean_anon, {
		{ FS_TOTAL, 1 }, { FS_USER, 1 }, { FS_WRITE, 1 },
		{ FS_MINOR, 1 }, { FS_VMA_LOCK_SUCCESS, 1 } } },
	{ "instruction", prepare_code, act_code, clean_code, {
		{ FS_TOTAL, 1 }, { FS_USER, 1 }, { FS_INSTRUCTION, 1 },
		{ FS_MINOR, 1 } } },
	{ "write by the kernel", prepare_anon, act_kernel_write, clean_anon, {
		{ FS_TOTAL, 1 }, { FS_KERNEL, 1 }, { FS_WRITE, 1 },
		{ FS_MINOR, 1 } } },
	{ "read by the kernel", prepare_anon, act_kernel_read, clean_anon, {
		{ FS_TOTAL, 1 }, { FS_KERNEL, 1 }, { FS_MINOR, 1 } } },
	{ "mlock", prepare_anon, act_populate, clean_anon, {
		{ FS_TOTAL, 1 }, { FS_KERNEL, 1 }, { FS_WRITE, 1 },
		{ FS_MINOR, 1 }, { FS_MMAP_LOCK, 1 } } },
	{ "remote read", prepare_remote, act_remote_read, clean_remote, {
		{ FS_TOTAL, 1 }, { FS_REMOTE, 1 }, { FS_MINOR, 1 },
		{ FS_MMAP_LOCK, 1 } } },
	{ "remote write", prepare_remote, act_remote_write, clean_remote, {
		{ FS_TOTAL, 1 }, { FS_REMOTE, 1 }, { FS_WRITE, 1 },
		{ FS_MINOR, 1 }, { FS_MMAP_LOCK, 1 } } },
	{ "growing stack", prepare_stack, act_stack, clean_stack, {
		{ FS_TOTAL, 1 }, { FS_USER, 1 }, { FS_WRITE, 1 },
		{ FS_MINOR, 1 }, { FS_MMAP_LOCK, 1 },
		{ FS_VMA_LOCK_ABORT, 1 } } },
	{ "userfaultfd", prepare_uffd, act_uffd, clean_uffd, {
		{ FS_TOTAL, 2 }, { FS_USER, 2 }, { FS_WRITE, 2 },
		{ FS_RETRY, 1 }, { FS_VMA_LOCK_RETRY, 1 } } },
	{ "file truncated", prepare_sigbus, act_signal, clean_file, {
		{ FS_TOTAL, 1 }, { FS_USER, 1 }, { FS_SIGBUS, 1 } } },
	{ "page read from disk", prepare_disk, act_read, clean_file, {
		{ FS_MAJOR, 1 } } },
	{ "driver says SIGSEGV", prepare_dev_sigsegv, act_signal, clean_file, {
		{ FS_SIGSEGV, 1 } } },
	{ "driver says hwpoison", prepare_dev_hwpoison, act_gup, clean_file, {
		{ FS_HWPOISON, 1 } } },
	{ "driver out of memory", prepare_dev_oom, act_gup, clean_file, {
		{ FS_OOM, 1 } } },
	{ "driver says major", prepare_dev_major, act_read, clean_file, {
		{ FS_MAJOR, 1 } } },
};

/*
 * On kernels without per-VMA locks every fault takes the mmap lock, and what
 * would say otherwise reads "unsupported".
 */
static bool class_right(const struct class_case *c,
			const struct fault_counts *d)
{
	bool good = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(c->want) && c->want[i].times; i++) {
		enum fault_stat stat = c->want[i].stat;
		unsigned long long want = c->want[i].times * PAGES;

		if (!fault_supported(stat) || d->stat[stat] == want)
			continue;
		ktap_note("%s: got %llu, expected %llu",
			  fault_stat_names[stat], d->stat[stat], want);
		good = false;
	}
	return good;
}

static unsigned long long wanted(const struct class_case *c,
				 enum fault_stat stat)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(c->want) && c->want[i].times; i++)
		if (c->want[i].stat == stat)
			return c->want[i].times * PAGES;
	return 0;
}

/*
 * A fork in prepare() leaves our stack to be copied when written to, page by
 * page, and act() may write to one that fault_read() leaves alone.
 */
static __attribute__((noinline)) void own_stack(void)
{
	volatile char below[32 * 1024];
	size_t i;

	for (i = 0; i < sizeof(below); i += 512)
		below[i] = 1;
}

static int run_class(const struct class_case *c, struct fault_counts *d)
{
	struct fault_counts before, after;
	int ret;

	ret = c->prepare();
	if (ret)
		return ret;
	own_stack();
	ret = fault_read(&after);
	if (!ret)
		ret = fault_read(&before);
	c->act();
	if (!ret)
		ret = fault_read(&after);
	c->clean();
	if (!ret)
		*d = fault_growth(&before, &after);
	return ret;
}

static void check_class(const struct class_case *c)
{
	unsigned long long pgfault = wanted(c, FS_TOTAL);
	struct fault_counts d;
	int tries, ret;

	if (!retries_in_pgfault)
		pgfault -= wanted(c, FS_RETRY);
	/*
	 * Another process that faults in the window shows in the kernel's own
	 * counter: once more then.
	 */
	for (tries = 0; tries < CLASS_TRIES; tries++) {
		ret = run_class(c, &d);
		if (ret || !pgfault || d.pgfault == pgfault)
			break;
	}
	if (ret == -ENOSYS || ret == -EPERM || ret == -ENODEV) {
		ktap_skip(strerror(-ret), "%s", c->name);
		return;
	}
	if (ret) {
		ktap_note("%s", strerror(-ret));
		ktap_ok(false, "%s", c->name);
		return;
	}
	if (!ktap_ok(class_right(c, &d), "%s", c->name))
		fault_print(&d);
}

/* A machine in which nobody else faults: needed where processes are summed. */
static bool check_quiet(void)
{
	struct fault_counts before, after;
	bool quiet;
	int i;

	if (fault_read(&before))
		return false;
	for (i = 0; i < 20; i++) {
		sleep_ms(10);
		if (fault_read(&after))
			return false;
	}
	quiet = before.pgfault == after.pgfault;
	if (!quiet) {
		ktap_skip("other processes fault", "counting causes no fault");
		return false;
	}
	ktap_eq(after.stat[FS_TOTAL], before.stat[FS_TOTAL],
		"counting causes no fault");
	return true;
}

static void check_loads(const struct load *load)
{
	int kind;

	for (kind = 0; kind < NR_LOADS; kind++) {
		if (load->ret[kind] == -EOPNOTSUPP)
			ktap_skip("cannot run here", "mixed load: %s ran",
				  load_names[kind]);
		else
			ktap_ok(load_rounds(load, kind) > 0,
				"mixed load: %s ran", load_names[kind]);
	}
}

/* the counters beside what the processes of the load were charged with */
static void check_charged(const struct fault_counts *d, bool quiet)
{
	if (!quiet) {
		ktap_skip("other processes fault", "mixed load: minor as charged");
		ktap_skip("other processes fault", "mixed load: major as charged");
		return;
	}
	ktap_eq(d->stat[FS_MINOR], d->min_flt, "mixed load: minor as charged");
	ktap_eq(d->stat[FS_MAJOR], d->maj_flt, "mixed load: major as charged");
}

static void mixed_load(unsigned int seconds, bool quiet)
{
	struct fault_counts before, after, d;
	char nr_huge[32] = "0";
	struct load load;
	int ret;

	file_read_line(HUGE_PAGES, nr_huge, sizeof(nr_huge));
	file_puts(HUGE_PAGES, "4");
	load_prepare_disk();
	lock_memory();
	ret = fault_read(&before);
	if (!ret)
		ret = load_start(&load, LOAD_ALL, 2);
	if (ret)
		ktap_bail("cannot start the load: %s", strerror(-ret));
	sleep_ms(seconds * 1000);
	ktap_ok(load_stop(&load), "mixed load: starts and stops");
	ret = fault_read(&after);
	file_puts(HUGE_PAGES, nr_huge);
	load_release_disk();
	if (ret)
		ktap_bail("cannot read the counters: %s", strerror(-ret));
	d = fault_growth(&before, &after);
	fault_print(&d);
	check_loads(&load);
	ktap_ok(d.stat[FS_TOTAL] > 1000, "mixed load: faults were counted");
	check_rules(&d, retries_in_pgfault, "mixed load");
	check_charged(&d, quiet);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	unsigned int seconds = volume(60, 5);
	struct fault_counts all, zero = { 0 };
	bool quiet;
	size_t i;
	int ret;

	ktap_start(seconds + 200);
	mmkit_fresh(argc > 1 ? argv[1] : NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (zero_fd < 0 || pipe(pipe_fd))
		ktap_bail("cannot open: %s", strerror(errno));
	ret = lock_memory();
	if (ret)
		ktap_bail("cannot lock memory: %s", strerror(-ret));
	ret = fault_enable(true);
	if (!ktap_err(ret, 0, "enable"))
		return ktap_finish();
	ktap_ok(hook_is("exact", "1"), "the mechanism says it is exact");
	retries_in_pgfault = decide_pgfault();
	ktap_ok(fault_supported(FS_VMA_LOCK_SUCCESS) == !retries_in_pgfault,
		"vma_lock_* are supported where the kernel has them");
	quiet = check_quiet();
	for (i = 0; i < ARRAY_SIZE(classes); i++)
		check_class(&classes[i]);
	mixed_load(seconds, quiet);
	ktap_err(fault_enable(false), 0, "disable");
	if (fault_read(&all))
		ktap_bail("cannot read the counters");
	all = fault_growth(&zero, &all);
	ktap_eq(all.stat[FS_VMA_LOCK_SUCCESS] + all.stat[FS_VMA_LOCK_RETRY] +
		all.stat[FS_MMAP_LOCK], all.stat[FS_TOTAL],
		"after disable: the locks add up to total");
	ktap_err(mmkit_unload(), 0, "unload");
	return ktap_finish();
}
