// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ktap.h"
#include "file.h"
#include "load.h"
#include "module.h"
#include "util.h"

#define STOP_SECONDS	60

const char * const load_names[NR_LOADS] = {
	"storm", "vma", "fork", "file_private", "file_shared", "uffd", "remote",
	"kernel", "populate", "instruction", "exec", "stack", "error", "kill",
	"huge", "disk",
};

static bool disk_loaded;

int load_start(struct load *load, unsigned int kinds, unsigned int threads)
{
	int kind;

	memset(load, 0, sizeof(*load));
	load->share = mmap(NULL, sizeof(*load->share), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (load->share == MAP_FAILED)
		return -errno;
	for (kind = 0; kind < NR_LOADS; kind++) {
		if (!(kinds & (1u << kind)))
			continue;
		load->pid[kind] = fork_child();
		if (load->pid[kind] < 0)
			return -errno;
		if (!load->pid[kind])
			_exit(-load_fns[kind](load->share, threads));
	}
	return 0;
}

bool load_stop(struct load *load)
{
	bool good = true;
	int kind, status;

	load->share->stop = true;
	for (kind = 0; kind < NR_LOADS; kind++) {
		if (!load->pid[kind])
			continue;
		status = wait_child(load->pid[kind], STOP_SECONDS);
		if (status >= 0 && WIFEXITED(status)) {
			load->ret[kind] = -WEXITSTATUS(status);
		} else {
			if (status >= 0)
				ktap_note("load %s: killed by signal %d",
					  load_names[kind], WTERMSIG(status));
			else
				ktap_note("load %s: does not stop",
					  load_names[kind]);
			kill(load->pid[kind], SIGKILL);
			load->ret[kind] = -EIO;
		}
		if (load->ret[kind] && load->ret[kind] != -EOPNOTSUPP) {
			ktap_note("load %s: %s", load_names[kind],
				  strerror(-load->ret[kind]));
			good = false;
		}
	}
	return good;
}

unsigned long long load_rounds(const struct load *load, enum load_kind kind)
{
	return load->share->rounds[kind];
}

int load_prepare_disk(void)
{
	int ret;

	if (file_exists(LOAD_DISK_PATH))
		return 0;
	ret = module_load("brd", "rd_nr=1");
	if (ret)
		return ret;
	disk_loaded = true;
	return file_exists(LOAD_DISK_PATH) ? 0 : -ENODEV;
}

void load_release_disk(void)
{
	if (disk_loaded)
		module_unload_wait("brd", 5);
	disk_loaded = false;
}
