#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# mmkit-test: timeout=60
"""What scripts/vm takes for a report of the kernel, and what not."""

import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '../../scripts'))

from vmlib.console import Console  # noqa: E402

# As kernels from 5.10 to 7.3 say it; "fatal" ends the guest.
FATAL = """\
[   12.345678] BUG: kernel NULL pointer dereference, address: 0000000000000008
[   12.345678] BUG: unable to handle page fault for address: ffffffffc0de0000
[   12.345678] Oops: 0002 [#1] PREEMPT SMP NOPTI
[   12.345678] Oops: Oops: 0002 [#1] SMP NOPTI
[   12.345678] Oops: general protection fault, probably for non-canonical address
[   12.345678] general protection fault, probably for non-canonical address 0xdead
[   12.345678] kernel BUG at mm/memory.c:1234!
[   12.345678] Unable to handle kernel NULL pointer dereference at virtual address 08
[   12.345678] Internal error: Oops: 0000000096000044 [#1]  SMP
[   12.345678][  T123] Kernel panic - not syncing: sysrq triggered crash
[   60.000001] watchdog: BUG: soft lockup - CPU#1 stuck for 66s! [fault:123]
"""
REPORTS = """\
[   12.345678] WARNING: CPU: 0 PID: 123 at mm/memory.c:12 handle_mm_fault+0x1/0x2
[   12.345678] WARNING: mm/memory.c:12 at handle_mm_fault+0x1/0x2, CPU#0: fault/123
[   12.345678] WARNING: possible circular locking dependency detected
[   12.345678] WARNING: possible recursive locking detected
[   12.345678] WARNING: inconsistent lock state
[   12.345678] WARNING: suspicious RCU usage
[   12.345678] BUG: scheduling while atomic: fault/123/0x00000002
[   12.345678] BUG: sleeping function called from invalid context at mm/memory.c:1
[   12.345678] BUG: Bad page state in process fault  pfn:12345
[   12.345678] BUG: Bad rss-counter state mm:00000000 type:MM_ANONPAGES val:1
[   12.345678] BUG: KASAN: slab-use-after-free in handle_mm_fault+0x1/0x2
[   12.345678] BUG: KCSAN: data-race in a / b
[   12.345678][    C0] BUG: workqueue lockup - pool cpus=0 stuck for 30s!
[   12.345678] BUG kmalloc-64 (Not tainted): Poison overwritten
[   12.345678] UBSAN: array-index-out-of-bounds in mm/memory.c:1:2
[   12.345678] rcu: INFO: rcu_preempt self-detected stall on CPU
[   12.345678] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
[   12.345678] rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { }
[   12.345678] INFO: task fault:123 blocked for more than 120 seconds.
[   12.345678] INFO: rcu_tasks detected stalls on tasks:
[   12.345678] INFO: trying to register non-static key.
[   12.345678] DEBUG_LOCKS_WARN_ON(lock->magic != lock)
[   12.345678] list_add corruption. prev->next should be next
[   12.345678] unchecked MSR access error: RDMSR from 0x123
[   12.345678] kmemleak: 1 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
"""
HARMLESS = """\
[    0.000000] Linux version 6.12.118 (debian-kernel@lists.debian.org)
[    0.100000] Spectre V2 : WARNING: Unprivileged eBPF is enabled with eIBRS on
[    0.100000] PCI: Using host bridge windows; if necessary, report a bug
[    0.200000] rcu: RCU CPU stall warnings timeout set to 60
[    0.200000] AMD-Vi: this is not a bug.
[    5.000000] traps: a.out[123] general protection fault ip:1 sp:2 error:0 in a
[    5.000000] a.out[123]: segfault at 8 ip 00000001 sp 00000002 error 6 in a.out
[    5.000000] mmkit: loading out-of-tree module taints kernel.
[    5.000000] perf: interrupt took too long (2520 > 2500), lowering
[    5.000000] workqueue: x hogged CPU for >10000us 4 times, consider WQ_UNBOUND
WARNING: a program says this, not the kernel
"""
CUT = "[   12.300000] ------------[ cut here ]------------\n"
WARNING = "[   12.345678] WARNING: CPU: 0 PID: 1 at kernel/a.c:1 b+0x1/0x2\n"

COUNT = 0
FAILED = 0


def check(name, got, wanted):
    global COUNT, FAILED
    COUNT += 1
    if got != wanted:
        FAILED += 1
        print(f"# wanted {wanted!r}\n# got {got!r}")
    print(f"{'ok' if got == wanted else 'not ok'} {COUNT} {name}")


def seen(text, tolerate=(), pieces=1):
    """What a Console makes of the text, when it comes in pieces."""
    with tempfile.NamedTemporaryFile("w") as file:
        console = Console(file.name, tolerate)
        size = -(-len(text) // pieces)
        for start in range(0, len(text), size):
            file.write(text[start:start + size])
            file.flush()
            console.read()
        console.finish()
    return console


def check_lines(what, text, report, fatal):
    wrong = []
    for line in text.splitlines():
        console = seen(line + "\r\n")
        if (console.report is not None, console.fatal) != (report, fatal):
            wrong.append(line)
    check(what, wrong, [])


def main():
    print("KTAP version 1")
    check_lines("fatal reports", FATAL, True, True)
    check_lines("other reports", REPORTS, True, False)
    check_lines("harmless lines", HARMLESS, False, False)
    check("the first report is named",
          seen(HARMLESS + CUT + WARNING + FATAL).report, WARNING.strip())
    check("... also when it comes in pieces",
          seen(HARMLESS + CUT + WARNING + FATAL, pieces=99).report, WARNING.strip())
    check("a report without its second line", seen(CUT).report, CUT.strip())
    check("a report without an end of line",
          seen(WARNING.strip()).report, WARNING.strip())
    check("tolerated", seen(CUT + WARNING, ["a[.]c:1"]).report, None)
    check("another one is not",
          seen(CUT + WARNING + REPORTS, ["a[.]c:1"]).report, REPORTS.split("\n")[0])
    check("a cut that a tolerated warning does not explain",
          seen(CUT + WARNING + CUT, ["a[.]c:1"]).report, CUT.strip())
    check("the emulated timer's panic",
          seen("[    0.1] Kernel panic - not syncing: IO-APIC + timer doesn't work!  "
               "Boot with apic=debug\n").timer_panic, True)
    print(f"1..{COUNT}")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
