/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMKIT_COMPAT_KRETPROBE_H
#define MMKIT_COMPAT_KRETPROBE_H

#include <generated/mmkit_compat.h>
#include <linux/kprobes.h>

/* The kretprobe of a return instance; NULL once it has been unregistered. */
static inline struct kretprobe *
mmkit_kretprobe_of(struct kretprobe_instance *ri)
{
#ifdef HAVE_GET_KRETPROBE
	return get_kretprobe(ri);
#else
	return ri->rp;
#endif
}

#endif /* MMKIT_COMPAT_KRETPROBE_H */
