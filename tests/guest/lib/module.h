/* SPDX-License-Identifier: GPL-2.0-only */
/* Loading and unloading modules as an administrator does it. */
#ifndef MMKIT_TESTS_MODULE_H
#define MMKIT_TESTS_MODULE_H

#include <stdbool.h>

/**
 * module_load() - run modprobe
 * @name: the module
 * @params: one parameter ("enable=1"), or NULL
 *
 * Return: 0, -errno where modprobe's message names one, -ECHILD otherwise.
 */
int module_load(const char *name, const char *params);

/** module_insert() - load the module in the file @path (a test module) */
int module_insert(const char *path, const char *params);

/**
 * module_unload() - what rmmod does
 *
 * Return: 0, -EAGAIN when it is in use, -ENOENT when it is not loaded, or
 * another -errno.
 */
int module_unload(const char *name);

/** module_unload_wait() - the same, tried again while in use */
int module_unload_wait(const char *name, unsigned int seconds);

/** module_loaded() - whether it is there now */
bool module_loaded(const char *name);

#endif
