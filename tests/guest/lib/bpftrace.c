// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ktap.h"
#include "bpftrace.h"
#include "util.h"

/*
 * By the guest's clock. Where that counts instructions it leaps ahead whenever
 * bpftrace waits for the disk, so this is far more than it ever takes.
 */
#define START_SECONDS	1800
#define STOP_SECONDS	30
#define TICK		"tick"

/* returns false at the end of the output or after @seconds */
static bool read_more(struct bpftrace *b, unsigned int seconds)
{
	struct pollfd pfd = { .fd = b->fd, .events = POLLIN };
	ssize_t n;

	if (poll(&pfd, 1, seconds * 1000) <= 0 ||
	    b->len == sizeof(b->text) - 1)
		return false;
	n = read(b->fd, b->text + b->len, sizeof(b->text) - 1 - b->len);
	if (n <= 0)
		return false;
	b->len += n;
	b->text[b->len] = '\0';
	return true;
}

/* the ticks would fill the text */
static void forget_ticks(struct bpftrace *b)
{
	char *at;

	while ((at = strstr(b->text, TICK "\n"))) {
		memmove(at, at + strlen(TICK "\n"),
			strlen(at + strlen(TICK "\n")) + 1);
		b->len -= strlen(TICK "\n");
	}
}

/*
 * The interval comes last in the program: once it fires, all that is before it
 * has been attached.
 */
int bpftrace_start(struct bpftrace *b, const char *probes)
{
	unsigned long long end = now_ns() + START_SECONDS * NSEC_PER_SEC;
	char program[1024];
	int out[2];

	snprintf(program, sizeof(program),
		 "%s interval:ms:500 { printf(\"" TICK "\\n\"); }", probes);
	memset(b, 0, sizeof(*b));
	if (pipe2(out, O_CLOEXEC))
		return -errno;
	b->pid = fork_child();
	if (!b->pid) {
		dup2(out[1], STDOUT_FILENO);
		dup2(out[1], STDERR_FILENO);
		execlp("bpftrace", "bpftrace", "-B", "none", "-e", program,
		       NULL);
		_exit(127);
	}
	close(out[1]);
	b->fd = out[0];
	while (now_ns() < end) {
		if (strstr(b->text, TICK "\n"))
			return 0;
		if (!read_more(b, 1) && waitpid(b->pid, NULL, WNOHANG)) {
			close(b->fd);
			return -EBUSY;
		}
	}
	kill(b->pid, SIGKILL);
	wait_child(b->pid, STOP_SECONDS);
	close(b->fd);
	return -ETIMEDOUT;
}

bool bpftrace_stop(struct bpftrace *b)
{
	kill(b->pid, SIGINT);
	while (read_more(b, STOP_SECONDS))
		forget_ticks(b);
	close(b->fd);
	return wait_child(b->pid, STOP_SECONDS) >= 0;
}

long bpftrace_value(const struct bpftrace *b, const char *map)
{
	char key[64];
	const char *at;

	snprintf(key, sizeof(key), "@%s: ", map);
	at = strstr(b->text, key);
	return at ? atol(at + strlen(key)) : -1;
}

void bpftrace_print(const struct bpftrace *b)
{
	const char *at, *end;
	char line[256];

	for (at = b->text; *at; at = *end ? end + 1 : end) {
		end = at + strcspn(at, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)(end - at), at);
		if (*line && strcmp(line, TICK))
			ktap_note("bpftrace: %s", line);
	}
}
