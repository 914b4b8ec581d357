/* SPDX-License-Identifier: GPL-2.0-only */
/* Running a bpftrace program beside the test. */
#ifndef MMKIT_TESTS_BPFTRACE_H
#define MMKIT_TESTS_BPFTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/**
 * struct bpftrace - a running program
 * @text: what it has printed, maps at the end included
 */
struct bpftrace {
	pid_t pid;
	int fd;
	char text[16384];
	size_t len;
};

/**
 * bpftrace_start() - run a program and wait until it is attached
 * @probes: the program
 *
 * Return: 0; -EBUSY when it could not attach and ended; -ETIMEDOUT; or another
 * -errno.
 */
int bpftrace_start(struct bpftrace *b, const char *probes);

/** bpftrace_stop() - have it print its maps and end. Return: whether it did. */
bool bpftrace_stop(struct bpftrace *b);

/**
 * bpftrace_value() - a map that holds one number, after bpftrace_stop()
 * @map: its name, without @
 *
 * Return: the number, or -1 when there is no such map.
 */
long bpftrace_value(const struct bpftrace *b, const char *map);

/** bpftrace_print() - ktap_note() what it printed */
void bpftrace_print(const struct bpftrace *b);

#endif
