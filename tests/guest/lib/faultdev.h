/* SPDX-License-Identifier: GPL-2.0-only */
/* The test module whose pages answer a fault as they are told. */
#ifndef MMKIT_TESTS_FAULTDEV_H
#define MMKIT_TESTS_FAULTDEV_H

#include <stddef.h>

#include "../../kmod/mmkit_test_fault.h"

#define TEST_MODULES	"/lib/mmkit-test/"

/**
 * faultdev_map() - map @pages that answer with @what; loads the module
 * @fd: where to put the device's descriptor, which the caller closes
 *
 * Return: the pages; NULL and errno otherwise (ENOENT: no such module here).
 */
char *faultdev_map(enum mmkit_test_fault what, size_t pages, int *fd);

/** faultdev_blocked() - how many faults are blocked now, or -errno */
int faultdev_blocked(int fd);

/** faultdev_release() - let all blocked faults go on. Return: 0 or -errno. */
int faultdev_release(int fd);

/** faultdev_unload() - remove the module */
void faultdev_unload(void);

#endif
