// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "trace.h"
#include "util.h"

#define INSTANCE	"instances/mmkit_test"

static const char *root;

const char *tracing_path(const char *file)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", root, file);
	return path;
}

int trace_open(void)
{
	static const char * const roots[] = {
		"/sys/kernel/tracing", "/sys/kernel/debug/tracing",
	};
	char probe[128];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(roots); i++) {
		snprintf(probe, sizeof(probe), "%s/instances", roots[i]);
		if (file_exists(probe))
			break;
	}
	if (i == ARRAY_SIZE(roots))
		return -ENOENT;
	root = roots[i];
	rmdir(tracing_path(INSTANCE));
	if (mkdir(tracing_path(INSTANCE), 0700))
		return -errno;
	return trace_write("buffer_size_kb", "1024");
}

void trace_close(void)
{
	rmdir(tracing_path(INSTANCE));
}

static int vwrite(const char *path, int flags, const char *fmt, va_list ap)
{
	char text[512];

	vsnprintf(text, sizeof(text), fmt, ap);
	return file_write(path, text, strlen(text), flags);
}

int trace_write(const char *file, const char *fmt, ...)
{
	char name[256];
	va_list ap;
	int ret;

	snprintf(name, sizeof(name), INSTANCE "/%s", file);
	va_start(ap, fmt);
	ret = vwrite(tracing_path(name), 0, fmt, ap);
	va_end(ap);
	return ret;
}

int tracing_write(const char *file, const char *fmt, ...)
{
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = vwrite(tracing_path(file), O_APPEND, fmt, ap);
	va_end(ap);
	return ret;
}

/* opening it for writing is what empties a buffer or a filter */
void tracing_truncate(const char *file)
{
	int fd = open(tracing_path(file), O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
}

void trace_truncate(const char *file)
{
	char name[256];

	snprintf(name, sizeof(name), INSTANCE "/%s", file);
	tracing_truncate(name);
}

void trace_clear(void)
{
	trace_truncate("trace");
	tracing_truncate("trace");
}

static long lines(const char *file, const char *text,
		  void (*fn)(const char *line, void *arg), void *arg)
{
	FILE *f = fopen(tracing_path(file), "re");
	char line[1024];
	long n = 0;

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		if (line[0] == '#' || !strstr(line, text))
			continue;
		n++;
		if (fn)
			fn(line, arg);
	}
	fclose(f);
	return n;
}

long trace_lines(const char *text, void (*fn)(const char *line, void *arg),
		 void *arg)
{
	return lines(INSTANCE "/trace", text, fn, arg);
}

long tracing_lines(const char *text, void (*fn)(const char *line, void *arg),
		   void *arg)
{
	return lines("trace", text, fn, arg);
}
