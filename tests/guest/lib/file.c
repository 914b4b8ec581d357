// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

#define KLOG_READ_ALL	3

ssize_t file_read(const char *path, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n = -1;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (len < size) {
		n = read(fd, buf + len, size - len);
		if (n <= 0)
			break;
		len += n;
	}
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return n;
	if (len == size)
		return -EFBIG;
	buf[len] = '\0';
	return len;
}

ssize_t file_read_line(const char *path, char *buf, size_t size)
{
	ssize_t n = file_read(path, buf, size);

	if (n > 0 && buf[n - 1] == '\n')
		buf[--n] = '\0';
	return n;
}

int file_u64(const char *path, unsigned long long *value)
{
	char buf[64], *end;
	ssize_t n;

	n = file_read_line(path, buf, sizeof(buf));
	if (n < 0)
		return n;
	if (!strcmp(buf, "unsupported"))
		return -EOPNOTSUPP;
	if (buf[0] < '0' || buf[0] > '9')
		return -EBADMSG;
	errno = 0;
	*value = strtoull(buf, &end, 10);
	return *end || errno ? -EBADMSG : 0;
}

int file_write(const char *path, const void *data, size_t len, int flags)
{
	int fd, ret = 0;
	ssize_t n;

	fd = open(path, O_WRONLY | O_CLOEXEC | flags);
	if (fd < 0)
		return -errno;
	n = write(fd, data, len);
	if (n < 0)
		ret = -errno;
	else if ((size_t)n != len)
		ret = -EIO;
	close(fd);
	return ret;
}

int file_puts(const char *path, const char *text)
{
	return file_write(path, text, strlen(text), 0);
}

int file_append(const char *path, const char *text)
{
	return file_write(path, text, strlen(text), O_APPEND);
}

bool file_exists(const char *path)
{
	struct stat st;

	return !stat(path, &st);
}

bool kernel_log_says(const char *a, const char *b)
{
	static char log[1 << 20];
	char *line, *save = NULL;
	int len;

	len = klogctl(KLOG_READ_ALL, log, sizeof(log) - 1);
	if (len < 0)
		return false;
	log[len] = '\0';
	for (line = strtok_r(log, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		if (strstr(line, a) && strstr(line, b))
			return true;
	return false;
}

int vmstat(const char *name, unsigned long long *value)
{
	static char buf[64 << 10];
	size_t len = strlen(name);
	char *line;
	ssize_t n;

	n = file_read("/proc/vmstat", buf, sizeof(buf));
	if (n < 0)
		return n;
	for (line = buf; line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (!strncmp(line, name, len) && line[len] == ' ') {
			*value = strtoull(line + len + 1, NULL, 10);
			return 0;
		}
	}
	return -ENOENT;
}
