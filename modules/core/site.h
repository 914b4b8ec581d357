/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMKIT_SITE_H
#define MMKIT_SITE_H

/*
 * A traceable function starts with a few bytes that ftrace patches: its site.
 * A wrapper that is called in the function's place goes on after them.
 */

#if defined(CONFIG_X86_64)

#define MMKIT_SITE_BYTES	5

/* The wrapper calls the body by a static call: a direct branch. */
#ifdef CONFIG_HAVE_STATIC_CALL_INLINE
#define MMKIT_CAN_WRAP	1
#endif

#elif defined(CONFIG_ARM64)

#define MMKIT_SITE_BYTES	4

/*
 * The wrapper calls the body through a pointer, into the middle of the
 * function: neither a BTI landing pad nor a kCFI type hash is there.
 */
#if !defined(CONFIG_ARM64_BTI_KERNEL) && !defined(CONFIG_CFI_CLANG) && \
	!defined(CONFIG_CFI)
#define MMKIT_CAN_WRAP	1
#endif

#endif

#if defined(MMKIT_CAN_WRAP) && defined(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS)
#define MMKIT_HAS_TRAMPOLINES	1
#endif

unsigned long mmkit_find_site(unsigned long addr);

#endif /* MMKIT_SITE_H */
