// SPDX-License-Identifier: GPL-2.0-only
/*
 * Can a machine be saved from mmkit by its kernel command line, and is the
 * module parameter obeyed?
 *
 * mmkit-test: id=mmkit_rescue append="mmkit_disable" timeout=30
 * mmkit-test: id=mmkit_params timeout=60
 *
 * One program: /proc/cmdline says what has to happen.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "lib/file.h"
#include "lib/mmkit.h"
#include "lib/module.h"
#include "lib/util.h"

#define RESCUE		"mmkit_disable"

static bool on_command_line(void)
{
	char line[8192], *word, *save = NULL;

	if (file_read_line("/proc/cmdline", line, sizeof(line)) < 0)
		return false;
	for (word = strtok_r(line, " ", &save); word;
	     word = strtok_r(NULL, " ", &save))
		if (!strcmp(word, RESCUE))
			return true;
	return false;
}

static void check_rescue(void)
{
	ktap_err(module_load("mmkit", NULL), -ENODEV, "mmkit does not load");
	ktap_ok(!module_loaded("mmkit"), "mmkit is not there");
	ktap_ok(!file_exists(MMKIT), "its files are not there");
	ktap_ok(kernel_log_says("mmkit:", RESCUE), "the log names the cause");
	ktap_ok(module_load("mmkit_fault", "enable=1") < 0,
		"mmkit_fault does not load");
	ktap_ok(!module_loaded("mmkit_fault"), "mmkit_fault is not there");
}

static void check_mechanism(const char *name, bool available)
{
	char param[64], want[64], buf[256];

	snprintf(param, sizeof(param), "mechanism=%s", name);
	if (!available) {
		ktap_ok(module_load("mmkit", param) < 0, "%s: refused", param);
		ktap_ok(kernel_log_says("mmkit:", param), "%s: the log names it",
			param);
		mmkit_unload();
		return;
	}
	ktap_err(module_load("mmkit", param), 0, "%s: accepted", param);
	snprintf(want, sizeof(want), "[%s]", name);
	ktap_ok(strstr(hook_read("available", buf, sizeof(buf)), want),
		"%s: is the one chosen", param);
	ktap_err(module_load("mmkit_fault", "enable=1"), 0, "%s: enable=1",
		 param);
	hook_read("mechanism", buf, sizeof(buf));
	if (strcmp(name, "auto"))
		ktap_ok(!strcmp(buf, name), "%s: is the one attached", param);
	else
		ktap_ok(strcmp(buf, "none") && strcmp(buf, ""),
			"%s: something is attached", param);
	ktap_ok(hook_is("errno", "0"), "%s: errno is 0", param);
	ktap_err(mmkit_unload(), 0, "%s: unload", param);
}

static void check_params(void)
{
	static const char * const all[] = {
		"auto", "redirect", "direct", "fprobe", "kretprobe",
	};
	static const char * const wrong[] = {
		"mechanism=", "mechanism=none", "mechanism=Redirect",
		"mechanism=redirect,direct", "mechanism=1",
	};
	bool available[ARRAY_SIZE(all)];
	char version[64];
	size_t i;

	mmkit_fresh(NULL);
	ktap_ok(file_read_line(MMKIT "version", version,
			       sizeof(version)) > 0, "version");
	for (i = 0; i < ARRAY_SIZE(all); i++)
		available[i] = mechanism_available(all[i]);
	ktap_ok(available[1], "redirect works on this kernel");
	ktap_ok(available[4], "kretprobe works on this kernel");
	ktap_err(mmkit_unload(), 0, "unload");
	for (i = 0; i < ARRAY_SIZE(all); i++)
		check_mechanism(all[i], available[i]);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		ktap_err(module_load("mmkit", wrong[i]), -EINVAL, "%s: refused",
			 wrong[i]);
		ktap_ok(!module_loaded("mmkit"), "%s: not loaded", wrong[i]);
	}
	/* part of a word is not the word */
	ktap_ok(!kernel_log_says("mmkit: not loaded", RESCUE),
		"the rescue is not taken without being asked for");
}

int main(void)
{
	ktap_start(150);
	if (on_command_line()) {
		check_rescue();
	} else {
		check_params();
		ktap_err(mmkit_unload(), 0, "unload");
	}
	return ktap_finish();
}
