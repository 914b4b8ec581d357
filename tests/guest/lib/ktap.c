// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../ktap.h"

static unsigned int nr_done, nr_failed, nr_skipped;
static pid_t watchdog;

static void watch(pid_t parent, unsigned int seconds)
{
	static const char text[] =
		"# watchdog: out of time\nBail out! timed out\n";

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	while (seconds)
		seconds = sleep(seconds);
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		_exit(1);
	kill(parent, SIGKILL);
	_exit(0);
}

void ktap_start(unsigned int seconds)
{
	pid_t self = getpid();

	setvbuf(stdout, NULL, _IOLBF, 0);
	/* whoever started us may ignore it, and exec() passes that on */
	signal(SIGCHLD, SIG_DFL);
	puts("KTAP version 1");
	fflush(stdout);
	watchdog = fork();
	if (!watchdog)
		watch(self, seconds);
	if (watchdog < 0)
		ktap_bail("fork: %s", strerror(errno));
}

static void end_watchdog(void)
{
	if (watchdog <= 0)
		return;
	kill(watchdog, SIGKILL);
	waitpid(watchdog, NULL, 0);
	watchdog = 0;
}

void ktap_note(const char *fmt, ...)
{
	va_list ap;

	fputs("# ", stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static void result(bool pass, const char *fmt, va_list ap)
{
	nr_done++;
	if (!pass)
		nr_failed++;
	printf("%s %u ", pass ? "ok" : "not ok", nr_done);
	vprintf(fmt, ap);
}

bool ktap_ok(bool pass, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	result(pass, fmt, ap);
	va_end(ap);
	putchar('\n');
	return pass;
}

bool ktap_eq(unsigned long long got, unsigned long long want,
	     const char *fmt, ...)
{
	va_list ap;

	if (got != want)
		ktap_note("got %llu, expected %llu (%+lld)", got, want,
			  (long long)(got - want));
	va_start(ap, fmt);
	result(got == want, fmt, ap);
	va_end(ap);
	putchar('\n');
	return got == want;
}

bool ktap_err(int got, int want, const char *fmt, ...)
{
	va_list ap;

	if (got != want)
		ktap_note("got %s (%d), expected %s (%d)",
			  got < 0 ? strerror(-got) : "success", got,
			  want < 0 ? strerror(-want) : "success", want);
	va_start(ap, fmt);
	result(got == want, fmt, ap);
	va_end(ap);
	putchar('\n');
	return got == want;
}

void ktap_skip(const char *why, const char *fmt, ...)
{
	va_list ap;

	nr_skipped++;
	va_start(ap, fmt);
	result(true, fmt, ap);
	va_end(ap);
	printf(" # SKIP %s\n", why);
}

void ktap_skip_all(const char *fmt, ...)
{
	va_list ap;

	fputs("1..0 # SKIP ", stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	end_watchdog();
	exit(KTAP_SKIP);
}

void ktap_bail(const char *fmt, ...)
{
	va_list ap;

	fputs("Bail out! ", stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	end_watchdog();
	exit(KTAP_FAIL);
}

int ktap_finish(void)
{
	printf("1..%u\n", nr_done);
	end_watchdog();
	if (nr_failed)
		return KTAP_FAIL;
	return nr_done == nr_skipped ? KTAP_SKIP : KTAP_PASS;
}
