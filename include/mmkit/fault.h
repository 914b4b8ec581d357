/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMKIT_FAULT_H
#define MMKIT_FAULT_H

#include <linux/mm_types.h>
#include <linux/types.h>

#include <compat/fault_flags.h>
#include <mmkit/histogram.h>

struct mmkit_hook;
struct pt_regs;

/*
 * What handle_mm_fault() was asked, as six bits: the class of a fault. Counting
 * by class and outcome, one increment per fault, keeps every sum rule true at
 * any moment: whatever is shown is a sum over cells.
 */
#define MMKIT_FAULT_WRITE	0x01
#define MMKIT_FAULT_TRIED	0x02
#define MMKIT_FAULT_USER	0x04
#define MMKIT_FAULT_REMOTE	0x08
#define MMKIT_FAULT_INSTRUCTION	0x10
#define MMKIT_FAULT_VMA_LOCK	0x20
#define MMKIT_FAULT_CLASSES	0x40

enum mmkit_fault_outcome {
	MMKIT_FAULT_DONE,	/* handled; minor unless tried before */
	MMKIT_FAULT_MAJOR,	/* handled, with I/O */
	MMKIT_FAULT_RETRY,	/* not handled: to be tried again */
	MMKIT_FAULT_RETRY_LOCKED, /* the same; comes back as an untried fault */
	MMKIT_FAULT_OOM,
	MMKIT_FAULT_SIGBUS,
	MMKIT_FAULT_SIGSEGV,
	MMKIT_FAULT_HWPOISON,
	MMKIT_FAULT_OTHER,	/* an error that has no name above */
	MMKIT_FAULT_OUTCOMES,
};

/**
 * struct mmkit_fault_counts - all faults since mmkit was loaded
 * @cell: by outcome and class
 */
struct mmkit_fault_counts {
	u64 cell[MMKIT_FAULT_OUTCOMES][MMKIT_FAULT_CLASSES];
};

/**
 * struct mmkit_fault_event - one call of handle_mm_fault() that has returned
 * @address: that faulted
 * @regs: of the access; NULL when the fault was not raised by one
 * @flags: FAULT_FLAG_*
 * @ret: VM_FAULT_*
 * @cycles: spent in handle_mm_fault(), waiting included; mmkit_cycles() units
 *
 * The VMA is not here: it may be gone when a fault returns.
 */
struct mmkit_fault_event {
	unsigned long address;
	struct pt_regs *regs;
	unsigned int flags;
	vm_fault_t ret;
	u64 cycles;
};

/**
 * struct mmkit_fault_observer - a feature that sees each fault
 * @fault: called when handle_mm_fault() returns. Context: process, preemption
 *	off, RCU read side; must not sleep
 */
struct mmkit_fault_observer {
	void (*fault)(const struct mmkit_fault_event *event);
};

/* Does this kernel have per-VMA locks? */
#define MMKIT_FAULT_HAS_VMA_LOCK \
	(IS_ENABLED(CONFIG_PER_VMA_LOCK) && MMKIT_FAULT_FLAG_VMA_LOCK)

extern struct mmkit_hook mmkit_fault_hook;

void mmkit_fault_read_counts(struct mmkit_fault_counts *counts);
void mmkit_fault_read_latency(u64 counts[MMKIT_HIST_BUCKETS]);
void mmkit_fault_set_observer(const struct mmkit_fault_observer *observer);

#endif /* MMKIT_FAULT_H */
