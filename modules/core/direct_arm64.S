/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trampolines of the direct mechanism. The function's site has called us: x30
 * is the address after the site, which the wrapper calls by itself, and x9 the
 * return address of the function's caller. Restore the latter and the wrapper
 * is called in the function's place.
 */

#include <linux/linkage.h>
#include <asm/assembler.h>

.macro DIRECT_TRAMPOLINE name, wrapper
	.balign 16
SYM_CODE_START(\name)
	hint	34			// bti c
	mov	x30, x9
	b	\wrapper
SYM_CODE_END(\name)
NOKPROBE(\name)
.endm

	.text
DIRECT_TRAMPOLINE mmkit_fault_trampoline, mmkit_fault_wrap
DIRECT_TRAMPOLINE mmkit_selftest_trampoline, mmkit_selftest_wrap
