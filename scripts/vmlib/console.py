# SPDX-License-Identifier: GPL-2.0-only
"""Reads a guest's console and knows a kernel's report of trouble."""

import re

# A kernel line starts with its time, and on some kernels with a task or CPU.
STAMP = r"^\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? "

# Reports after which the guest is not worth waiting for.
FATAL = re.compile(STAMP + r"(?:%s)" % "|".join((
    r"Kernel panic - not syncing",
    r"Oops\b",
    r"Internal error: ",
    r"Unable to handle kernel",
    r"general protection fault[,:]",
    r"kernel BUG at",
    r"BUG: unable to handle",
    r"BUG: kernel NULL pointer",
    r"watchdog: BUG: soft lockup",
    r".*Watchdog detected hard LOCKUP",
)))

# "WARNING:" covers WARN_ON, lockdep and RCU's lock checks, "BUG:" sleeping in
# atomic context, bad pages and the sanitizers. Anchored: "Spectre V2 :
# WARNING: ..." at boot is a word on the machine.
REPORT = re.compile(STAMP + r"(?:%s)" % "|".join((
    r"WARNING: ",
    r"BUG[: ]",
    r"INFO: (?:task|rcu|possible|trying|suspicious|lockdep)",
    r"rcu: INFO: ",
    r"rcu: .*(?:self-detected stall|detected stalls|kthread starved)",
    r"INFO: .*(?:stall|blocked for more than)",
    r"UBSAN: ",
    r"KASAN: ",
    r"KFENCE: ",
    r"kmemleak: .*new suspected",
    r"unchecked MSR access",
    r"DEBUG_LOCKS_WARN_ON",
    r"list_(?:add|del) corruption",
    r"------------\[ cut here \]------------",
)))

# Emulated timers under host load; the kernel gives up before it did anything.
TIMER_PANIC = "IO-APIC + timer doesn't work"


class Console:
    """Follows the console log of a running guest."""

    def __init__(self, path, tolerate):
        self.path = path
        self.tolerate = [re.compile(pattern) for pattern in tolerate]
        self.offset = 0
        self.rest = ""
        self.report = None
        self.fatal = False
        self.timer_panic = False
        self.pending_cut = None

    def read(self):
        """Looks at what is new in the log."""
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            new = file.read()
        self.offset += len(new)
        lines = (self.rest + new.decode(errors="replace")).split("\n")
        self.rest = lines.pop()
        for line in lines:
            self._line(line.rstrip("\r"))

    def _line(self, line):
        if TIMER_PANIC in line:
            self.timer_panic = True
        fatal = FATAL.match(line)
        if not fatal and not REPORT.match(line):
            return
        if any(pattern.search(line) for pattern in self.tolerate):
            self.pending_cut = None
            return
        if line.endswith("[ cut here ]------------"):
            # The next report line says what it is, and may be tolerated.
            self.pending_cut = self.pending_cut or line
            return
        self.pending_cut = None
        self.fatal = self.fatal or bool(fatal)
        self.report = self.report or line

    def finish(self):
        """Takes the last words, when nothing more can come."""
        self.read()
        if self.rest:
            self._line(self.rest)
        self.report = self.report or self.pending_cut
