// SPDX-License-Identifier: GPL-2.0-only
/*
 * Do others still see handle_mm_fault() while our hook is on, in both orders,
 * and is what cannot be shared refused?
 *
 * mmkit-test: id=hooks_coexist_redirect args="redirect" timeout=120 cpus=2 kmod=mmkit_test_ipmodify
 * mmkit-test: id=hooks_coexist_direct args="direct" timeout=120 cpus=2 kmod=mmkit_test_ipmodify
 * mmkit-test: id=hooks_coexist_fprobe args="fprobe" timeout=120 cpus=2 kmod=mmkit_test_ipmodify
 * mmkit-test: id=hooks_coexist_kretprobe args="kretprobe" timeout=120 cpus=2 kmod=mmkit_test_ipmodify
 *
 * Others are: a kprobe and a kretprobe of tracefs, the function tracer, the
 * function graph tracer, perf, and a user of IPMODIFY as live patching is. BPF
 * is in hooks_bpf.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "ktap.h"
#include "lib/faultdev.h"
#include "lib/file.h"
#include "lib/mmkit.h"
#include "lib/module.h"
#include "lib/trace.h"
#include "lib/util.h"

#define PAGES		64
#define TARGET		"handle_mm_fault"
#define PROBE		"mmkit_test_kp"
#define RETPROBE	"mmkit_test_krp"
#define IPMODIFY	"mmkit_test_ipmodify"
#define FTRACE_ENABLED	"/proc/sys/kernel/ftrace_enabled"

/* the function goes on in our wrapper; by IPMODIFY */
static bool wraps, redirects;

/**
 * struct other - another user of the function
 * @reduced: also at reduced volume
 * @start: begin to count the calls of this process; 0 or -errno
 * @count: calls since the last trace_clear() or @count, or -errno
 * @stop: undo start()
 */
struct other {
	const char *name;
	bool reduced;
	int (*start)(void);
	long (*count)(void);
	int (*stop)(void);
};

static int start_event(const char *event)
{
	char path[128];
	int ret;

	snprintf(path, sizeof(path), "events/kprobes/%s/filter", event);
	ret = trace_write(path, "common_pid == %d", getpid());
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "events/kprobes/%s/enable", event);
	return trace_write(path, "1");
}

static int stop_event(const char *event)
{
	char path[128];
	int ret;

	snprintf(path, sizeof(path), "events/kprobes/%s/enable", event);
	ret = trace_write(path, "0");
	if (!ret)
		ret = tracing_write("kprobe_events", "-:%s\n", event);
	return ret;
}

static int kprobe_start(void)
{
	int ret = tracing_write("kprobe_events", "p:" PROBE " " TARGET "\n");

	return ret ? ret : start_event(PROBE);
}

static long kprobe_count(void)
{
	return trace_lines(" " PROBE ": ", NULL, NULL);
}

static int kprobe_stop(void)
{
	return stop_event(PROBE);
}

/* maxactive as large as the test needs: one call at a time */
static int kretprobe_start(void)
{
	int ret = tracing_write("kprobe_events", "r:" RETPROBE " " TARGET "\n");

	return ret ? ret : start_event(RETPROBE);
}

static long kretprobe_count(void)
{
	return trace_lines(" " RETPROBE ": ", NULL, NULL);
}

static int kretprobe_stop(void)
{
	return stop_event(RETPROBE);
}

static int tracer_start(const char *tracer)
{
	int ret;

	ret = trace_write("set_ftrace_filter", TARGET);
	if (!ret)
		ret = trace_write("set_ftrace_pid", "%d", getpid());
	return ret ? ret : trace_write("current_tracer", "%s", tracer);
}

static int tracer_stop(void)
{
	int ret = trace_write("current_tracer", "nop");

	trace_truncate("set_ftrace_filter");
	trace_truncate("set_ftrace_pid");
	return ret;
}

static int function_start(void)
{
	return tracer_start("function");
}

static long function_count(void)
{
	return trace_lines(": " TARGET " <-", NULL, NULL);
}

/*
 * Older kernels have no function_graph in an instance: the one of tracefs itself
 * is used.
 */
static int graph_start(void)
{
	int ret;

	ret = tracing_write("set_ftrace_filter", TARGET);
	if (!ret)
		ret = tracing_write("set_ftrace_pid", "%d", getpid());
	return ret ? ret : tracing_write("current_tracer", "function_graph");
}

static long graph_count(void)
{
	return tracing_lines(TARGET "();", NULL, NULL);
}

static int graph_stop(void)
{
	int ret = tracing_write("current_tracer", "nop");

	tracing_truncate("set_ftrace_filter");
	tracing_truncate("set_ftrace_pid");
	return ret;
}

static int perf_fd;

static int perf_start(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
	};

	perf_fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			  PERF_FLAG_FD_CLOEXEC);
	return perf_fd < 0 ? -errno : 0;
}

static long perf_count(void)
{
	unsigned long long count;

	if (read(perf_fd, &count, sizeof(count)) != sizeof(count))
		return -errno;
	ioctl(perf_fd, PERF_EVENT_IOC_RESET, 0);
	return count;
}

static int perf_stop(void)
{
	return close(perf_fd) ? -errno : 0;
}

static const struct other others[] = {
	{ "kprobe", false, kprobe_start, kprobe_count, kprobe_stop },
	{ "kretprobe", true, kretprobe_start, kretprobe_count, kretprobe_stop },
	{ "function", true, function_start, function_count, tracer_stop },
	{ "perf page-faults", false, perf_start, perf_count, perf_stop },
	{ "function_graph", false, graph_start, graph_count, graph_stop },
};

/*
 * Up to 5.10 the graph tracer takes the address where the function goes on for
 * that of the function: it sees nothing of one that goes on in our wrapper.
 */
static bool graph_is_blind(const struct other *other)
{
	struct utsname u;

	uname(&u);
	return wraps && other->count == graph_count && atoi(u.release) < 6;
}

/* a known number of faults: both have to count all of them */
static void check_both(const struct other *other, const char *order)
{
	struct fault_counts before, after, d;
	char *area = map_anon(PAGES);
	long seen;
	int ret;

	/* the first pass takes what reading itself may fault in */
	trace_clear();
	ret = fault_read(&before);
	other->count();
	ret = ret ? ret : fault_read(&before);
	trace_clear();
	touch_write(area, PAGES);
	seen = other->count();
	ret = ret ? ret : fault_read(&after);
	unmap_anon(area, PAGES);
	if (ret) {
		ktap_err(ret, 0, "%s, %s: counters can be read", other->name,
			 order);
		return;
	}
	d = fault_growth(&before, &after);
	ktap_eq(d.stat[FS_TOTAL] - (d.pgfault - PAGES), PAGES,
		"%s, %s: mmkit counts right", other->name, order);
	if (!seen && graph_is_blind(other))
		ktap_skip("function_graph of this kernel looks at where the function goes on",
			  "%s, %s: it counts right", other->name, order);
	else if (seen < 0)
		ktap_err(seen, 0, "%s, %s: it counts right", other->name,
			 order);
	else
		ktap_eq(seen, PAGES, "%s, %s: it counts right", other->name,
			order);
}

static void check_other(const struct other *other)
{
	int ret;

	ktap_err(fault_enable(true), 0, "%s, after mmkit: enable", other->name);
	ret = other->start();
	if (ktap_err(ret, 0, "%s, after mmkit: attaches", other->name))
		check_both(other, "after mmkit");
	ktap_err(fault_enable(false), 0, "%s, after mmkit: disable",
		 other->name);
	ktap_err(other->stop(), 0, "%s, after mmkit: detaches", other->name);

	ret = other->start();
	if (!ktap_err(ret, 0, "%s, before mmkit: attaches", other->name))
		return;
	ktap_err(fault_enable(true), 0, "%s, before mmkit: enable",
		 other->name);
	check_both(other, "before mmkit");
	/* it goes first this time */
	ktap_err(other->stop(), 0, "%s, before mmkit: detaches", other->name);
	ktap_err(fault_enable(false), 0, "%s, before mmkit: disable",
		 other->name);
}

static bool counts_faults(void)
{
	struct fault_counts before, after;
	char *area = map_anon(PAGES);
	bool good;

	good = !fault_read_stats(&before);
	touch_write(area, PAGES);
	good = good && !fault_read_stats(&after);
	unmap_anon(area, PAGES);
	return good && after.stat[FS_TOTAL] >= before.stat[FS_TOTAL] + PAGES;
}

static void check_ipmodify(void)
{
	const char *path = TEST_MODULES IPMODIFY ".ko";
	bool exclusive = redirects;
	int ret;

	if (!file_exists(path)) {
		ktap_skip("no test module here", "IPMODIFY");
		return;
	}
	module_unload(IPMODIFY);
	ktap_err(fault_enable(true), 0, "IPMODIFY, after mmkit: enable");
	ret = module_insert(path, NULL);
	if (exclusive)
		ktap_err(ret, -EBUSY, "IPMODIFY, after mmkit: is refused");
	else
		ktap_note("IPMODIFY, after mmkit: %s",
			  ret ? strerror(-ret) : "attaches");
	ktap_ok(counts_faults(), "IPMODIFY, after mmkit: mmkit counts");
	ktap_err(fault_enable(false), 0, "IPMODIFY, after mmkit: disable");
	module_unload(IPMODIFY);

	ret = module_insert(path, NULL);
	if (!ktap_err(ret, 0, "IPMODIFY, before mmkit: attaches"))
		return;
	ret = fault_enable(true);
	if (exclusive) {
		ktap_err(ret, -EBUSY, "IPMODIFY, before mmkit: mmkit refuses");
		ktap_ok(hook_is("state", "off"),
			"IPMODIFY, before mmkit: the hook is off");
		ktap_ok(hook_is("errno", "16"),
			"IPMODIFY, before mmkit: errno says EBUSY");
		ktap_ok(kernel_log_says("mmkit: ", "enabled_functions"),
			"IPMODIFY, before mmkit: the log says where to look");
	} else {
		ktap_note("IPMODIFY, before mmkit: %s",
			  ret ? strerror(-ret) : "mmkit attaches");
		ktap_ok(ret == 0 || ret == -EBUSY,
			"IPMODIFY, before mmkit: attached or busy");
	}
	ktap_ok(ret || counts_faults(), "IPMODIFY, before mmkit: mmkit counts");
	ktap_err(fault_enable(false), 0, "IPMODIFY, before mmkit: disable");
	ktap_err(module_unload(IPMODIFY), 0, "IPMODIFY goes");
	ktap_err(fault_enable(true), 0, "IPMODIFY gone: mmkit attaches");
	ktap_ok(hook_is("errno", "0"), "IPMODIFY gone: errno is 0");
	ktap_ok(counts_faults(), "IPMODIFY gone: mmkit counts");
	ktap_err(fault_enable(false), 0, "IPMODIFY gone: disable");
}

/* never silently deaf: refused, or the counting goes on */
static void check_ftrace_enabled(void)
{
	int ret;

	ktap_err(fault_enable(true), 0, "ftrace_enabled: enable");
	ret = file_puts(FTRACE_ENABLED, "0");
	ktap_note("ftrace_enabled = 0 while on: %s",
		  ret ? strerror(-ret) : "accepted");
	ktap_ok(counts_faults(), "ftrace_enabled = 0 while on: mmkit counts");
	ktap_err(file_puts(FTRACE_ENABLED, "1"), 0, "ftrace_enabled = 1");
	ktap_ok(counts_faults(), "ftrace_enabled = 1 again: mmkit counts");
	ktap_err(fault_enable(false), 0, "ftrace_enabled: disable");

	ret = file_puts(FTRACE_ENABLED, "0");
	if (ret) {
		ktap_note("ftrace_enabled = 0 while off: %s", strerror(-ret));
	} else {
		ret = fault_enable(true);
		ktap_note("enable with ftrace_enabled = 0: %s",
			  ret ? strerror(-ret) : "accepted");
		ktap_ok(ret == -EBUSY || (!ret && counts_faults()),
			"ftrace_enabled = 0 before: refused, or counts");
		fault_enable(false);
	}
	ktap_err(file_puts(FTRACE_ENABLED, "1"), 0, "ftrace_enabled = 1");
	ktap_err(fault_enable(true), 0, "ftrace_enabled = 1: enable");
	ktap_ok(counts_faults(), "ftrace_enabled = 1: mmkit counts");
	ktap_err(fault_enable(false), 0, "ftrace_enabled = 1: disable");
}

int main(int argc, char **argv)
{
	const char *mechanism = argc > 1 ? argv[1] : "redirect";
	size_t i;
	int ret;

	ktap_start(240);
	mmkit_fresh(mechanism);
	redirects = !strcmp(mechanism, "redirect");
	wraps = redirects || !strcmp(mechanism, "direct");
	ret = trace_open();
	if (ret)
		ktap_skip_all("no tracefs: %s", strerror(-ret));
	lock_memory();
	/* at reduced volume one of each kind, except beside the default */
	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (volume_full() || redirects || others[i].reduced)
			check_other(&others[i]);
	check_ipmodify();
	check_ftrace_enabled();
	trace_close();
	ktap_err(mmkit_unload(), 0, "unload");
	return ktap_finish();
}
