/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM mmkit_fault

#if !defined(MMKIT_FAULT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define MMKIT_FAULT_TRACE_H

#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/tracepoint.h>

#include <mmkit/clock.h>
#include <mmkit/fault.h>

#ifndef MMKIT_FAULT_TRACE_DECLS
#define MMKIT_FAULT_TRACE_DECLS
int fault_trace_reg(void);
void fault_trace_unreg(void);
#endif

#ifndef MMKIT_FAULT_TRACE_NAMES
#define MMKIT_FAULT_TRACE_NAMES
#define FAULT_FLAGS(entry, last)					\
	entry(FAULT_FLAG_WRITE, "WRITE")				\
	entry(FAULT_FLAG_MKWRITE, "MKWRITE")				\
	entry(FAULT_FLAG_ALLOW_RETRY, "ALLOW_RETRY")			\
	entry(FAULT_FLAG_RETRY_NOWAIT, "RETRY_NOWAIT")			\
	entry(FAULT_FLAG_KILLABLE, "KILLABLE")				\
	entry(FAULT_FLAG_TRIED, "TRIED")				\
	entry(FAULT_FLAG_USER, "USER")					\
	entry(FAULT_FLAG_REMOTE, "REMOTE")				\
	entry(FAULT_FLAG_INSTRUCTION, "INSTRUCTION")			\
	MMKIT_FAULT_FLAG_VMA_LOCK_NAME(entry)				\
	last(FAULT_FLAG_INTERRUPTIBLE, "INTERRUPTIBLE")

#define FAULT_RESULTS(entry, last)					\
	entry(RESULT_OOM, "OOM")					\
	entry(RESULT_SIGBUS, "SIGBUS")					\
	entry(RESULT_MAJOR, "MAJOR")					\
	entry(RESULT_HWPOISON, "HWPOISON")				\
	entry(RESULT_HWPOISON_LARGE, "HWPOISON_LARGE")			\
	entry(RESULT_SIGSEGV, "SIGSEGV")				\
	entry(RESULT_NOPAGE, "NOPAGE")					\
	entry(RESULT_LOCKED, "LOCKED")					\
	entry(RESULT_RETRY, "RETRY")					\
	entry(RESULT_FALLBACK, "FALLBACK")				\
	entry(RESULT_DONE_COW, "DONE_COW")				\
	last(RESULT_NEEDDSYNC, "NEEDDSYNC")

/* VM_FAULT_* as plain integers, which an event's format can show. */
#define RESULT(name)	RESULT_##name = (__force int)VM_FAULT_##name
enum {
	RESULT(OOM),
	RESULT(SIGBUS),
	RESULT(MAJOR),
	RESULT(HWPOISON),
	RESULT(HWPOISON_LARGE),
	RESULT(SIGSEGV),
	RESULT(NOPAGE),
	RESULT(LOCKED),
	RESULT(RETRY),
	RESULT(FALLBACK),
	RESULT(DONE_COW),
	RESULT(NEEDDSYNC),
};

#define NAME_AND_MORE(value, name)	{ value, name },
#define NAME_LAST(value, name)		{ value, name }
#define BY_VALUE(value, name)		TRACE_DEFINE_ENUM(value);
#endif /* MMKIT_FAULT_TRACE_NAMES */

/* perf and trace-cmd cannot know the enums' values by their names. */
FAULT_FLAGS(BY_VALUE, BY_VALUE)
FAULT_RESULTS(BY_VALUE, BY_VALUE)

/*
 * One call of handle_mm_fault() that has returned. ip is that of the access, 0
 * when no instruction raised the fault (get_user_pages(), for one).
 */
TRACE_EVENT_FN(fault,
	TP_PROTO(const struct mmkit_fault_event *event),
	TP_ARGS(event),
	TP_STRUCT__entry(
		__field(unsigned long, address)
		__field(unsigned long, ip)
		__field(unsigned int, flags)
		__field(unsigned int, ret)
		__field(u64, latency_ns)
	),
	TP_fast_assign(
		__entry->address = event->address;
		__entry->ip = event->regs ? instruction_pointer(event->regs) : 0;
		__entry->flags = event->flags;
		__entry->ret = (__force unsigned int)event->ret;
		__entry->latency_ns = mmkit_cycles_to_ns(event->cycles);
	),
	TP_printk("address=0x%lx ip=0x%lx flags=%s ret=%s latency_ns=%llu",
		  __entry->address, __entry->ip,
		  __print_flags(__entry->flags, "|",
				FAULT_FLAGS(NAME_AND_MORE, NAME_LAST)),
		  __print_flags(__entry->ret, "|",
				FAULT_RESULTS(NAME_AND_MORE, NAME_LAST)),
		  __entry->latency_ns),
	fault_trace_reg,
	fault_trace_unreg
);

#endif /* MMKIT_FAULT_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
