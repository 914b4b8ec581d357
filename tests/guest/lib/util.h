/* SPDX-License-Identifier: GPL-2.0-only */
/* What every test program needs and libc does not have. */
#ifndef MMKIT_TESTS_UTIL_H
#define MMKIT_TESTS_UTIL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define NSEC_PER_SEC	1000000000ull
#define NSEC_PER_MSEC	1000000ull

/** now_ns() - monotonic time */
unsigned long long now_ns(void);

/** sleep_ms() - sleep, also through signals */
void sleep_ms(unsigned int ms);

/** page_size() - of this machine */
size_t page_size(void);

/** volume_full() - whether MMKIT_FULL=1 asks for the full volume */
bool volume_full(void);

/** volume() - @full or @reduced, by volume_full() */
unsigned int volume(unsigned int full, unsigned int reduced);

/**
 * lock_memory() - make sure that this program faults only where it means to
 *
 * Locks and populates all that is mapped now, and a piece of stack below the
 * present frame. What is mapped later is not locked: faults there are the
 * business of the test. No transparent huge pages, here and in children.
 * To be called again after a fork, which leaves the memory of the parent to be
 * copied on write.
 *
 * Return: 0 or -errno.
 */
int lock_memory(void);

/** touch_stack() - have 64 KiB of stack below the present frame */
void touch_stack(void);

/**
 * map_anon() - map @pages of private anonymous memory, untouched
 *
 * The mapping merges with no neighbour. Ends the program when it fails.
 */
char *map_anon(size_t pages);

/** unmap_anon() - undo map_anon() */
void unmap_anon(char *p, size_t pages);

/** touch_read(), touch_write() - access one byte in each page */
void touch_read(const char *p, size_t pages);
void touch_write(char *p, size_t pages);

/**
 * thread_start() - start a thread with a small stack
 *
 * A program that is locked in memory pays for the whole stack.
 *
 * Return: 0 or a positive errno, as pthread_create().
 */
int thread_start(pthread_t *thread, void *(*fn)(void *arg), void *arg);

/**
 * fork_child() - fork a child that dies with its parent
 *
 * Return: as fork().
 */
pid_t fork_child(void);

/** wait_asleep() - wait until a process sleeps, at most @seconds */
bool wait_asleep(pid_t pid, unsigned int seconds);

/**
 * wait_child() - wait for a child, at most @seconds
 *
 * Return: its wait status, or -1 when it is still there.
 */
int wait_child(pid_t pid, unsigned int seconds);

#endif
