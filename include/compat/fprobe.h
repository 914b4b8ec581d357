/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMKIT_COMPAT_FPROBE_H
#define MMKIT_COMPAT_FPROBE_H

#include <generated/mmkit_compat.h>

#if defined(HAVE_FPROBE_FTRACE_REGS) || defined(HAVE_FPROBE_PT_REGS)
#define MMKIT_HAVE_FPROBE	1

#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/ptrace.h>

/* What an fprobe's handlers are given. */
#ifdef HAVE_FPROBE_FTRACE_REGS
typedef struct ftrace_regs mmkit_fprobe_regs;
#define MMKIT_FPROBE_MAXACTIVE(nr)
#define mmkit_fprobe_arg(regs, n)	ftrace_regs_get_argument(regs, n)
#define mmkit_fprobe_return(regs)	ftrace_regs_get_return_value(regs)
#else
typedef struct pt_regs mmkit_fprobe_regs;
/* Calls that can be inside at once; by default two per CPU. */
#define MMKIT_FPROBE_MAXACTIVE(nr)	.nr_maxactive = (nr),
#define mmkit_fprobe_arg(regs, n)	regs_get_kernel_argument(regs, n)
#define mmkit_fprobe_return(regs)	regs_return_value(regs)
#endif

#endif /* fprobe */

#endif /* MMKIT_COMPAT_FPROBE_H */
