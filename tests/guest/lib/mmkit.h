/* SPDX-License-Identifier: GPL-2.0-only */
/* The files of mmkit and mmkit_fault, and what the kernel says beside them. */
#ifndef MMKIT_TESTS_MMKIT_H
#define MMKIT_TESTS_MMKIT_H

#include <stdbool.h>
#include <stddef.h>

#define MMKIT		"/sys/kernel/mmkit/"
#define MMKIT_FAULT	MMKIT "fault/"
#define MMKIT_HOOK	MMKIT "hooks/handle_mm_fault/"
#define MMKIT_DEBUGFS	"/sys/kernel/debug/mmkit/"

/* files of fault/stats/, in the order of fault_stat_names[] */
enum fault_stat {
	FS_TOTAL, FS_USER, FS_KERNEL, FS_REMOTE, FS_WRITE, FS_INSTRUCTION,
	FS_MAJOR, FS_MINOR, FS_RETRY,
	FS_VMA_LOCK_SUCCESS, FS_VMA_LOCK_RETRY, FS_VMA_LOCK_ABORT, FS_MMAP_LOCK,
	FS_OOM, FS_SIGBUS, FS_SIGSEGV, FS_HWPOISON, FS_OTHER_ERROR,
	NR_FAULT_STATS
};

extern const char * const fault_stat_names[NR_FAULT_STATS];

/**
 * struct fault_counts - the counters at one moment, or their growth
 * @stat: the files of fault/stats/; 0 where they read "unsupported"
 * @pgfault: /proc/vmstat
 * @pgmajfault: /proc/vmstat
 * @min_flt: getrusage() of this program and of the children it has reaped
 * @maj_flt: the same
 */
struct fault_counts {
	unsigned long long stat[NR_FAULT_STATS];
	unsigned long long pgfault, pgmajfault;
	unsigned long long min_flt, maj_flt;
};

/**
 * fault_read() - read all counters at one moment
 *
 * The files are read between two readings of pgfault, again and again until
 * both are equal: nothing faulted meanwhile, so all of them belong together.
 *
 * Return: 0, -EBUSY when the machine does not stop faulting, or -errno.
 */
int fault_read(struct fault_counts *c);

/** fault_read_stats() - read fault/stats/ alone, the rest is 0 */
int fault_read_stats(struct fault_counts *c);

/** fault_growth() - @to minus @from */
struct fault_counts fault_growth(const struct fault_counts *from,
				 const struct fault_counts *to);

/**
 * fault_known() - cause @pages faults and see what was counted
 *
 * Once more when the kernel counted others in between: another process, or this
 * one after a fork.
 *
 * Return: 0, -EBUSY when there are others every time, or -errno.
 */
int fault_known(size_t pages, struct fault_counts *growth);

/** fault_supported() - whether the file does not read "unsupported" */
bool fault_supported(enum fault_stat stat);

/** fault_print() - ktap_note() the counters that are not 0 */
void fault_print(const struct fault_counts *c);

/** fault_enable() - write @on to fault/enable. Return: 0 or -errno. */
int fault_enable(bool on);

/**
 * pgfault_counts_retries() - what this kernel means by pgfault
 *
 * Older kernels count a fault that has to be retried each time it is tried, newer
 * ones once, when it is done. Found by trial (a retried fault moves pgfault by more than
 * getrusage), not by version and not by asking mmkit.
 *
 * Return: 1 or 0, or -errno when it cannot be found out.
 */
int pgfault_counts_retries(void);

/**
 * mmkit_fresh() - unload both modules if they are loaded, then load mmkit_fault
 * @mechanism: what to choose for the hook, or NULL for the default
 *
 * Ends the program: as skipped where the module is not installed or this kernel
 * does not have @mechanism, as failed where loading fails.
 */
void mmkit_fresh(const char *mechanism);

/** mmkit_unload() - unload both modules. Return: 0 or -errno. */
int mmkit_unload(void);

/**
 * hook_read() - read a file of the hook of handle_mm_fault
 *
 * Return: @buf, which holds "" when the file cannot be read.
 */
const char *hook_read(const char *file, char *buf, size_t size);

/** hook_is() - whether a file of the hook reads @want */
bool hook_is(const char *file, const char *want);

/** hook_wait() - wait until hook_is(), at most @seconds */
bool hook_wait(const char *file, const char *want, unsigned int seconds);

/** hook_u64() - a counter of the hook; ends the program when it fails */
unsigned long long hook_u64(const char *file);

/** mechanism_available() - whether this kernel has @name */
bool mechanism_available(const char *name);

/**
 * mechanisms() - split the file "available"
 * @names: filled with up to @max names, without the brackets and without auto
 *
 * Return: how many there are.
 */
size_t mechanisms(char names[][32], size_t max);

#endif
