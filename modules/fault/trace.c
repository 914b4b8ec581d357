// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoint mmkit_fault:fault. The wrapper shows us faults only while
 * somebody listens to it.
 */

#define CREATE_TRACE_POINTS
#include "trace.h"

/* Context: process, preemption off. */
static void trace_one_fault(const struct mmkit_fault_event *event)
{
	trace_fault(event);
}

static const struct mmkit_fault_observer trace_observer = {
	.fault = trace_one_fault,
};

/* Called by the tracepoint when the first listener comes; may sleep. */
int fault_trace_reg(void)
{
	mmkit_fault_set_observer(&trace_observer);
	return 0;
}

/*
 * And when the last one goes: also after this module's exit function, while
 * its text is still there.
 */
void fault_trace_unreg(void)
{
	mmkit_fault_set_observer(NULL);
}
