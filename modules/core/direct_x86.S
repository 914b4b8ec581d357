/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trampolines of the direct mechanism. The function's site has called us: on
 * the stack are the address after the site, which the wrapper calls by itself,
 * and below it the return address of the function's caller. Drop the first and
 * the wrapper is called in the function's place.
 */

#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/unwind_hints.h>
#ifdef CONFIG_X86_KERNEL_IBT
#include <asm/ibt.h>
#else
#define ENDBR
#endif

.macro DIRECT_TRAMPOLINE name, wrapper
	.balign 16
SYM_CODE_START(\name)
	UNWIND_HINT_FUNC
	ENDBR
	addq	$8, %rsp
	UNWIND_HINT_FUNC
	jmp	\wrapper
	int3
SYM_CODE_END(\name)
_ASM_NOKPROBE(\name)
.endm

	.text
DIRECT_TRAMPOLINE mmkit_fault_trampoline, mmkit_fault_wrap
DIRECT_TRAMPOLINE mmkit_selftest_trampoline, mmkit_selftest_wrap
