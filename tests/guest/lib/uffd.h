/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory whose faults sleep in the kernel until this program resolves them. */
#ifndef MMKIT_TESTS_UFFD_H
#define MMKIT_TESTS_UFFD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* do not start the thread that resolves: the test calls uffd_resolve() */
#define UFFD_MANUAL	-1

/**
 * struct uffd - an area of private anonymous memory behind a userfaultfd
 * @area: the memory, untouched
 * @pages: its size
 * @delay_ms: how long a fault is left waiting
 * @nr_resolved: pages that were given
 * @nr_seen: faults that uffd_wait_blocked() has seen
 * @slept_ns: the sum of the times from seeing a fault to having resolved it
 */
struct uffd {
	char *area;
	size_t pages;
	int delay_ms;
	atomic_ullong nr_resolved, slept_ns;
	size_t nr_seen;
	int fd, stop_fd;
	void *source;
	pthread_t thread;
	bool has_thread;
	atomic_bool ready;
};

/**
 * uffd_open() - make an area of @pages
 * @delay_ms: how long to wait before resolving a fault, or UFFD_MANUAL
 *
 * The thread that resolves causes no fault of its own once this returns. Memory
 * must not be locked as long as the area is there: that would fill it.
 *
 * Return: 0, -ENOSYS where the kernel has no userfaultfd, -EPERM where it may
 * not be used, or another -errno.
 */
int uffd_open(struct uffd *u, size_t pages, int delay_ms);

/**
 * uffd_wait_blocked() - wait until @count faults in all are blocked
 *
 * For UFFD_MANUAL. One fault is one page, as long as no two threads touch the
 * same page.
 *
 * Return: how many there are, less than @count after @seconds.
 */
size_t uffd_wait_blocked(struct uffd *u, size_t count, unsigned int seconds);

/** uffd_resolve() - give one page. Return: 0 or -errno (-EEXIST: was there). */
int uffd_resolve(struct uffd *u, size_t page);

/** uffd_reset() - take all pages away again */
void uffd_reset(struct uffd *u);

/** uffd_close() - end the thread and unmap: whoever sleeps wakes up */
void uffd_close(struct uffd *u);

#endif
