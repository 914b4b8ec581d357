/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMKIT_SYSFS_H
#define MMKIT_SYSFS_H

#include <linux/types.h>

struct dentry;
struct kobject;

/* What a file reads whose feature this kernel does not have. */
#define MMKIT_UNSUPPORTED	"unsupported\n"

extern struct kobject *mmkit_kobj;
extern struct dentry *mmkit_debugfs;

int mmkit_parse_bool(const char *buf, size_t count, bool *value);
u64 mmkit_epoch_advance(void);

#endif /* MMKIT_SYSFS_H */
