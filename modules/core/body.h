/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMKIT_BODY_H
#define MMKIT_BODY_H

/*
 * A wrapper's call of the function that it wraps: an address inside of it, not
 * known before the module is loaded, and set once by its initialisation. Where
 * the architecture has static calls it is a direct branch, which no IBT, kCFI or
 * retpoline has anything to say about; elsewhere a pointer that is read-only by
 * the time it is used.
 */

#include <linux/cache.h>
#include <linux/static_call.h>

#ifdef CONFIG_HAVE_STATIC_CALL

#define MMKIT_DEFINE_BODY(name, func)	DEFINE_STATIC_CALL(name, func)
#define mmkit_body(name)		static_call(name)
#define mmkit_set_body(name, addr)					\
	static_call_update(name,					\
			   (typeof(STATIC_CALL_TRAMP(name)) *)(addr))

#else

#define MMKIT_DEFINE_BODY(name, func)					\
	static typeof(func) *name __ro_after_init = func
#define mmkit_body(name)		(*(name))
#define mmkit_set_body(name, addr)	((name) = (typeof(name))(addr))

#endif

#endif /* MMKIT_BODY_H */
