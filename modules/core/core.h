/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMKIT_CORE_H
#define MMKIT_CORE_H

/* What the files of mmkit.ko share with each other, and with nobody else. */

#include <linux/mm_types.h>

#include <mmkit/hook.h>

struct pt_regs;

/* Calls that a probe can follow at once, those of sleeping tasks too. */
#define MMKIT_PROBE_MAXACTIVE	1024

/**
 * struct mmkit_mechanism - one way to attach to a function
 * @name: as users write it
 * @exact: every entry and every exit is counted
 * @guarded: stops without a word when ftrace is switched off, see
 *	mmkit_ftrace_guard_get()
 * @prepare: once per hook, before the first attach; sets what stays set
 * @attach: from now on, new calls of the function are seen
 * @detach: no new call is seen any more; returns a negative errno when the
 *	kernel refuses, and then nothing has changed
 * @release: undoes @prepare
 *
 * Any of them may be NULL. Without @attach the kernel lacks the mechanism; what
 * could not be prepared is not attached either.
 * Context: process, hook->lock held or the hook not yet visible; may sleep.
 */
struct mmkit_mechanism {
	const char *name;
	bool exact;
	bool guarded;
	int (*prepare)(struct mmkit_hook *hook);
	int (*attach)(struct mmkit_hook *hook);
	int (*detach)(struct mmkit_hook *hook);
	void (*release)(struct mmkit_hook *hook);
};

extern const struct mmkit_mechanism mmkit_redirect;
extern const struct mmkit_mechanism mmkit_direct;
extern const struct mmkit_mechanism mmkit_fprobe;
extern const struct mmkit_mechanism mmkit_kretprobe;
extern const struct mmkit_mechanism *const mmkit_mechanisms[MMKIT_MECHANISMS];

/* mechanism.c */
void mmkit_mechanisms_found(unsigned long works);
bool mmkit_mechanism_works(enum mmkit_mechanism_id id);
bool mmkit_mechanism_suits(struct mmkit_hook *hook, enum mmkit_mechanism_id id);
bool mmkit_mechanisms_usable(struct mmkit_hook *hook);
int mmkit_mechanism_parse(const char *name);
void mmkit_mechanisms_prepare(struct mmkit_hook *hook);
void mmkit_mechanisms_release(struct mmkit_hook *hook);

/* selftest.c */
unsigned long mmkit_selftest(void);
unsigned long mmkit_selftest_target(unsigned long a, unsigned long b,
				    unsigned long c, unsigned long d);

/* guard.c */
void mmkit_ftrace_guard_init(void);
void mmkit_ftrace_guard_exit(void);
int mmkit_ftrace_guard_get(void);
void mmkit_ftrace_guard_put(void);
void mmkit_guard_target(void);

/* hook.c */
int mmkit_hooks_init(const char *mechanism);
void mmkit_hooks_exit(void);
void mmkit_hook_init(struct mmkit_hook *hook);
void mmkit_hook_exit(struct mmkit_hook *hook);
int mmkit_hook_choose(struct mmkit_hook *hook, enum mmkit_mechanism_id id);
u64 mmkit_hook_hits(struct mmkit_hook *hook);
u64 mmkit_hook_missed(struct mmkit_hook *hook);
u64 mmkit_hook_lost(struct mmkit_hook *hook);

/* hook_sysfs.c */
int mmkit_hook_sysfs_init(void);
void mmkit_hook_sysfs_exit(void);
int mmkit_hook_sysfs_add(struct mmkit_hook *hook);
void mmkit_hook_sysfs_remove(struct mmkit_hook *hook);

/* fault_wrap.c */
int mmkit_fault_wrap_init(void);
void mmkit_fault_wrap_exit(void);

/* Called by the trampolines below, and they by ftrace sites. */
vm_fault_t mmkit_fault_wrap(struct vm_area_struct *vma, unsigned long address,
			    unsigned int flags, struct pt_regs *regs);
unsigned long mmkit_selftest_wrap(unsigned long a, unsigned long b,
				  unsigned long c, unsigned long d);

/* direct_x86.S, direct_arm64.S */
void mmkit_fault_trampoline(void);
void mmkit_selftest_trampoline(void);

/* sysfs.c */
int mmkit_sysfs_init(void);
void mmkit_sysfs_exit(void);

#endif /* MMKIT_CORE_H */
