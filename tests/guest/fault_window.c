// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints what mmkit_fault and the kernel counted while something ran: the
 * guest's side of scripts/demo, not a test.
 *
 *	fault_window storm SECONDS THREADS
 *	fault_window run COMMAND [ARGUMENT]...
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/load.h"
#include "lib/mmkit.h"

extern char **environ;

static int usage(void)
{
	fputs("usage: fault_window storm SECONDS THREADS | run COMMAND...\n",
	      stderr);
	return 2;
}

/* threads of one process that fault while one of them changes its mappings */
static int storm(unsigned int seconds, unsigned int threads)
{
	struct load load;
	int ret;

	ret = load_start(&load, 1u << LOAD_STORM | 1u << LOAD_VMA, threads);
	if (ret) {
		fprintf(stderr, "load_start: %s\n", strerror(-ret));
		return 1;
	}
	sleep(seconds);
	return load_stop(&load) ? 0 : 1;
}

static int run(char **argv)
{
	int ret, status;
	pid_t pid;

	ret = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (ret) {
		fprintf(stderr, "%s: %s\n", argv[0], strerror(ret));
		return 1;
	}
	if (waitpid(pid, &status, 0) != pid)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void print(const struct fault_counts *d)
{
	unsigned int i;

	for (i = 0; i < NR_FAULT_STATS; i++) {
		if (fault_supported(i))
			printf("%s %llu\n", fault_stat_names[i], d->stat[i]);
		else
			printf("%s unsupported\n", fault_stat_names[i]);
	}
	printf("pgfault %llu\n", d->pgfault);
	printf("pgmajfault %llu\n", d->pgmajfault);
}

int main(int argc, char **argv)
{
	struct fault_counts from, to, growth;
	int ret, status;

	if (argc == 4 && !strcmp(argv[1], "storm"))
		status = fault_read(&from) ?: storm(atoi(argv[2]), atoi(argv[3]));
	else if (argc > 2 && !strcmp(argv[1], "run"))
		status = fault_read(&from) ?: run(argv + 2);
	else
		return usage();

	ret = fault_read(&to);
	if (ret || status < 0) {
		ret = ret ?: status;
		fprintf(stderr, "cannot read the counters: %s\n", strerror(-ret));
		return 1;
	}
	growth = fault_growth(&from, &to);
	print(&growth);
	return status;
}
