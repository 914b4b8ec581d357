/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMKIT_CLOCK_H
#define MMKIT_CLOCK_H

#include <linux/math64.h>
#include <linux/timex.h>
#include <linux/types.h>

#if defined(CONFIG_X86_64)
#include <asm/msr.h>
#include <asm/tsc.h>
#elif defined(CONFIG_ARM64)
#include <asm/sysreg.h>
#endif

/**
 * mmkit_cycles() - read the CPU's free-running counter
 *
 * The raw counter, unordered: the cheapest clock there is. It is turned into
 * time only when somebody reads a result. On x86 the TSC, on arm64 the virtual
 * counter, which ticks at 25 MHz or so on much hardware: that tick is then the
 * resolution of every latency.
 *
 * Context: any.
 * Return: counter value, in units of mmkit_cycles_khz().
 */
static __always_inline u64 mmkit_cycles(void)
{
#if defined(CONFIG_X86_64)
	return rdtsc();
#elif defined(CONFIG_ARM64)
	return read_sysreg(cntvct_el0);
#else
	return get_cycles();
#endif
}

/**
 * mmkit_cycles_khz() - frequency of mmkit_cycles()
 *
 * Context: any.
 * Return: kHz; 0 when it is not known.
 */
static inline u32 mmkit_cycles_khz(void)
{
#if defined(CONFIG_X86_64)
	return tsc_khz;
#elif defined(CONFIG_ARM64)
	return read_sysreg(cntfrq_el0) / 1000;
#else
	return 0;
#endif
}

/**
 * mmkit_cycles_to_ns() - convert a counter difference
 * @cycles: difference of two mmkit_cycles()
 *
 * Context: any.
 * Return: nanoseconds; 0 when the frequency is not known.
 */
static inline u64 mmkit_cycles_to_ns(u64 cycles)
{
	u32 khz = mmkit_cycles_khz();

	return khz ? mul_u64_u32_div(cycles, 1000000, khz) : 0;
}

#endif /* MMKIT_CLOCK_H */
