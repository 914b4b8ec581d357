/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KTAP version 1 for the guest tests.
 *
 * A program calls ktap_start() first, one of ktap_ok(), ktap_eq() and
 * ktap_skip() for each result, and returns ktap_finish() from main(). The plan
 * comes last, so a program that dies on the way is seen to have failed.
 */
#ifndef MMKIT_TESTS_KTAP_H
#define MMKIT_TESTS_KTAP_H

#include <stdbool.h>

enum ktap_exit {
	KTAP_PASS = 0,
	KTAP_FAIL = 1,
	KTAP_SKIP = 4,
};

#define KTAP_PRINTF(f, a)	__attribute__((format(printf, f, a)))

/**
 * ktap_start() - print the header and arm the watchdog
 * @seconds: after this time the program is killed and counts as failed
 *
 * The watchdog is a process of its own that sends SIGKILL: only that ends a
 * wait in the kernel that is killable but not interruptible.
 */
void ktap_start(unsigned int seconds);

/** ktap_note() - print a line of explanation ("# ...") */
void ktap_note(const char *fmt, ...) KTAP_PRINTF(1, 2);

/**
 * ktap_ok() - report one result
 * @pass: what was found
 * @fmt: the name of the case; the same in every run, so no measured values
 *
 * Return: @pass
 */
bool ktap_ok(bool pass, const char *fmt, ...) KTAP_PRINTF(2, 3);

/** ktap_eq() - ktap_ok(@got == @want), both printed when they differ */
bool ktap_eq(unsigned long long got, unsigned long long want,
	     const char *fmt, ...) KTAP_PRINTF(3, 4);

/** ktap_err() - ktap_ok(@got == @want) for return values 0 or -errno */
bool ktap_err(int got, int want, const char *fmt, ...) KTAP_PRINTF(3, 4);

/** ktap_skip() - report a case that cannot run here and say @why */
void ktap_skip(const char *why, const char *fmt, ...) KTAP_PRINTF(2, 3);

/** ktap_skip_all() - nothing can run here: say why and exit */
void ktap_skip_all(const char *fmt, ...)
	KTAP_PRINTF(1, 2) __attribute__((noreturn));

/** ktap_bail() - the test itself cannot go on: count as failed and exit */
void ktap_bail(const char *fmt, ...)
	KTAP_PRINTF(1, 2) __attribute__((noreturn));

/**
 * ktap_finish() - print the plan and disarm the watchdog
 *
 * Return: the exit status of the program.
 */
int ktap_finish(void);

#endif
