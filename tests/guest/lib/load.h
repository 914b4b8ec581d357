/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes that fault in many ways until they are told to stop. */
#ifndef MMKIT_TESTS_LOAD_H
#define MMKIT_TESTS_LOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

enum load_kind {
	LOAD_STORM,		/* threads that map, touch and unmap */
	LOAD_VMA,		/* threads; one of them changes the mappings */
	LOAD_FORK,		/* fork and copy on write, on both sides */
	LOAD_FILE_PRIVATE,
	LOAD_FILE_SHARED,	/* with holes punched meanwhile */
	LOAD_UFFD,
	LOAD_REMOTE,		/* process_vm_*(), /proc/PID/mem, ptrace() */
	LOAD_KERNEL,		/* read() and write() of untouched memory */
	LOAD_POPULATE,		/* mlock(), MAP_POPULATE, MADV_POPULATE_* */
	LOAD_INSTRUCTION,	/* calls into pages that are not there */
	LOAD_EXEC,
	LOAD_STACK,		/* growing stacks */
	LOAD_ERROR,		/* SIGBUS and SIGSEGV */
	LOAD_KILL,		/* processes killed while they fault */
	LOAD_HUGE,		/* transparent huge pages and hugetlb */
	LOAD_DISK,		/* major faults on a block device, if prepared */
	NR_LOADS
};

#define LOAD_ALL	((1u << NR_LOADS) - 1)

/**
 * struct load_share - what a load process shares with the test
 * @stop: set by the test
 * @rounds: how often the load has done its work
 */
struct load_share {
	atomic_bool stop;
	atomic_ullong rounds[NR_LOADS];
};

/**
 * struct load - running loads
 * @pid: one process each, 0 where there is none
 * @ret: after load_stop(): 0, -EOPNOTSUPP where the load cannot run here, or
 *       -errno where it failed
 */
struct load {
	struct load_share *share;
	pid_t pid[NR_LOADS];
	int ret[NR_LOADS];
};

extern const char * const load_names[NR_LOADS];

/**
 * load_start() - start one process for each bit of @kinds
 * @threads: for LOAD_STORM
 *
 * Return: 0 or -errno.
 */
int load_start(struct load *load, unsigned int kinds, unsigned int threads);

/**
 * load_stop() - tell all to stop, wait for them and reap them
 *
 * Return: whether all of them ended in time and none failed.
 */
bool load_stop(struct load *load);

/** load_rounds() - how often one load has done its work */
unsigned long long load_rounds(const struct load *load, enum load_kind kind);

/**
 * load_prepare_disk() - have a block device that LOAD_DISK can map
 *
 * Loads the ramdisk driver of the kernel where there is one. To be called
 * before a window that is to be counted.
 *
 * Return: 0 or -errno.
 */
int load_prepare_disk(void);

/** load_release_disk() - and remove it again */
void load_release_disk(void);

/* the loads themselves, in load_kinds.c: run until share->stop */
typedef int load_fn(struct load_share *share, unsigned int threads);
extern load_fn * const load_fns[NR_LOADS];

#define LOAD_DISK_PATH	"/dev/ram0"

#endif
