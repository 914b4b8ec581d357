/* SPDX-License-Identifier: GPL-2.0-only */
/* Small files of sysfs, debugfs, tracefs and procfs, read and written whole. */
#ifndef MMKIT_TESTS_FILE_H
#define MMKIT_TESTS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/**
 * file_read() - read a whole file into @buf and terminate it
 *
 * Return: the number of bytes, -EFBIG when it does not fit, or -errno.
 */
ssize_t file_read(const char *path, char *buf, size_t size);

/** file_read_line() - the same, without the newline at the end */
ssize_t file_read_line(const char *path, char *buf, size_t size);

/**
 * file_u64() - read a file that holds one unsigned number
 *
 * Return: 0, -EOPNOTSUPP when the file reads "unsupported", -EBADMSG when it
 * holds anything else, or -errno.
 */
int file_u64(const char *path, unsigned long long *value);

/**
 * file_write() - write @len bytes by one write()
 * @flags: added to O_WRONLY for open()
 *
 * Return: 0, -EIO for a short write, or -errno of open() or write().
 */
int file_write(const char *path, const void *data, size_t len, int flags);

/** file_puts() - file_write() of a string */
int file_puts(const char *path, const char *text);

/** file_append() - file_puts() with O_APPEND, as tracefs wants it */
int file_append(const char *path, const char *text);

/** file_exists() - whether @path can be stat()ed */
bool file_exists(const char *path);

/** kernel_log_says() - whether a line of the kernel log has both texts */
bool kernel_log_says(const char *a, const char *b);

/**
 * vmstat() - read one counter of /proc/vmstat
 *
 * Does not fault as long as the program is locked in memory. The counter is
 * the sum over the CPUs at this moment: the kernel does not batch events.
 *
 * Return: 0, -ENOENT when there is no such counter, or -errno.
 */
int vmstat(const char *name, unsigned long long *value);

#endif
