// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../ktap.h"
#include "file.h"
#include "util.h"

#define STACK_BYTES		(64u << 10)
#define THREAD_STACK_BYTES	(256u << 10)

unsigned long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

void sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * NSEC_PER_MSEC };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

size_t page_size(void)
{
	return sysconf(_SC_PAGESIZE);
}

bool volume_full(void)
{
	const char *v = getenv("MMKIT_FULL");

	return v && !strcmp(v, "1");
}

unsigned int volume(unsigned int full, unsigned int reduced)
{
	return volume_full() ? full : reduced;
}

void touch_stack(void)
{
	volatile char room[STACK_BYTES];
	size_t i;

	for (i = 0; i < sizeof(room); i += 1024)
		room[i] = 0;
}

int lock_memory(void)
{
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	touch_stack();
	/* maps and touches what the vDSO reads */
	now_ns();
	if (mlockall(MCL_CURRENT))
		return -errno;
	return 0;
}

char *map_anon(size_t pages)
{
	size_t page = page_size();
	char *p;

	/* an inaccessible page at each end keeps neighbours apart */
	p = mmap(NULL, (pages + 2) * page, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED ||
	    mprotect(p + page, pages * page, PROT_READ | PROT_WRITE))
		ktap_bail("cannot map %zu pages: %s", pages, strerror(errno));
	return p + page;
}

void unmap_anon(char *p, size_t pages)
{
	size_t page = page_size();

	munmap(p - page, (pages + 2) * page);
}

void touch_read(const char *p, size_t pages)
{
	size_t page = page_size(), i;

	for (i = 0; i < pages; i++)
		*(volatile const char *)(p + i * page);
}

void touch_write(char *p, size_t pages)
{
	size_t page = page_size(), i;

	for (i = 0; i < pages; i++)
		*(volatile char *)(p + i * page) = 1;
}

int thread_start(pthread_t *thread, void *(*fn)(void *arg), void *arg)
{
	pthread_attr_t attr;
	int ret;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, THREAD_STACK_BYTES);
	ret = pthread_create(thread, &attr, fn, arg);
	pthread_attr_destroy(&attr);
	return ret;
}

pid_t fork_child(void)
{
	pid_t parent = getpid(), pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return pid;
}

bool wait_asleep(pid_t pid, unsigned int seconds)
{
	unsigned long long end = now_ns() + seconds * NSEC_PER_SEC;
	char path[64], buf[512], *state;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (now_ns() < end) {
		if (file_read(path, buf, sizeof(buf)) < 0)
			return false;
		state = strrchr(buf, ')');
		if (state && (state[2] == 'S' || state[2] == 'D'))
			return true;
		sleep_ms(1);
	}
	return false;
}

int wait_child(pid_t pid, unsigned int seconds)
{
	unsigned long long end = now_ns() + seconds * NSEC_PER_SEC;
	int status;

	for (;;) {
		pid_t got = waitpid(pid, &status, WNOHANG);

		if (got == pid)
			return status;
		if (got < 0 && errno != EINTR)
			return -1;
		if (now_ns() >= end)
			return -1;
		sleep_ms(5);
	}
}
