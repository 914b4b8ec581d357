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

/* Named by value in the event's format, for perf and trace-cmd. */
#define FAULT_FLAG_NAMES			\
	FLAG(FAULT_FLAG_WRITE, "WRITE")		\
	FLAG(FAULT_FLAG_MKWRITE, "MKWRITE")	\
	FLAG(FAULT_FLAG_ALLOW_RETRY, "ALLOW_RETRY") \
	FLAG(FAULT_FLAG_RETRY_NOWAIT, "RETRY_NOWAIT") \
	FLAG(FAULT_FLAG_KILLABLE, "KILLABLE")	\
	FLAG(FAULT_FLAG_TRIED, "TRIED")		\
	FLAG(FAULT_FLAG_USER, "USER")		\
	FLAG(FAULT_FLAG_REMOTE, "REMOTE")	\
	FLAG(FAULT_FLAG_INSTRUCTION, "INSTRUCTION") \
	MMKIT_FAULT_FLAG_VMA_LOCK_NAME(FLAG)	\
	LAST(FAULT_FLAG_INTERRUPTIBLE, "INTERRUPTIBLE")
#define FAULT_RESULT_NAMES			\
	FLAG(VM_FAULT_OOM, "OOM")		\
	FLAG(VM_FAULT_SIGBUS, "SIGBUS")		\
	FLAG(VM_FAULT_MAJOR, "MAJOR")		\
	FLAG(VM_FAULT_HWPOISON, "HWPOISON")	\
	FLAG(VM_FAULT_HWPOISON_LARGE, "HWPOISON_LARGE") \
	FLAG(VM_FAULT_SIGSEGV, "SIGSEGV")	\
	FLAG(VM_FAULT_NOPAGE, "NOPAGE")		\
	FLAG(VM_FAULT_LOCKED, "LOCKED")		\
	FLAG(VM_FAULT_RETRY, "RETRY")		\
	FLAG(VM_FAULT_FALLBACK, "FALLBACK")	\
	FLAG(VM_FAULT_DONE_COW, "DONE_COW")	\
	LAST(VM_FAULT_NEEDDSYNC, "NEEDDSYNC")

#undef FLAG
#undef LAST
#define FLAG(value, name)	TRACE_DEFINE_ENUM(value);
#define LAST(value, name)	TRACE_DEFINE_ENUM(value);
FAULT_FLAG_NAMES
FAULT_RESULT_NAMES
#undef FLAG
#undef LAST
#define FLAG(value, name)	{ (__force unsigned long)(value), name },
#define LAST(value, name)	{ (__force unsigned long)(value), name }

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
		  __print_flags(__entry->flags, "|", FAULT_FLAG_NAMES),
		  __print_flags(__entry->ret, "|", FAULT_RESULT_NAMES),
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
