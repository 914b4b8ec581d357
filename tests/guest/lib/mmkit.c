// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../ktap.h"
#include "file.h"
#include "mmkit.h"
#include "module.h"
#include "uffd.h"
#include "util.h"

#define READ_TRIES	2000
#define KNOWN_TRIES	10
#define UNLOAD_SECONDS	10

const char * const fault_stat_names[NR_FAULT_STATS] = {
	"total", "user", "kernel", "remote", "write", "instruction",
	"major", "minor", "retry",
	"vma_lock_success", "vma_lock_retry", "vma_lock_abort", "mmap_lock",
	"oom", "sigbus", "sigsegv", "hwpoison", "other_error",
};

static const char *stat_path(enum fault_stat stat, char *buf, size_t size)
{
	snprintf(buf, size, MMKIT_FAULT "stats/%s", fault_stat_names[stat]);
	return buf;
}

int fault_read_stats(struct fault_counts *c)
{
	char path[128];
	int i, ret;

	memset(c, 0, sizeof(*c));
	for (i = 0; i < NR_FAULT_STATS; i++) {
		ret = file_u64(stat_path(i, path, sizeof(path)), &c->stat[i]);
		if (ret && ret != -EOPNOTSUPP)
			return ret;
	}
	return 0;
}

static void read_rusage(struct fault_counts *c)
{
	struct rusage self, children;

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	c->min_flt = self.ru_minflt + children.ru_minflt;
	c->maj_flt = self.ru_majflt + children.ru_majflt;
}

int fault_read(struct fault_counts *c)
{
	unsigned long long before;
	int tries, ret;

	for (tries = 0; tries < READ_TRIES; tries++) {
		ret = vmstat("pgfault", &before);
		if (!ret)
			ret = fault_read_stats(c);
		if (!ret)
			ret = vmstat("pgmajfault", &c->pgmajfault);
		if (!ret)
			ret = vmstat("pgfault", &c->pgfault);
		if (ret)
			return ret;
		read_rusage(c);
		if (c->pgfault == before)
			return 0;
	}
	return -EBUSY;
}

struct fault_counts fault_growth(const struct fault_counts *from,
				 const struct fault_counts *to)
{
	struct fault_counts d;
	int i;

	for (i = 0; i < NR_FAULT_STATS; i++)
		d.stat[i] = to->stat[i] - from->stat[i];
	d.pgfault = to->pgfault - from->pgfault;
	d.pgmajfault = to->pgmajfault - from->pgmajfault;
	d.min_flt = to->min_flt - from->min_flt;
	d.maj_flt = to->maj_flt - from->maj_flt;
	return d;
}

int fault_known(size_t pages, struct fault_counts *growth)
{
	struct fault_counts before, after;
	int tries, ret;
	char *area;

	for (tries = 0; tries < KNOWN_TRIES; tries++) {
		area = map_anon(pages);
		ret = fault_read(&before);
		touch_write(area, pages);
		if (!ret)
			ret = fault_read(&after);
		unmap_anon(area, pages);
		if (ret)
			return ret;
		*growth = fault_growth(&before, &after);
		if (growth->pgfault == pages)
			return 0;
	}
	return -EBUSY;
}

bool fault_supported(enum fault_stat stat)
{
	unsigned long long value;
	char path[128];

	return !file_u64(stat_path(stat, path, sizeof(path)), &value);
}

void fault_print(const struct fault_counts *c)
{
	char line[512];
	int i, len;

	len = snprintf(line, sizeof(line),
		       "pgfault %llu pgmajfault %llu min_flt %llu maj_flt %llu;",
		       c->pgfault, c->pgmajfault, c->min_flt, c->maj_flt);
	for (i = 0; i < NR_FAULT_STATS; i++)
		if (c->stat[i])
			len += snprintf(line + len, sizeof(line) - len,
					" %s %llu", fault_stat_names[i],
					c->stat[i]);
	ktap_note("%s", line);
}

int fault_enable(bool on)
{
	return file_puts(MMKIT_FAULT "enable", on ? "1\n" : "0\n");
}

int pgfault_counts_retries(void)
{
	unsigned long long before, after, charged;
	const size_t pages = 16;
	struct rusage r0, r1;
	struct uffd u;
	int ret;

	ret = uffd_open(&u, pages, 0);
	if (ret)
		return ret;
	/* the answer is in a window in which nothing but our pages faulted */
	vmstat("pgfault", &before);
	getrusage(RUSAGE_SELF, &r0);
	ret = vmstat("pgfault", &before);
	touch_write(u.area, pages);
	getrusage(RUSAGE_SELF, &r1);
	if (!ret)
		ret = vmstat("pgfault", &after);
	uffd_close(&u);
	if (ret)
		return ret;
	charged = r1.ru_minflt - r0.ru_minflt + r1.ru_majflt - r0.ru_majflt;
	if (charged < pages)
		return -EPROTO;
	if (after - before == charged)
		return 0;
	return after - before >= 2 * pages ? 1 : -EPROTO;
}

int mmkit_unload(void)
{
	int ret;

	ret = module_unload_wait("mmkit_fault", UNLOAD_SECONDS);
	if (ret && ret != -ENOENT)
		return ret;
	ret = module_unload_wait("mmkit", UNLOAD_SECONDS);
	return ret == -ENOENT ? 0 : ret;
}

void mmkit_fresh(const char *mechanism)
{
	int ret;

	ret = mmkit_unload();
	if (ret)
		ktap_bail("cannot unload mmkit: %s", strerror(-ret));
	ret = module_load("mmkit_fault", NULL);
	/* the runner has installed it: there its absence is an error */
	if ((ret == -ECHILD || ret == -ENOENT) && !getenv("MMKIT_RUNNER"))
		ktap_skip_all("mmkit_fault is not installed for this kernel");
	if (ret)
		ktap_bail("modprobe mmkit_fault: %s", strerror(-ret));
	if (!mechanism)
		return;
	if (!mechanism_available(mechanism))
		ktap_skip_all("this kernel does not have %s", mechanism);
	ret = file_puts(MMKIT_HOOK "mechanism", mechanism);
	if (ret)
		ktap_bail("cannot choose %s: %s", mechanism, strerror(-ret));
}

const char *hook_read(const char *file, char *buf, size_t size)
{
	char path[128];

	snprintf(path, sizeof(path), MMKIT_HOOK "%s", file);
	if (file_read_line(path, buf, size) < 0)
		buf[0] = '\0';
	return buf;
}

bool hook_is(const char *file, const char *want)
{
	char buf[256];

	return !strcmp(hook_read(file, buf, sizeof(buf)), want);
}

bool hook_wait(const char *file, const char *want, unsigned int seconds)
{
	unsigned long long end = now_ns() + seconds * NSEC_PER_SEC;

	while (!hook_is(file, want)) {
		if (now_ns() >= end)
			return false;
		sleep_ms(10);
	}
	return true;
}

unsigned long long hook_u64(const char *file)
{
	unsigned long long value;
	char path[128];
	int ret;

	snprintf(path, sizeof(path), MMKIT_HOOK "%s", file);
	ret = file_u64(path, &value);
	if (ret)
		ktap_bail("%s: %s", path, strerror(-ret));
	return value;
}

size_t mechanisms(char names[][32], size_t max)
{
	char buf[256], *word, *save = NULL;
	size_t n = 0;

	hook_read("available", buf, sizeof(buf));
	for (word = strtok_r(buf, " []", &save); word && n < max;
	     word = strtok_r(NULL, " []", &save)) {
		if (!strcmp(word, "auto"))
			continue;
		snprintf(names[n++], sizeof(names[0]), "%s", word);
	}
	return n;
}

bool mechanism_available(const char *name)
{
	char names[8][32];
	size_t i, n = mechanisms(names, ARRAY_SIZE(names));

	if (!strcmp(name, "auto"))
		return n > 0;
	for (i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}
