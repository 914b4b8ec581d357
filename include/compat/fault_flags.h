/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMKIT_COMPAT_FAULT_FLAGS_H
#define MMKIT_COMPAT_FAULT_FLAGS_H

#include <generated/mmkit_compat.h>
#include <linux/mm.h>

/* The fault holds its VMA's lock, not the mmap lock. 0: no such locks here. */
#ifdef HAVE_FAULT_FLAG_VMA_LOCK
#define MMKIT_FAULT_FLAG_VMA_LOCK	FAULT_FLAG_VMA_LOCK
#define MMKIT_FAULT_FLAG_VMA_LOCK_NAME(entry)				\
	entry(FAULT_FLAG_VMA_LOCK, "VMA_LOCK")
#else
#define MMKIT_FAULT_FLAG_VMA_LOCK	0
#define MMKIT_FAULT_FLAG_VMA_LOCK_NAME(entry)
#endif

#endif /* MMKIT_COMPAT_FAULT_FLAGS_H */
