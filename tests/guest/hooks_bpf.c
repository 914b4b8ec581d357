// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does bpftrace still see handle_mm_fault() while our hook is on, in both
 * orders?
 *
 * mmkit-test: id=hooks_bpf_redirect args="redirect" timeout=240 cpus=2 root=debian
 * mmkit-test: id=hooks_bpf_direct args="direct" timeout=240 cpus=2 root=debian
 *
 * By kprobe and kretprobe it always does. By fentry and fexit (kfunc and
 * kretfunc for bpftrace) it does beside redirect, on kernels that let the two
 * share a function; direct is of the same kind, so one of the two is refused.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "ktap.h"
#include "lib/bpftrace.h"
#include "lib/file.h"
#include "lib/mmkit.h"
#include "lib/util.h"

#define PAGES	64

/* may both be there? */
enum sharing {
	SHARED,
	EXCLUSIVE,
	EITHER,		/* differs between updates of one kernel */
};

/* counts the calls of this process */
static int start(struct bpftrace *b, const char *entry, const char *exit_)
{
	char probes[512];

	snprintf(probes, sizeof(probes),
		 "%s:handle_mm_fault /pid == %d/ { @in = @in + 1; } "
		 "%s:handle_mm_fault /pid == %d/ { @out = @out + 1; }",
		 entry, getpid(), exit_, getpid());
	return bpftrace_start(b, probes);
}

static void check_counts(struct bpftrace *b, const char *name)
{
	struct fault_counts d;
	long in, out;
	int ret;

	ret = fault_known(PAGES, &d);
	if (ktap_err(ret, 0, "%s: the counters can be read", name))
		ktap_eq(d.stat[FS_TOTAL], PAGES, "%s: mmkit counts right",
			name);
	ktap_ok(bpftrace_stop(b), "%s: bpftrace ends", name);
	in = bpftrace_value(b, "in");
	out = bpftrace_value(b, "out");
	if (in != out || in < PAGES)
		bpftrace_print(b);
	/* and what this process faulted in the time around that */
	ktap_ok(in >= PAGES && in <= 2 * PAGES,
		"%s: bpftrace counts entries right", name);
	ktap_eq(out, in, "%s: bpftrace counts exits right", name);
}

static void check_after(const char *kind, const char *entry, const char *exit_,
			enum sharing sharing)
{
	static struct bpftrace b;
	struct fault_counts d;
	char name[64];
	int ret;

	snprintf(name, sizeof(name), "%s after mmkit", kind);
	ktap_err(fault_enable(true), 0, "%s: enable", name);
	ret = start(&b, entry, exit_);
	ktap_note("%s: %s", name, ret ? strerror(-ret) : "attached");
	if (ret && (sharing == SHARED || ret != -EBUSY)) {
		bpftrace_print(&b);
		ktap_err(ret, 0, "%s: attaches", name);
	} else if (ret) {
		ktap_ok(true, "%s: bpftrace is refused", name);
		ktap_ok(!fault_known(PAGES, &d) && d.stat[FS_TOTAL] == PAGES,
			"%s: mmkit counts right", name);
	} else {
		ktap_ok(sharing != EXCLUSIVE, "%s: attaches", name);
		check_counts(&b, name);
	}
	ktap_err(fault_enable(false), 0, "%s: disable", name);
}

static void check_before(const char *kind, const char *entry,
			 const char *exit_, enum sharing sharing)
{
	static struct bpftrace b;
	char name[64];
	int ret;

	snprintf(name, sizeof(name), "%s before mmkit", kind);
	ret = start(&b, entry, exit_);
	if (ret)
		bpftrace_print(&b);
	if (!ktap_err(ret, 0, "%s: bpftrace attaches", name))
		return;
	ret = fault_enable(true);
	ktap_note("%s: %s", name, ret ? strerror(-ret) : "attached");
	if (ret) {
		ktap_err(ret, sharing == SHARED ? 0 : -EBUSY,
			 "%s: mmkit is refused", name);
		ktap_ok(hook_is("errno", "16"), "%s: errno says EBUSY", name);
		ktap_ok(kernel_log_says("mmkit: ", "enabled_functions"),
			"%s: the log says where to look", name);
		touch_write(map_anon(PAGES), PAGES);
		ktap_ok(bpftrace_stop(&b), "%s: bpftrace ends", name);
		ktap_ok(bpftrace_value(&b, "in") >= PAGES,
			"%s: bpftrace counts", name);
	} else {
		ktap_ok(sharing != EXCLUSIVE, "%s: mmkit attaches", name);
		check_counts(&b, name);
	}
	ktap_err(fault_enable(false), 0, "%s: disable", name);
}

/* Debian 11's bpftrace, for one, is built without fentry. */
static bool bpftrace_has(const char *entry, const char *exit_)
{
	static struct bpftrace b;

	if (!start(&b, entry, exit_))
		return bpftrace_stop(&b);
	bpftrace_print(&b);
	return !strstr(b.text, "not available");
}

static void check_kind(const char *kind, const char *entry, const char *exit_,
		       enum sharing sharing)
{
	if (!bpftrace_has(entry, exit_)) {
		ktap_skip("this bpftrace does not have it", "%s", kind);
		return;
	}
	check_after(kind, entry, exit_, sharing);
	check_before(kind, entry, exit_, sharing);
	/* nothing of it stays behind */
	ktap_err(fault_enable(true), 0, "%s: mmkit attaches after all", kind);
	ktap_err(fault_enable(false), 0, "%s: and detaches", kind);
}

/* from Documentation: redirect beside BPF fentry works since 6.12 */
static enum sharing fentry_sharing(const char *mechanism)
{
	struct utsname u;
	int major, minor;

	if (strcmp(mechanism, "redirect"))
		return EXCLUSIVE;
	uname(&u);
	if (sscanf(u.release, "%d.%d", &major, &minor) != 2)
		return EITHER;
	if (major > 6 || (major == 6 && minor >= 12))
		return SHARED;
	return major == 5 ? EXCLUSIVE : EITHER;
}

static bool have_bpftrace(void)
{
	return !system("bpftrace --version >/dev/null 2>&1");
}

int main(int argc, char **argv)
{
	const char *mechanism = argc > 1 ? argv[1] : "redirect";

	ktap_start(volume(600, 400));
	mmkit_fresh(mechanism);
	lock_memory();
	if (!have_bpftrace())
		ktap_skip_all("no bpftrace here");
	if (volume_full())
		check_kind("kprobe", "kprobe", "kretprobe", SHARED);
	check_kind("fentry", "kfunc", "kretfunc", fentry_sharing(mechanism));
	ktap_err(mmkit_unload(), 0, "unload");
	return ktap_finish();
}
