// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is every wrong write refused with the right error, and does it change
 * nothing?
 *
 * mmkit-test: timeout=60 cpus=2
 *
 * Also: what can be read or written by whom, odd ways to read, and files that
 * are still open when the modules go.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ktap.h"
#include "lib/file.h"
#include "lib/mmkit.h"
#include "lib/module.h"
#include "lib/rules.h"
#include "lib/util.h"

#define ENABLE		MMKIT_FAULT "enable"
#define RESET		MMKIT_FAULT "reset"
#define MECHANISM	MMKIT_HOOK "mechanism"
#define NOBODY		65534
#define MAX_FILES	128
#define WRITERS		4

/* all files below /sys/kernel/mmkit, found once */
static struct {
	char path[256];
	mode_t mode;
} files[MAX_FILES];
static size_t nr_files;

static void find_files(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[256];
	struct stat st;

	if (!d)
		return;
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s%s", dir, e->d_name);
		if (lstat(path, &st))
			continue;
		if (S_ISDIR(st.st_mode)) {
			strcat(path, "/");
			find_files(path);
		} else if (nr_files < MAX_FILES) {
			strcpy(files[nr_files].path, path);
			files[nr_files++].mode = st.st_mode;
		}
	}
	closedir(d);
}

/* what must not change, as one text; the epoch is in it, so a reset shows */
static const char *settings(char *buf, size_t size)
{
	static const char * const paths[] = {
		MMKIT "epoch", ENABLE, MECHANISM, MMKIT_HOOK "available",
		MMKIT_HOOK "state", MMKIT_HOOK "errno",
		"/sys/module/mmkit/parameters/mechanism",
	};
	char line[128];
	size_t i;

	buf[0] = '\0';
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		if (file_read(paths[i], line, sizeof(line)) < 0)
			continue;
		strncat(buf, line, size - strlen(buf) - 1);
	}
	return buf;
}

struct bad {
	const char *name;
	const char *data;
	size_t len;
	int want;
};

/* 4097 bytes: the first page of them is all that some kernels hand on */
static char long_text[4097], long_digits[4097], long_padded[4097];
static char *page_text;

#define BAD(n, s, e)	{ n, s, sizeof(s) - 1, e }

/* for files that hold a number or a switch */
static const struct bad bad_numbers[] = {
	BAD("a newline", "\n", -EINVAL),
	BAD("spaces", "   ", -EINVAL),
	BAD("a space before", " 1", -EINVAL),
	BAD("2", "2", -EINVAL),
	BAD("2 and a newline", "2\n", -EINVAL),
	BAD("-1", "-1", -EINVAL),
	BAD("2^64", "18446744073709551616", -ERANGE),
	BAD("2^64 + 1", "18446744073709551617\n", -ERANGE),
	BAD("2^32 + 1", "4294967297", -EINVAL),
	BAD("1 x", "1 x", -EINVAL),
	BAD("1x", "1x", -EINVAL),
	BAD("two lines", "1\n1\n", -EINVAL),
	BAD("0x1", "0x1", -EINVAL),
	BAD("1.0", "1.0", -EINVAL),
	BAD("y", "y", -EINVAL),
	BAD("on", "on", -EINVAL),
	BAD("a word", "enable", -EINVAL),
	BAD("a NUL", "\0", -EINVAL),
	BAD("1 and a NUL", "1\0", -EINVAL),
	BAD("1, a NUL and more", "1\0001\n", -EINVAL),
	BAD("binary", "\377\376\001\200\033\177", -EINVAL),
	{ "4097 letters", long_text, sizeof(long_text), -EINVAL },
	{ "4097 digits", long_digits, sizeof(long_digits), -EINVAL },
	{ "1 and 4096 NULs", long_padded, sizeof(long_padded), -EINVAL },
};

static const struct bad bad_words[] = {
	BAD("a newline", "\n", -EINVAL),
	BAD("spaces", "   ", -EINVAL),
	BAD("2", "2", -EINVAL),
	BAD("-1", "-1", -EINVAL),
	BAD("2^64", "18446744073709551616", -EINVAL),
	BAD("1 x", "1 x", -EINVAL),
	BAD("an unknown word", "optprobe", -EINVAL),
	BAD("the beginning of a word", "redir", -EINVAL),
	BAD("a word and more", "redirect direct", -EINVAL),
	BAD("another case", "REDIRECT", -EINVAL),
	BAD("a space before", " auto", -EINVAL),
	BAD("brackets", "[auto]", -EINVAL),
	BAD("two lines", "auto\nauto\n", -EINVAL),
	BAD("a word and a NUL", "auto\0", -EINVAL),
	BAD("binary", "\377\376\001\200\033\177", -EINVAL),
	{ "4097 letters", long_text, sizeof(long_text), -EINVAL },
};

static void check_bad(const char *path, const char *name,
		      const struct bad *bad, size_t count)
{
	char before[1024], after[1024];
	size_t i;

	for (i = 0; i < count; i++) {
		settings(before, sizeof(before));
		ktap_err(file_write(path, bad[i].data, bad[i].len, 0),
			 bad[i].want, "%s: %s", name, bad[i].name);
		settings(after, sizeof(after));
		if (!strcmp(before, after))
			continue;
		ktap_note("before: %s", before);
		ktap_note("after: %s", after);
		ktap_ok(false, "%s: %s changes nothing", name, bad[i].name);
	}
	/* one byte more than the largest write that arrives in one piece */
	ktap_err(file_write(path, page_text, page_size() + 1, 0), -EINVAL,
		 "%s: a page and one byte", name);
	/* sysfs itself drops a write of no bytes: no store function sees it */
	settings(before, sizeof(before));
	ktap_err(file_write(path, "", 0, 0), 0, "%s: nothing", name);
	settings(after, sizeof(after));
	ktap_ok(!strcmp(before, after), "%s: nothing was changed", name);
}

static void check_numbers(void)
{
	int on;

	for (on = 0; on <= 1; on++) {
		ktap_err(fault_enable(on), 0, "enable: write %d", on);
		check_bad(ENABLE, on ? "enable while on" : "enable while off",
			  bad_numbers, ARRAY_SIZE(bad_numbers));
		check_bad(RESET, on ? "reset while on" : "reset while off",
			  bad_numbers, ARRAY_SIZE(bad_numbers));
		ktap_err(file_puts(RESET, "0"), -EINVAL, "reset: 0 is no reset");
		check_bad(MECHANISM, on ? "mechanism while on" :
			  "mechanism while off", bad_words,
			  ARRAY_SIZE(bad_words));
	}
	ktap_err(file_puts(MECHANISM, "auto"), -EBUSY,
		 "mechanism: not while on");
	ktap_err(file_puts(ENABLE, "1\n"), 0, "enable: 1 while on");
	ktap_err(file_puts(ENABLE, "0"), 0, "enable: 0");
	ktap_err(file_puts(ENABLE, "0"), 0, "enable: 0 while off");
}

static void check_mechanisms(void)
{
	static const char * const all[] = {
		"auto", "redirect", "direct", "fprobe", "kretprobe",
	};
	char want[32], buf[256];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (!mechanism_available(all[i])) {
			ktap_err(file_puts(MECHANISM, all[i]), -EOPNOTSUPP,
				 "mechanism: %s", all[i]);
			continue;
		}
		ktap_err(file_puts(MECHANISM, all[i]), 0, "mechanism: %s",
			 all[i]);
		snprintf(want, sizeof(want), "[%s]", all[i]);
		ktap_ok(strstr(hook_read("available", buf, sizeof(buf)), want),
			"mechanism: %s is marked", all[i]);
		ktap_ok(hook_is("mechanism", "none"),
			"mechanism: none while off, after %s", all[i]);
	}
	file_puts(MECHANISM, "auto");
}

static void check_read_only(void)
{
	char name[256];
	size_t i;
	int ret;

	for (i = 0; i < nr_files; i++) {
		const char *path = files[i].path;

		snprintf(name, sizeof(name), "%s", path + strlen(MMKIT));
		if (!(files[i].mode & 0222)) {
			ret = file_write(path, "1", 1, 0);
			ktap_err(ret, -EACCES, "%s: cannot be written", name);
		}
		if (!(files[i].mode & 0444)) {
			ret = file_read(path, name, sizeof(name));
			ktap_err(ret, -EACCES, "%s: cannot be read",
				 path + strlen(MMKIT));
		}
		ktap_ok(!(files[i].mode & 0133), "%s: for others to read only",
			path + strlen(MMKIT));
	}
	ktap_ok(file_puts(MMKIT_DEBUGFS "hooks", "1") < 0,
		"debugfs hooks: cannot be written");
	ktap_ok(file_puts(MMKIT_DEBUGFS "fault/latency", "1") < 0,
		"debugfs latency: cannot be written");
}

/* a file read byte by byte, and from the middle, is the file read at once */
static void check_odd_reads(const char *path, const char *name)
{
	char whole[4096], parts[4096];
	ssize_t len, i, n;
	bool good = true;
	int fd;

	len = file_read(path, whole, sizeof(whole));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (len <= 0 || fd < 0) {
		ktap_ok(false, "%s: can be read", name);
		return;
	}
	for (i = 0; i < len; i++)
		good &= read(fd, parts + i, 1) == 1;
	ktap_ok(good && !memcmp(whole, parts, len), "%s: byte by byte", name);
	ktap_ok(read(fd, parts, 1) == 0, "%s: and then the end", name);

	memset(parts, 0, sizeof(parts));
	n = pread(fd, parts, sizeof(parts), len / 2);
	ktap_ok(n == len - len / 2 && !memcmp(parts, whole + len / 2, n),
		"%s: from the middle", name);
	ktap_ok(pread(fd, parts, sizeof(parts), len) == 0,
		"%s: from the end", name);
	ktap_ok(pread(fd, parts, sizeof(parts), 1 << 20) == 0,
		"%s: from far behind", name);
	ktap_ok(pread(fd, parts, sizeof(parts), -1) < 0 && errno == EINVAL,
		"%s: from before", name);
	ktap_ok(lseek(fd, 0, SEEK_SET) == 0 &&
		read(fd, parts, sizeof(parts)) == len &&
		!memcmp(whole, parts, len), "%s: again from the start", name);
	close(fd);
}

/* concurrent writers */

static atomic_bool stop_writers;
static atomic_int wrong_answers;

static void *writer(void *arg)
{
	static const struct {
		const char *path, *text;
		int want;
	} writes[] = {
		{ ENABLE, "1", 0 }, { ENABLE, "x", -EINVAL },
		{ RESET, "1", 0 }, { ENABLE, "0", 0 }, { ENABLE, "2", -EINVAL },
		{ MECHANISM, "none", -EINVAL },
		{ ENABLE, "18446744073709551616", -ERANGE },
	};
	size_t i = (size_t)arg;
	int ret;

	while (!stop_writers) {
		i = (i + 1) % ARRAY_SIZE(writes);
		ret = file_puts(writes[i].path, writes[i].text);
		if (ret == writes[i].want)
			continue;
		ktap_note("%s to %s: %s", writes[i].text, writes[i].path,
			  strerror(-ret));
		wrong_answers++;
	}
	return NULL;
}

static void check_writers(void)
{
	struct fault_counts c;
	pthread_t threads[WRITERS];
	size_t i;

	for (i = 0; i < WRITERS; i++)
		if (thread_start(&threads[i], writer, (void *)(i * 2)))
			ktap_bail("cannot start a thread");
	sleep_ms(volume(30000, 2000));
	stop_writers = true;
	for (i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	ktap_eq(wrong_answers, 0, "many writers: right answers");
	ktap_err(fault_enable(true), 0, "many writers: on in the end");
	ktap_ok(hook_is("state", "on"), "many writers: it is on");
	ktap_err(fault_enable(false), 0, "many writers: off in the end");
	ktap_ok(hook_is("state", "off"), "many writers: it is off");
	ktap_ok(!fault_read_stats(&c) && sums_right(&c),
		"many writers: the counters add up");
}

/* as somebody else: results are counted in the child and handed over */
static void check_nobody(void)
{
	char buf[4096];
	size_t i, refused = 0, writable = 0;
	int status;
	pid_t pid;

	for (i = 0; i < nr_files; i++)
		writable += !!(files[i].mode & 0222);
	pid = fork_child();
	if (!pid) {
		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(255);
		for (i = 0; i < nr_files; i++)
			if (files[i].mode & 0222 &&
			    file_puts(files[i].path, "1") == -EACCES)
				refused++;
		if (file_read(MMKIT_FAULT "stats/total", buf, sizeof(buf)) <= 0)
			_exit(254);
		_exit(refused);
	}
	status = wait_child(pid, 10);
	ktap_ok(status >= 0 && WEXITSTATUS(status) == writable,
		"nobody: can read, but not write");
	if (status >= 0 && WEXITSTATUS(status) != writable)
		ktap_note("refused or error: %d, writable: %zu",
			  WEXITSTATUS(status), writable);
}

/* module parameters */

static void check_param(const char *module, const char *param, int want,
			const char *name)
{
	int ret = module_load(module, param);

	/* the text is that of the tool where the errno is the kernel's */
	if (want)
		ktap_ok(ret < 0 && !module_loaded(module), "%s: refused", name);
	else
		ktap_err(ret, 0, "%s", name);
	mmkit_unload();
}

static void check_params(void)
{
	char param[1600];

	mmkit_unload();
	check_param("mmkit_fault", "enable=1", 0, "enable=1");
	check_param("mmkit_fault", "enable=0", 0, "enable=0");
	check_param("mmkit_fault", "enable=2", -EINVAL, "enable=2");
	check_param("mmkit_fault", "enable=-1", -EINVAL, "enable=-1");
	check_param("mmkit_fault", "enable=", -EINVAL, "enable=");
	check_param("mmkit_fault", "enable=18446744073709551616", -EINVAL,
		    "enable=2^64");
	check_param("mmkit", "mechanism=", -EINVAL, "mechanism=");
	check_param("mmkit", "mechanism", -EINVAL, "mechanism without value");
	check_param("mmkit", "mechanism=2", -EINVAL, "mechanism=2");
	check_param("mmkit", "mechanism=-1", -EINVAL, "mechanism=-1");
	check_param("mmkit", "mechanism=18446744073709551616", -EINVAL,
		    "mechanism=2^64");
	check_param("mmkit", "mechanism=\377\001", -EINVAL, "mechanism=binary");
	check_param("mmkit", "mechanism=redirectx", -EINVAL,
		    "mechanism=redirectx");
	strcpy(param, "mechanism=");
	memset(param + strlen(param), 'x', sizeof(param) - strlen(param) - 1);
	param[sizeof(param) - 1] = '\0';
	check_param("mmkit", param, -ENOSPC, "mechanism=1589 letters");
}

/* files that are open when what they belong to goes */
static void check_open_files(void)
{
	struct {
		const char *path;
		int flags, fd;
	} held[] = {
		{ MMKIT_FAULT "stats/total", O_RDONLY, -1 },
		{ ENABLE, O_RDWR, -1 },
		{ RESET, O_WRONLY, -1 },
		{ MECHANISM, O_RDWR, -1 },
		{ MMKIT_HOOK "hits", O_RDONLY, -1 },
		{ MMKIT "epoch", O_RDONLY, -1 },
	};
	char buf[256];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(held); i++) {
		held[i].fd = open(held[i].path, held[i].flags | O_CLOEXEC);
		if (held[i].fd < 0)
			ktap_bail("%s: %s", held[i].path, strerror(errno));
	}
	ktap_err(fault_enable(true), 0, "open files: enable");
	ktap_err(mmkit_unload(), 0, "open files: the modules can be removed");
	for (i = 0; i < ARRAY_SIZE(held); i++) {
		if (held[i].flags != O_WRONLY) {
			errno = 0;
			ktap_ok(read(held[i].fd, buf, sizeof(buf)) < 0 &&
				errno == ENODEV, "open files: read %s",
				held[i].path + strlen(MMKIT));
		}
		if (held[i].flags != O_RDONLY) {
			errno = 0;
			ktap_ok(write(held[i].fd, "1", 1) < 0 &&
				errno == ENODEV, "open files: write %s",
				held[i].path + strlen(MMKIT));
		}
	}
	ktap_err(module_load("mmkit_fault", NULL), 0, "open files: load again");
	ktap_ok(read(held[0].fd, buf, sizeof(buf)) < 0,
		"open files: still of the modules that went");
	for (i = 0; i < ARRAY_SIZE(held); i++)
		close(held[i].fd);
}

int main(void)
{
	ktap_start(volume(300, 150));
	memset(long_text, 'x', sizeof(long_text));
	memset(long_digits, '1', sizeof(long_digits));
	long_padded[0] = '1';
	page_text = malloc(page_size() + 1);
	if (!page_text)
		ktap_bail("no memory");
	memset(page_text, 'x', page_size() + 1);

	mmkit_fresh(NULL);
	find_files(MMKIT);
	ktap_ok(nr_files >= 20, "there are files to test");
	check_mechanisms();
	check_numbers();
	check_read_only();
	check_odd_reads(ENABLE, "enable");
	check_odd_reads(MMKIT_HOOK "available", "available");
	check_odd_reads(MMKIT_FAULT "stats/total", "total");
	check_odd_reads(MMKIT_DEBUGFS "hooks", "debugfs hooks");
	check_odd_reads(MMKIT_DEBUGFS "fault/latency", "debugfs latency");
	check_nobody();
	check_writers();
	check_open_files();
	check_params();
	ktap_err(mmkit_unload(), 0, "unload");
	return ktap_finish();
}
