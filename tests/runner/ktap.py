# SPDX-License-Identifier: GPL-2.0-only
"""Reads the results in the output of one test program (KTAP, version 1)."""

import re

RESULT = re.compile(r'^(ok|not ok) \d+(?:\s+-)?\s*([^#]*?)\s*(?:#\s*(\w+)\b\s*(.*))?$')
PLAN = re.compile(r'^1\.\.(\d+)(?:\s*#\s*SKIP\s*(.*))?', re.IGNORECASE)

PASS, FAIL, SKIP = 'pass', 'fail', 'skip'


class Result:
    def __init__(self, status, name, notes):
        self.status, self.name, self.notes = status, name, notes


class Parser:
    """Fed line by line; finish() judges what the program left out."""

    def __init__(self):
        self.results = []
        self.planned = self.skipped = None
        self.notes = []

    def feed(self, line):
        line = line.rstrip()
        plan = PLAN.match(line)
        if plan:
            self.planned = int(plan.group(1))
            self.skipped = plan.group(2)
            return
        result = RESULT.match(line)
        if not result:
            # What a program says before a result is about that result.
            if line.startswith('#'):
                self.notes.append(line)
            return
        verdict, name, directive, why = result.groups()
        status = PASS if verdict == 'ok' else FAIL
        notes = self.notes
        if (directive or '').upper() == 'SKIP' and status == PASS:
            status, notes = SKIP, [why]
        self.results.append(Result(status, name or str(len(self.results) + 1), notes))
        self.notes = []

    def fail(self, name, why):
        self.results.append(Result(FAIL, name, self.notes + [f'# {why}']))
        self.notes = []

    def finish(self, status):
        """status: the program's exit status, None when it never exited."""
        seen = len(self.results)
        failed = any(result.status == FAIL for result in self.results)
        if status is None:
            self.fail('end', 'the guest ended before the test did')
        elif status in (124, 137, 143):
            self.fail('end', f'the test took too long (status {status})')
        elif self.planned is None:
            self.fail('plan', f'no plan line, {seen} results, exit status {status}')
        elif seen != self.planned:
            self.fail('plan', f'{self.planned} results planned, {seen} seen,'
                              f' exit status {status}')
        elif status == 4 and not seen and self.skipped is not None:
            self.results.append(Result(SKIP, 'all', [self.skipped]))
        elif not seen:
            self.fail('plan', f'no result, exit status {status}')
        elif status not in (0, 4) and not failed:
            self.fail('exit', f'exit status {status}, and no result says why')
        return self.results
