/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMKIT_SITE_H
#define MMKIT_SITE_H

/*
 * A traceable function starts with a few bytes that ftrace patches: its site.
 * A wrapper that is called in the function's place goes on after them.
 */

#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#if defined(CONFIG_X86_64)

#define MMKIT_SITE_BYTES	5

/*
 * mmkit_find_site() - where ftrace patches the function at @addr
 *
 * [endbr64, or what the kernel seals it with,] then a 5-byte nop, or the call,
 * the jump or the breakpoint that somebody has put there by now. That it is
 * one of ftrace's own sites is checked by ftrace_set_filter_ip().
 */
static inline unsigned long mmkit_find_site(unsigned long addr)
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

/* The wrapper calls the body by a static call: a direct branch. */
#ifdef CONFIG_HAVE_STATIC_CALL_INLINE
#define MMKIT_CAN_WRAP	1
#endif

#elif defined(CONFIG_ARM64)

#define MMKIT_SITE_BYTES	4

/*
 * mmkit_find_site() - where ftrace patches the function at @addr
 *
 * [bti c or paciasp,] mov x9, x30 (a nop until first used), then the site: a
 * nop, or a bl. See arch/arm64/kernel/ftrace.c.
 */
static inline unsigned long mmkit_find_site(unsigned long addr)
{
	const u32 *insn = (const u32 *)addr;

	if (insn[0] == 0xd503245f || insn[0] == 0xd503233f)
		insn++;
	if (insn[0] != 0xaa1e03e9 && insn[0] != 0xd503201f)
		return 0;
	if (insn[1] != 0xd503201f && (insn[1] & 0xfc000000) != 0x94000000)
		return 0;
	return (unsigned long)(insn + 1);
}

/*
 * The wrapper calls the body through a pointer, into the middle of the
 * function: neither a BTI landing pad nor a kCFI type hash is there.
 */
#if !defined(CONFIG_ARM64_BTI_KERNEL) && !defined(CONFIG_CFI_CLANG) && \
	!defined(CONFIG_CFI)
#define MMKIT_CAN_WRAP	1
#endif

#else

#define MMKIT_SITE_BYTES	0

static inline unsigned long mmkit_find_site(unsigned long addr)
{
	return 0;
}

#endif

#if defined(MMKIT_CAN_WRAP) && defined(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS)
#define MMKIT_HAS_TRAMPOLINES	1
#endif

#endif /* MMKIT_SITE_H */
