# SPDX-License-Identifier: GPL-2.0-only
"""Tests that run in a guest: several of them in one boot where that is safe."""

import glob
import os
import re
import time

from . import ktap, tree
from .jobs import Job, run

# Seconds for the boot, and for the making of a root when it is the first.
BOOT = 180
BOOT_DEBIAN = 600
# A shared boot ends before its tests may take longer than this, so that one
# that hangs does not take too many with it.
SHARED = 900

BEGIN = re.compile(r'^# mmkit-run-begin (\S+)')
EXIT = re.compile(r'^# mmkit-run-exit (\S+) (\d+)')
# Of scripts/vm: the console has a report (oops, warning, lockdep, RCU, ...).
CONSOLE = 125


class BootJob(Job):
    """One boot of one kernel and the runs in it."""

    def __init__(self, context, kernel, number, runs):
        self.slowness = tree.slowness(kernel)
        self.budget = sum(test.timeout(context.full) for test in runs) * self.slowness
        super().__init__(f'{kernel}/{"+".join(test.id for test in runs)}', self.budget)
        self.context, self.kernel, self.number, self.runs = context, kernel, number, runs
        self.log = context.report.log(kernel, f'boot-{number:02}-{runs[0].id}')
        self.current = self.parser = None
        self.begun = 0
        self.done = set()

    # What the guest gets.

    def program(self, test):
        if test.file.endswith('.sh'):
            return test.file
        return tree.path('build/tests', tree.arch(self.kernel), test.program)

    def script(self):
        """The guest's command line. Each run is framed by two marks."""
        # With MMKIT_RUNNER, that the modules are not there is no reason to skip.
        volume = 'MMKIT_RUNNER=1 ' + ('MMKIT_FULL=1 ' if self.context.full else '')
        lines = []
        for test in self.runs:
            shell = 'sh ' if test.file.endswith('.sh') else ''
            seconds = self.context.seconds(test.timeout(self.context.full) *
                                           self.slowness)
            lines += [f'echo "# mmkit-run-begin {test.id}"',
                      f'{volume}timeout -k 10 {seconds} {shell}/bin/{test.program}'
                      f' {test.get("args")}',
                      f'echo "# mmkit-run-exit {test.id} $?"']
        return '\n'.join(lines)

    def command(self):
        first = self.runs[0]
        budget = BOOT_DEBIAN if first.get('root') == 'debian' else BOOT
        command = [tree.path('scripts/vm'), 'run', self.kernel, '--timeout',
                   str(self.context.seconds(self.budget + budget)),
                   '--modules', tree.path('build', self.kernel),
                   '--console', self.log.removesuffix('.log') + '.console']
        command += ['--smp', '1' if first.is_set('icount') else first.get('cpus', '2')]
        if first.is_set('icount'):
            command.append('--icount')
        for key in ('mem', 'root', 'append', 'tolerate'):
            if first.get(key):
                command.append(f'--{key}={first.get(key)}')
        for file in sorted({self.program(test) for test in self.runs}):
            name = re.sub(r'\.sh$', '', os.path.basename(file))
            command += ['--add', f'{file}:/bin/{name}']
        if any(test.get('kmod') for test in self.runs):
            for file in glob.glob(tree.path('build', self.kernel, 'test', '*.ko')):
                command += ['--add', f'{file}:/lib/mmkit-test/{os.path.basename(file)}']
        return command + ['--', self.script()]

    # What the guest answers.

    def feed(self, line):
        begin, end = BEGIN.match(line), EXIT.match(line)
        if begin:
            self.current, self.parser = begin.group(1), ktap.Parser()
            self.begun = time.monotonic()
        elif end and self.parser:
            self.finish(int(end.group(2)))
        elif self.parser:
            self.parser.feed(line)

    def finish(self, status):
        self.done.add(self.current)
        self.context.report.results(
            f'{self.kernel}/{self.current}', self.parser.finish(status), self.log,
            time.monotonic() - self.begun)
        self.current = self.parser = None

    def work(self):
        status = run(self.command(), self.log,
                     self.context.seconds(self.budget + BOOT_DEBIAN + 60), self.feed)
        if self.parser:
            self.finish(None)
        for test in self.runs:
            if test.id not in self.done:
                self.context.report.results(f'{self.kernel}/{test.id}', [ktap.Result(
                    ktap.FAIL, 'start', [f'# the guest never came to this test,'
                                         f' scripts/vm ended with {status}'])], self.log)
        self.judge_console(status)

    def judge_console(self, status):
        """A guest that reports a bug has failed, whatever its tests say."""
        name = f'{self.kernel}/console of {self.log_name()}'
        if status == 0:
            result = ktap.Result(ktap.PASS, 'no kernel report', [])
        else:
            what = ('the console has a report' if status == CONSOLE
                    else f'scripts/vm ended with {status}')
            with open(self.log, encoding='utf-8', errors='replace') as file:
                said = [line.rstrip() for line in file if line.startswith('vm: ')]
            result = ktap.Result(ktap.FAIL, 'no kernel report',
                                 [f'# {what}', *said[-8:]])
        self.context.report.results(name, [result], self.log)

    def log_name(self):
        return os.path.basename(self.log).removesuffix('.log')


class SkipJob(Job):
    """Stands for the tests of a kernel that has no modules."""

    def __init__(self, context, kernel, runs, why):
        super().__init__(f'{kernel}/*', 0)
        self.context, self.kernel, self.runs, self.why = context, kernel, runs, why

    def work(self):
        for test in self.runs:
            self.context.report.results(
                f'{self.kernel}/{test.id}',
                [ktap.Result(ktap.SKIP, 'not run', [self.why])], '')


def must_be_alone(test):
    return test.is_set('alone') or test.get('append') or test.get('tolerate')


def boots(runs, full):
    """Splits the runs of one kernel into lists that share a boot."""
    alone = [[test] for test in runs if must_be_alone(test)]
    shared = {}
    for test in sorted(runs, key=lambda test: (test.is_set('stop'), test.timeout(full))):
        if must_be_alone(test):
            continue
        key = tuple(test.get(name) for name in ('cpus', 'mem', 'root', 'icount'))
        group = shared.setdefault(key, [[]])
        if group[-1] and sum(other.timeout(full) for other in group[-1]) + \
                test.timeout(full) > SHARED:
            group.append([])
        group[-1].append(test)
    return [boot for group in shared.values() for boot in group] + alone


def jobs(context, builds, guest_runs):
    by_kernel = {}
    for kernel, test in guest_runs:
        by_kernel.setdefault(kernel, []).append(test)
    result = []
    for kernel, runs in by_kernel.items():
        why = builds.missing(kernel)
        if why:
            result.append(SkipJob(context, kernel, runs, why))
            continue
        result += [BootJob(context, kernel, number, boot)
                   for number, boot in enumerate(boots(runs, context.full), 1)]
    return result
