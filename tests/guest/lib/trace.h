/* SPDX-License-Identifier: GPL-2.0-only */
/* An instance of tracefs for the test alone. */
#ifndef MMKIT_TESTS_TRACE_H
#define MMKIT_TESTS_TRACE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * trace_open() - find tracefs and make an instance in it
 *
 * What is left of an earlier one is removed before.
 *
 * Return: 0 or -errno.
 */
int trace_open(void);

/** trace_close() - remove the instance */
void trace_close(void);

/** trace_write() - write to a file of the instance. Return: 0 or -errno. */
int trace_write(const char *file, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** trace_clear() - empty the buffer, and that of tracefs itself */
void trace_clear(void);

/** trace_truncate() - empty a file of the instance, such as a filter */
void trace_truncate(const char *file);

/**
 * trace_lines() - call @fn for each line of the buffer that contains @text
 *
 * Return: how many lines there were, or -errno.
 */
long trace_lines(const char *text, void (*fn)(const char *line, void *arg),
		 void *arg);

/** tracing_write() - write (append) to a file of tracefs itself */
int tracing_write(const char *file, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** tracing_truncate() - empty a file of tracefs itself */
void tracing_truncate(const char *file);

/** tracing_lines() - trace_lines() of tracefs itself */
long tracing_lines(const char *text, void (*fn)(const char *line, void *arg),
		   void *arg);

/** tracing_path() - the path of a file of tracefs itself */
const char *tracing_path(const char *file);

#endif
