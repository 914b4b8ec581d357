// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where ftrace patches a function.
 */

#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include "site.h"

/* Asked for a filter, and never registered. */
static struct ftrace_ops site_ops;
static DEFINE_MUTEX(site_lock);

/* Is there exactly one of ftrace's own sites? */
static bool is_site(unsigned long addr)
{
	bool found;

	mutex_lock(&site_lock);
	found = !ftrace_set_filter_ip(&site_ops, addr, 0, 1);
	ftrace_set_filter(&site_ops, NULL, 0, 1);
	mutex_unlock(&site_lock);
	return found;
}

#if defined(CONFIG_X86_64)

/*
 * [endbr64, or what the kernel seals it with,] then a 5-byte nop, or the call,
 * the jump or the breakpoint that somebody has put there by now. ftrace takes
 * a function's address for that of its site, so ask it only once the bytes say
 * where the site is.
 */
static unsigned long find_site(unsigned long addr)
{
	static const u8 endbr[][4] = {
		{ 0xf3, 0x0f, 0x1e, 0xfa },	/* endbr64 */
		{ 0x66, 0x0f, 0x1f, 0x00 },	/* sealed, 5.18 and later */
		{ 0x0f, 0x1f, 0x40, 0xd6 },	/* sealed, 6.15 and later */
	};
	static const u8 nop[][MMKIT_SITE_BYTES] = {
		{ 0x0f, 0x1f, 0x44, 0x00, 0x00 },
		{ 0x66, 0x66, 0x66, 0x66, 0x90 },
		{ 0x3e, 0x8d, 0x74, 0x26, 0x00 },
	};
	const u8 *insn = (const u8 *)addr;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(endbr); i++)
		if (!memcmp(insn, endbr[i], sizeof(endbr[i]))) {
			insn += sizeof(endbr[i]);
			break;
		}
	for (i = 0; i < ARRAY_SIZE(nop); i++)
		if (!memcmp(insn, nop[i], sizeof(nop[i])))
			return (unsigned long)insn;
	switch (*insn) {
	case 0xe8:	/* call */
	case 0xe9:	/* jmp */
	case 0xcc:	/* int3, while the site is being patched */
		return (unsigned long)insn;
	}
	return 0;
}

#elif defined(CONFIG_ARM64)

/*
 * [bti c,] mov x9, x30 (a nop until first used), then the site
 * (arch/arm64/kernel/ftrace.c). A kprobe replaces the first of these, so do
 * not look at them: ftrace knows a site inside a function by its address alone.
 */
static unsigned long find_site(unsigned long addr)
{
	return is_site(addr + 4) ? addr + 4 : addr + 8;
}

#else

static unsigned long find_site(unsigned long addr)
{
	return 0;
}

#endif

/**
 * mmkit_find_site() - where ftrace patches a function
 * @addr: of the function
 *
 * Context: process; may sleep.
 * Return: address of the site, 0 when the function is not traceable.
 */
unsigned long mmkit_find_site(unsigned long addr)
{
	unsigned long site = find_site(addr);

	return site && is_site(site) ? site : 0;
}
