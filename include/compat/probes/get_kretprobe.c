// SPDX-License-Identifier: GPL-2.0-only
/* get_kretprobe() (5.11): the kretprobe of a return instance, or NULL. */
#include <linux/kprobes.h>

struct kretprobe *mmkit_probe(struct kretprobe_instance *ri);
struct kretprobe *mmkit_probe(struct kretprobe_instance *ri)
{
	return get_kretprobe(ri);
}
