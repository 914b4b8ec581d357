// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guest's side of fault-hook: measures a page fault with nothing loaded,
 * with mmkit in every way it can be attached, and with what else can be had.
 *
 * Prints lines "row NAME|MIN|MEDIAN" and, for what cannot be measured here,
 * "none NAME|WHY". All of it in one boot, or it could not be compared.
 */
#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ktap.h"
#include "lib/bpftrace.h"
#include "lib/cost.h"
#include "lib/faultdev.h"
#include "lib/file.h"
#include "lib/mmkit.h"
#include "lib/module.h"
#include "lib/util.h"

#define PAGES		128
#define PLAIN_USER	"mmkit_test_ipmodify"
#define START_SECONDS	1800
#define STOP_SECONDS	20

static unsigned int repeats = 256;

static void measure(const char *name)
{
	struct cost cost = cost_measure(PAGES, repeats);

	printf("row %s|%.1f|%.1f\n", name, cost.min, cost.median);
}

static void none(const char *name, const char *why)
{
	printf("none %s|%s\n", name, why);
}

static void measure_plain_ftrace(void)
{
	static const char name[] = "an empty ftrace_ops";
	int ret = module_insert(TEST_MODULES PLAIN_USER ".ko", "plain=1");

	if (ret) {
		none(name, strerror(-ret));
		return;
	}
	measure(name);
	module_unload(PLAIN_USER);
}

static void measure_mechanism(const char *mechanism)
{
	char name[64];
	int ret;

	snprintf(name, sizeof(name), "mmkit %.31s", mechanism);
	ret = file_puts(MMKIT_HOOK "mechanism", mechanism);
	if (!ret)
		ret = fault_enable(true);
	if (ret) {
		none(name, strerror(-ret));
		return;
	}
	measure(name);
	fault_enable(false);
}

static void measure_mmkit(void)
{
	char names[8][32];
	size_t i, n;
	int ret;

	ret = module_load("mmkit_fault", NULL);
	if (ret)
		ktap_bail("modprobe mmkit_fault: %s", strerror(-ret));
	measure("mmkit loaded, off");
	n = mechanisms(names, ARRAY_SIZE(names));
	for (i = 0; i < n; i++)
		measure_mechanism(names[i]);
	mmkit_unload();
}

/*
 * The last one does what mmkit does: counts by flags and result, from which all
 * of stats/ follows, and a histogram of the latency.
 */
static const struct {
	const char *name, *program;
} programs[] = {
	{ "bpftrace fentry: count",
	  "kfunc:handle_mm_fault { @n = count(); }" },
	{ "bpftrace kprobe+kretprobe: histogram",
	  "kprobe:handle_mm_fault { @start[tid] = nsecs; } "
	  "kretprobe:handle_mm_fault /@start[tid]/ { "
	  "@latency = hist(nsecs - @start[tid]); delete(@start[tid]); }" },
	{ "bpftrace fentry+fexit: histogram",
	  "kfunc:handle_mm_fault { @start[tid] = nsecs; } "
	  "kretfunc:handle_mm_fault /@start[tid]/ { "
	  "@latency = hist(nsecs - @start[tid]); delete(@start[tid]); }" },
	{ "bpftrace fentry+fexit: the same job",
	  "kfunc:handle_mm_fault { @start[tid] = nsecs; } "
	  "kretfunc:handle_mm_fault /@start[tid]/ { "
	  "@latency = hist(nsecs - @start[tid]); delete(@start[tid]); "
	  "@faults[args->flags, retval] = count(); }" },
};

static void measure_bpftrace(const char *name, const char *program)
{
	static struct bpftrace b;
	int ret = bpftrace_start(&b, program);

	if (ret) {
		fprintf(stderr, "%s\n", b.text);
		none(name, "bpftrace cannot attach it");
		return;
	}
	measure(name);
	bpftrace_stop(&b);
}

/* whether a process has an event of perf open */
static bool has_event(pid_t pid)
{
	char dir[32], link[sizeof(dir) + NAME_MAX + 1], target[64];
	struct dirent *e;
	bool found = false;
	ssize_t len;
	DIR *d;

	snprintf(dir, sizeof(dir), "/proc/%d/fd", pid);
	d = opendir(dir);
	if (!d)
		return false;
	while (!found && (e = readdir(d))) {
		snprintf(link, sizeof(link), "%s/%s", dir, e->d_name);
		len = readlink(link, target, sizeof(target) - 1);
		target[len > 0 ? len : 0] = '\0';
		found = strstr(target, "[perf_event]");
	}
	closedir(d);
	return found;
}

/*
 * perf has no way to say that it counts now: its event is there then, and it
 * sleeps. The guest's clock leaps while perf waits for the disk, hence so many
 * seconds.
 */
static bool wait_counting(pid_t pid)
{
	unsigned long long end = now_ns() + START_SECONDS * NSEC_PER_SEC;

	while (now_ns() < end) {
		if (waitpid(pid, NULL, WNOHANG))
			return false;
		if (has_event(pid)) {
			sleep_ms(1000);
			return wait_asleep(pid, STOP_SECONDS);
		}
		sleep_ms(100);
	}
	return false;
}

static void measure_perf(void)
{
	static const char name[] = "perf stat -e page-faults";
	char self[16];
	pid_t pid;

	snprintf(self, sizeof(self), "%d", getpid());
	pid = fork_child();
	if (!pid) {
		execlp("perf", "perf", "stat", "-e", "page-faults", "-o",
		       "/tmp/perf.txt", "-p", self, NULL);
		_exit(127);
	}
	if (pid < 0 || !wait_counting(pid)) {
		none(name, "perf does not run");
		if (pid > 0)
			kill(pid, SIGKILL);
		return;
	}
	measure(name);
	kill(pid, SIGINT);
	if (wait_child(pid, STOP_SECONDS) < 0)
		kill(pid, SIGKILL);
}

int main(int argc, char **argv)
{
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGCHLD, SIG_DFL);
	if (argc > 1)
		repeats = atoi(argv[1]);
	lock_memory();
	mmkit_unload();
	measure("nothing");
	measure_plain_ftrace();
	measure_mmkit();
	for (i = 0; i < ARRAY_SIZE(programs); i++)
		measure_bpftrace(programs[i].name, programs[i].program);
	measure_perf();
	measure("nothing, again");
	return 0;
}
