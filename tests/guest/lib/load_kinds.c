// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ktap.h"
#include "code.h"
#include "load.h"
#include "uffd.h"
#include "util.h"

#define AREA_PAGES	64
#define SHARED_PAGES	512
#define MAX_THREADS	16

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ	22
#define MADV_POPULATE_WRITE	23
#endif

extern char **environ;

static void round_done(struct load_share *share, enum load_kind kind)
{
	atomic_fetch_add(&share->rounds[kind], 1);
}

static unsigned int next_random(unsigned int *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 8;
}

/* run @fn in @threads threads until all have returned */
static int run_threads(void *(*fn)(void *), void *arg, unsigned int threads)
{
	pthread_t thread[MAX_THREADS];
	unsigned int i, started;
	int ret = 0;

	if (threads > MAX_THREADS)
		threads = MAX_THREADS;
	for (started = 0; started < threads && !ret; started++)
		ret = thread_start(&thread[started], fn, arg);
	if (ret)
		started--;
	for (i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	return -ret;
}

static int temp_file(size_t pages)
{
	char name[] = "/tmp/mmkit-load-XXXXXX";
	int fd = mkostemp(name, O_CLOEXEC);

	if (fd < 0)
		return -errno;
	unlink(name);
	if (ftruncate(fd, pages * page_size())) {
		close(fd);
		return -errno;
	}
	return fd;
}

/* storm */

static void *storm_thread(void *arg)
{
	struct load_share *share = arg;

	while (!share->stop) {
		char *p = map_anon(AREA_PAGES);

		touch_write(p, AREA_PAGES);
		unmap_anon(p, AREA_PAGES);
		round_done(share, LOAD_STORM);
	}
	return NULL;
}

static int load_storm(struct load_share *share, unsigned int threads)
{
	return run_threads(storm_thread, share, threads);
}

/* vma */

struct vma_load {
	struct load_share *share;
	char *area;
};

static void *vma_writer(void *arg)
{
	struct vma_load *v = arg;
	unsigned int state = (uintptr_t)&state >> 4, page;

	while (!v->share->stop) {
		page = next_random(&state) % SHARED_PAGES;
		touch_write(v->area + page * page_size(), 1);
	}
	return NULL;
}

static void *vma_mapper(void *arg)
{
	struct vma_load *v = arg;

	while (!v->share->stop) {
		char *p = map_anon(AREA_PAGES);

		touch_read(p, AREA_PAGES);
		touch_write(p, AREA_PAGES);
		mprotect(p, AREA_PAGES / 2 * page_size(), PROT_READ);
		touch_read(p, AREA_PAGES);
		unmap_anon(p, AREA_PAGES);
	}
	return NULL;
}

/* write access stays: a writer in the middle must not be hit */
static void vma_change(struct vma_load *v)
{
	unsigned int state = 7;

	while (!v->share->stop) {
		size_t first = next_random(&state) % (SHARED_PAGES - 16);
		char *p = v->area + first * page_size();
		int exec = next_random(&state) & 1 ? PROT_EXEC : 0;

		madvise(p, 16 * page_size(), MADV_DONTNEED);
		mprotect(p, 8 * page_size(), PROT_READ | PROT_WRITE | exec);
		round_done(v->share, LOAD_VMA);
	}
}

static int load_vma(struct load_share *share, unsigned int threads)
{
	struct vma_load v = { .share = share };
	pthread_t writers[2], mapper;

	(void)threads;
	v.area = map_anon(SHARED_PAGES);
	if (thread_start(&writers[0], vma_writer, &v) ||
	    thread_start(&writers[1], vma_writer, &v) ||
	    thread_start(&mapper, vma_mapper, &v))
		return -EAGAIN;
	vma_change(&v);
	pthread_join(writers[0], NULL);
	pthread_join(writers[1], NULL);
	pthread_join(mapper, NULL);
	return 0;
}

/* fork */

static int load_fork(struct load_share *share, unsigned int threads)
{
	char *p = map_anon(AREA_PAGES);
	pid_t pid;

	(void)threads;
	touch_write(p, AREA_PAGES);
	while (!share->stop) {
		pid = fork_child();
		if (pid < 0)
			return -errno;
		touch_write(p, AREA_PAGES);
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
		round_done(share, LOAD_FORK);
	}
	return 0;
}

/* files */

static int load_file_private(struct load_share *share, unsigned int threads)
{
	size_t bytes = AREA_PAGES * page_size();
	int fd = temp_file(AREA_PAGES);
	char *p;

	(void)threads;
	if (fd < 0)
		return fd;
	while (!share->stop) {
		p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd,
			 0);
		if (p == MAP_FAILED)
			return -errno;
		touch_read(p, AREA_PAGES);
		touch_write(p, AREA_PAGES);
		munmap(p, bytes);
		/* and without a read before */
		p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd,
			 0);
		if (p == MAP_FAILED)
			return -errno;
		touch_write(p, AREA_PAGES);
		munmap(p, bytes);
		round_done(share, LOAD_FILE_PRIVATE);
	}
	return 0;
}

struct file_load {
	struct load_share *share;
	char *area;
};

static void *file_writer(void *arg)
{
	struct file_load *f = arg;
	unsigned int state = (uintptr_t)&state >> 4, page;

	while (!f->share->stop) {
		page = next_random(&state) % AREA_PAGES;
		touch_write(f->area + page * page_size(), 1);
	}
	return NULL;
}

static int load_file_shared(struct load_share *share, unsigned int threads)
{
	struct file_load f = { .share = share };
	size_t bytes = AREA_PAGES * page_size();
	int fd = temp_file(AREA_PAGES);
	pthread_t writers[2];

	(void)threads;
	if (fd < 0)
		return fd;
	f.area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (f.area == MAP_FAILED)
		return -errno;
	if (thread_start(&writers[0], file_writer, &f) ||
	    thread_start(&writers[1], file_writer, &f))
		return -EAGAIN;
	while (!share->stop) {
		/* not every file system has holes */
		if (madvise(f.area, bytes, MADV_REMOVE))
			madvise(f.area, bytes, MADV_DONTNEED);
		touch_read(f.area, AREA_PAGES);
		msync(f.area, bytes, MS_ASYNC);
		round_done(share, LOAD_FILE_SHARED);
	}
	pthread_join(writers[0], NULL);
	pthread_join(writers[1], NULL);
	return 0;
}

/* uffd */

static int load_uffd(struct load_share *share, unsigned int threads)
{
	struct uffd u;
	int ret;

	(void)threads;
	ret = uffd_open(&u, AREA_PAGES, 0);
	if (ret)
		return ret == -ENOSYS || ret == -EPERM ? -EOPNOTSUPP : ret;
	while (!share->stop) {
		touch_read(u.area, AREA_PAGES);
		uffd_reset(&u);
		touch_write(u.area, AREA_PAGES);
		uffd_reset(&u);
		round_done(share, LOAD_UFFD);
	}
	uffd_close(&u);
	return 0;
}

/* remote */

static int remote_copy(pid_t pid, char *own, char *theirs)
{
	size_t bytes = AREA_PAGES / 4 * page_size();
	struct iovec local = { own, bytes }, remote = { theirs, bytes };
	char name[32];
	int fd;

	/* a quarter each: read, write, through /proc, by ptrace() */
	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) < 0)
		return -errno;
	remote.iov_base = theirs + bytes;
	if (process_vm_writev(pid, &local, 1, &remote, 1, 0) < 0)
		return -errno;
	snprintf(name, sizeof(name), "/proc/%d/mem", pid);
	fd = open(name, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (pread(fd, own, bytes, (uintptr_t)theirs + 2 * bytes) < 0 ||
	    pwrite(fd, own, bytes, (uintptr_t)theirs + 2 * bytes) < 0) {
		close(fd);
		return -errno;
	}
	close(fd);
	return 0;
}

static int remote_ptrace(pid_t pid, char *theirs)
{
	size_t page = page_size();
	char *p = theirs + AREA_PAGES / 4 * 3 * page;
	int i;

	if (ptrace(PTRACE_ATTACH, pid, NULL, NULL))
		return -errno;
	waitpid(pid, NULL, __WALL);
	for (i = 0; i < AREA_PAGES / 8; i++) {
		errno = 0;
		if (ptrace(PTRACE_PEEKDATA, pid, p + 2 * i * page, NULL) && errno)
			return -errno;
		if (ptrace(PTRACE_POKEDATA, pid, p + (2 * i + 1) * page, NULL))
			return -errno;
	}
	return ptrace(PTRACE_DETACH, pid, NULL, NULL) ? -errno : 0;
}

static int load_remote(struct load_share *share, unsigned int threads)
{
	char *own = map_anon(AREA_PAGES), *theirs = map_anon(AREA_PAGES);
	int ret = 0;
	pid_t pid;

	(void)threads;
	touch_write(own, AREA_PAGES);
	while (!share->stop && !ret) {
		pid = fork_child();
		if (pid < 0)
			return -errno;
		if (!pid) {
			for (;;)
				pause();
		}
		ret = remote_copy(pid, own, theirs);
		if (!ret)
			ret = remote_ptrace(pid, theirs);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		round_done(share, LOAD_REMOTE);
	}
	return ret;
}

/* kernel */

static int load_kernel(struct load_share *share, unsigned int threads)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	size_t page = page_size(), i;
	int pipe_fd[2];
	char *p;

	(void)threads;
	if (zero < 0 || pipe2(pipe_fd, O_CLOEXEC))
		return -errno;
	while (!share->stop) {
		p = map_anon(AREA_PAGES);
		if (read(zero, p, AREA_PAGES / 2 * page) < 0)
			return -errno;
		for (i = AREA_PAGES / 2; i < AREA_PAGES; i += 2) {
			/* from one untouched page into the next */
			if (write(pipe_fd[1], p + i * page, 16) != 16 ||
			    read(pipe_fd[0], p + (i + 1) * page, 16) != 16)
				return -EIO;
		}
		unmap_anon(p, AREA_PAGES);
		round_done(share, LOAD_KERNEL);
	}
	return 0;
}

/* populate */

static int load_populate(struct load_share *share, unsigned int threads)
{
	size_t bytes = AREA_PAGES * page_size();
	char *p;

	(void)threads;
	while (!share->stop) {
		p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (p == MAP_FAILED)
			return -errno;
		madvise(p, bytes, MADV_DONTNEED);
		if (mlock(p, bytes))
			return -errno;
		munlock(p, bytes);
		madvise(p, bytes, MADV_DONTNEED);
		/* EINVAL on kernels that do not have them */
		madvise(p, bytes, MADV_POPULATE_READ);
		madvise(p, bytes, MADV_POPULATE_WRITE);
		munmap(p, bytes);
		round_done(share, LOAD_POPULATE);
	}
	return 0;
}

/* instruction */

static int load_instruction(struct load_share *share, unsigned int threads)
{
	struct code code;
	int ret;

	(void)threads;
	while (!share->stop) {
		ret = code_map(&code, AREA_PAGES);
		if (ret)
			return ret;
		code_call(&code);
		code_unmap(&code);
		round_done(share, LOAD_INSTRUCTION);
	}
	return 0;
}

/* exec */

static int load_exec(struct load_share *share, unsigned int threads)
{
	char *argv[] = { "true", NULL };
	pid_t pid;
	int ret;

	(void)threads;
	while (!share->stop) {
		ret = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
		if (ret)
			return ret == ENOENT ? -EOPNOTSUPP : -ret;
		waitpid(pid, NULL, 0);
		round_done(share, LOAD_EXEC);
	}
	return 0;
}

/* stack */

static void deep(unsigned int pages)
{
	volatile char frame[4096];

	memset((char *)frame, pages, sizeof(frame));
	if (pages)
		deep(pages - 1);
	frame[0]++;
}

static int load_stack(struct load_share *share, unsigned int threads)
{
	pid_t pid;

	(void)threads;
	while (!share->stop) {
		pid = fork_child();
		if (pid < 0)
			return -errno;
		if (!pid) {
			deep(256);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		round_done(share, LOAD_STACK);
	}
	return 0;
}

/* error */

static sigjmp_buf error_env;

static void error_handler(int sig)
{
	siglongjmp(error_env, sig);
}

static void touch_error(char *p, size_t pages)
{
	volatile size_t i;

	for (i = 0; i < pages; i++)
		if (!sigsetjmp(error_env, 1))
			touch_write(p + i * page_size(), 1);
}

static int load_error(struct load_share *share, unsigned int threads)
{
	struct sigaction action = { .sa_handler = error_handler };
	size_t bytes = AREA_PAGES * page_size();
	char *none, *beyond;
	int fd = temp_file(0);

	(void)threads;
	if (fd < 0)
		return fd;
	none = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	beyond = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (none == MAP_FAILED || beyond == MAP_FAILED)
		return -errno;
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	while (!share->stop) {
		touch_error(none, AREA_PAGES);
		touch_error(beyond, AREA_PAGES);
		round_done(share, LOAD_ERROR);
	}
	return 0;
}

/* kill */

static int load_kill(struct load_share *share, unsigned int threads)
{
	unsigned int state = 1;
	pid_t pid;

	(void)threads;
	while (!share->stop) {
		pid = fork_child();
		if (pid < 0)
			return -errno;
		if (!pid) {
			/* its share of the counters is not wanted */
			static struct load_share own;

			_exit(-run_threads(storm_thread, &own, 2));
		}
		sleep_ms(5 + next_random(&state) % 20);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		round_done(share, LOAD_KILL);
	}
	return 0;
}

/* huge */

static int load_huge(struct load_share *share, unsigned int threads)
{
	const size_t bytes = 8ul << 20;
	size_t page = page_size();
	char *p;

	(void)threads;
	prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
	while (!share->stop) {
		p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			return -errno;
		madvise(p, bytes, MADV_HUGEPAGE);
		touch_read(p, 16);
		touch_write(p, bytes / page / 2);
		/* split one: the next faults are small again */
		madvise(p + page, page, MADV_DONTNEED);
		touch_write(p, 16);
		munmap(p, bytes);
		/* fails where no huge pages are reserved */
		p = mmap(NULL, bytes / 2, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
		if (p != MAP_FAILED) {
			touch_write(p, bytes / page / 2);
			munmap(p, bytes / 2);
		}
		round_done(share, LOAD_HUGE);
	}
	return 0;
}

/* disk */

static int load_disk(struct load_share *share, unsigned int threads)
{
	size_t bytes = AREA_PAGES * page_size();
	int fd = open(LOAD_DISK_PATH, O_RDONLY | O_CLOEXEC);
	char *p;

	(void)threads;
	if (fd < 0)
		return -EOPNOTSUPP;
	while (!share->stop) {
		posix_fadvise(fd, 0, bytes, POSIX_FADV_DONTNEED);
		p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED)
			return -errno;
		touch_read(p, AREA_PAGES);
		munmap(p, bytes);
		round_done(share, LOAD_DISK);
	}
	return 0;
}

load_fn * const load_fns[NR_LOADS] = {
	load_storm, load_vma, load_fork, load_file_private, load_file_shared,
	load_uffd, load_remote, load_kernel, load_populate, load_instruction,
	load_exec, load_stack, load_error, load_kill, load_huge, load_disk,
};
