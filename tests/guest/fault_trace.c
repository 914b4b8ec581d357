// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does the tracepoint mmkit_fault:fault show each fault once, does it cost
 * nothing while nobody listens, and what do reset and epoch mean?
 *
 * mmkit-test: timeout=60 cpus=2
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ktap.h"
#include "lib/file.h"
#include "lib/mmkit.h"
#include "lib/module.h"
#include "lib/trace.h"
#include "lib/util.h"

#define PAGES	64
#define EVENT	"events/mmkit_fault/fault/"
#define LINE	" fault: "

static char *area;

/**
 * struct seen - what the lines of the trace say
 * @pages: how often each page of @area was seen
 * @outside: addresses that are not in @area
 * @flags: lines that have all the words of @want_flags
 * @ip_in_text: lines whose ip is in this program
 * @longest_ns: of all latencies
 */
struct seen {
	unsigned int pages[PAGES];
	unsigned int outside, flags, ip_in_text, no_ip;
	unsigned long long longest_ns, sum_ns;
	const char *want_flags[3];
};

extern char __executable_start[], etext[];

static unsigned long long field(const char *line, const char *name, int base)
{
	const char *at = strstr(line, name);

	return at ? strtoull(at + strlen(name), NULL, base) : 0;
}

static void parse(const char *line, void *arg)
{
	unsigned long long address = field(line, " address=", 16);
	unsigned long long ip = field(line, " ip=", 16);
	unsigned long long ns = field(line, " latency_ns=", 10);
	const char *flags = strstr(line, " flags=");
	struct seen *seen = arg;
	char words[256] = "";
	bool all = true;
	size_t page, i;

	page = (address - (uintptr_t)area) / page_size();
	if (address < (uintptr_t)area || page >= PAGES)
		seen->outside++;
	else
		seen->pages[page]++;
	if (flags)
		sscanf(flags, " flags=%255s", words);
	for (i = 0; i < ARRAY_SIZE(seen->want_flags); i++)
		if (seen->want_flags[i] && !strstr(words, seen->want_flags[i]))
			all = false;
	seen->flags += all;
	seen->no_ip += !ip;
	seen->ip_in_text += ip >= (uintptr_t)__executable_start &&
			    ip < (uintptr_t)etext;
	seen->sum_ns += ns;
	if (ns > seen->longest_ns)
		seen->longest_ns = ns;
}

static bool each_page_once(const struct seen *seen)
{
	size_t i;

	for (i = 0; i < PAGES; i++)
		if (seen->pages[i] != 1) {
			ktap_note("page %zu was seen %u times", i,
				  seen->pages[i]);
			return false;
		}
	return true;
}

static void listen_to(pid_t pid)
{
	int ret;

	ret = trace_write(EVENT "filter", "common_pid == %d", pid);
	if (!ret)
		ret = trace_write(EVENT "enable", "1");
	ktap_err(ret, 0, "the event can be enabled and filtered");
}

static void check_writes(void)
{
	struct seen seen = { .want_flags = { "USER", "WRITE" } };
	unsigned long long start;
	long lines;

	area = map_anon(PAGES);
	trace_clear();
	start = now_ns();
	touch_write(area, PAGES);
	start = now_ns() - start;
	lines = trace_lines(LINE, parse, &seen);
	ktap_eq(lines, PAGES, "writes: one line for each fault");
	ktap_ok(each_page_once(&seen), "writes: each page once");
	ktap_eq(seen.outside, 0, "writes: no other address");
	ktap_eq(seen.flags, PAGES, "writes: flags say USER and WRITE");
	ktap_eq(seen.ip_in_text, PAGES, "writes: ip is in this program");
	if (!ktap_ok(seen.longest_ns && seen.sum_ns <= start,
		     "writes: the latencies fit in the time it took"))
		ktap_note("longest %llu, sum %llu, took %llu ns",
			  seen.longest_ns, seen.sum_ns, start);
	unmap_anon(area, PAGES);
}

static void check_gup(void)
{
	struct seen seen = { .want_flags = { "WRITE" } };
	long lines;

	area = map_anon(PAGES);
	trace_clear();
	if (mlock(area, PAGES * page_size()))
		ktap_note("mlock: %s", strerror(errno));
	lines = trace_lines(LINE, parse, &seen);
	ktap_eq(lines, PAGES, "mlock: one line for each fault");
	ktap_ok(each_page_once(&seen), "mlock: each page once");
	ktap_eq(seen.no_ip, PAGES, "mlock: no ip, as no access faulted");
	unmap_anon(area, PAGES);
}

static long lines_of_faults(void)
{
	area = map_anon(PAGES);
	trace_clear();
	touch_write(area, PAGES);
	unmap_anon(area, PAGES);
	return trace_lines(LINE, NULL, NULL);
}

/* the fields that scripts rely on, as perf and bpftrace find them */
static void check_format(void)
{
	static const char * const fields[] = {
		"unsigned long address;", "unsigned long ip;",
		"unsigned int flags;", "unsigned int ret;", "u64 latency_ns;",
	};
	char buf[8192];
	size_t i;

	if (file_read(tracing_path(EVENT "format"), buf, sizeof(buf)) < 0)
		buf[0] = '\0';
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		ktap_ok(strstr(buf, fields[i]), "format: %s", fields[i]);
}

static void check_switches(void)
{
	unsigned long long hits;

	listen_to(getpid() + 100000);
	ktap_eq(lines_of_faults(), 0, "another process: no line");
	listen_to(getpid());
	ktap_eq(lines_of_faults(), PAGES, "this process: all lines");

	ktap_err(fault_enable(false), 0, "disable with a listener");
	hits = hook_u64("hits");
	ktap_eq(lines_of_faults(), 0, "disabled: no line");
	ktap_eq(hook_u64("hits"), hits, "disabled: the hook is not called");
	ktap_err(fault_enable(true), 0, "enable with a listener");
	ktap_eq(lines_of_faults(), PAGES, "enabled again: all lines");

	ktap_err(trace_write(EVENT "enable", "0"), 0, "stop to listen");
	hits = hook_u64("hits");
	ktap_eq(lines_of_faults(), 0, "nobody listens: no line");
	ktap_ok(hook_u64("hits") >= hits + PAGES,
		"nobody listens: the hook still counts");
}

static unsigned long long epoch(void)
{
	unsigned long long value = 0;
	int ret = file_u64(MMKIT "epoch", &value);

	if (ret)
		ktap_bail("epoch: %s", strerror(-ret));
	return value;
}

static void check_reset(void)
{
	unsigned long long first, hits, total, count;
	struct fault_counts c;
	char buf[1024] = "";
	int i;

	ktap_err(fault_enable(false), 0, "reset: hook off");
	fault_read_stats(&c);
	ktap_ok(c.stat[FS_TOTAL] >= PAGES, "reset: something was counted");
	total = c.stat[FS_TOTAL];
	hits = hook_u64("hits");
	first = epoch();
	ktap_eq(epoch(), first, "epoch: stays when nothing is reset");
	ktap_err(file_puts(MMKIT_FAULT "reset", "1"), 0, "reset");
	ktap_ok(epoch() > first, "epoch: grows at a reset");
	ktap_eq(hook_u64("hits"), hits, "reset: hits stay");
	fault_read_stats(&c);
	for (i = 0; i < NR_FAULT_STATS; i++)
		ktap_eq(c.stat[i], 0, "reset: %s is 0", fault_stat_names[i]);
	file_read(MMKIT_DEBUGFS "fault/latency", buf, sizeof(buf));
	ktap_ok(sscanf(buf, "count %llu", &count) == 1 && !count,
		"reset: the latency histogram is empty");

	ktap_err(fault_enable(true), 0, "reset: hook on");
	area = map_anon(PAGES);
	touch_write(area, PAGES);
	ktap_err(fault_enable(false), 0, "reset: hook off again");
	unmap_anon(area, PAGES);
	fault_read_stats(&c);
	hits = hook_u64("hits") - hits;
	ktap_eq(c.stat[FS_TOTAL], hits, "reset: counts from 0 again");
	ktap_ok(hits >= PAGES && total, "reset: and counts all");

	first = epoch();
	for (i = 0; i < 100; i++) {
		unsigned long long now;

		file_puts(MMKIT_FAULT "reset", "1");
		now = epoch();
		if (now <= first)
			break;
		first = now;
	}
	ktap_eq(i, 100, "epoch: grows at each of 100 resets");
}

static void check_reload(void)
{
	unsigned long long first = epoch(), reloaded;
	struct fault_counts c;

	/* with a listener: it must not keep the module, nor outlive it */
	listen_to(getpid());
	ktap_err(fault_enable(true), 0, "reload: enable");
	ktap_err(module_unload("mmkit_fault"), 0,
		 "reload: mmkit_fault goes while somebody listens");
	ktap_err(module_load("mmkit_fault", NULL), 0, "reload: and comes back");
	reloaded = epoch();
	ktap_ok(reloaded > first, "epoch: grows when mmkit_fault is loaded");
	fault_read_stats(&c);
	ktap_eq(c.stat[FS_TOTAL], 0, "reload: counts from 0");
	ktap_err(mmkit_unload(), 0, "reload: all goes");
	ktap_err(module_load("mmkit_fault", NULL), 0, "reload: all comes back");
	ktap_ok(epoch() > reloaded, "epoch: grows when mmkit is loaded");
}

int main(int argc, char **argv)
{
	int ret;

	ktap_start(150);
	mmkit_fresh(argc > 1 ? argv[1] : NULL);
	ret = trace_open();
	if (ret)
		ktap_skip_all("no tracefs: %s", strerror(-ret));
	lock_memory();
	check_format();
	ktap_err(fault_enable(true), 0, "enable");
	listen_to(getpid());
	check_writes();
	check_gup();
	check_switches();
	check_reset();
	check_reload();
	trace_close();
	ktap_err(mmkit_unload(), 0, "unload");
	return ktap_finish();
}
