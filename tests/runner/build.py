# SPDX-License-Identifier: GPL-2.0-only
"""Builds the modules and the test programs for every kernel."""

import os
import re
import time

from . import tree
from .jobs import Job, run, tail, verdict

# CC of tests/guest, by architecture, as named in the builder.
COMPILERS = {'amd64': 'gcc', 'arm64': 'aarch64-linux-gnu-gcc'}
WARNING = re.compile(r'\bwarning: |^WARNING: ', re.MULTILINE)


class Builds:
    """Everything that has to be there before a guest boots."""

    def __init__(self, context, kernels, guest_runs):
        self.context, self.kernels = context, kernels
        self.with_guests = sorted({kernel for kernel, _ in guest_runs})
        self.failed = set()

    def prepare(self):
        """The builder and the kernels: without them there is nothing to test."""
        self._step('the builder', 'scripts/builder', 'ensure')
        self._step('the kernels', 'scripts/kernels', 'fetch', *self.kernels)

    def _step(self, what, script, *args):
        report = self.context.report
        log = report.log('setup', os.path.basename(script))
        report.say(f'setting up {what}')
        status = run([tree.path(script), *args], log, self.context.seconds(3600),
                     report.say, merge=True)
        if status:
            raise SystemExit('\n'.join([f'cannot set up {what}:', *tail(log, 8)]))

    def jobs(self):
        arches = sorted({tree.arch(kernel) for kernel in self.with_guests})
        return ([ProgramsJob(self, arch) for arch in arches] +
                [ModulesJob(self, kernel) for kernel in self.kernels])

    def missing(self, kernel):
        """What a guest test of this kernel cannot have, or None."""
        for what in (kernel, tree.arch(kernel)):
            if what in self.failed:
                return f'the build for {what} failed'
        return None


class BuildJob(Job):
    """Runs commands in turn and counts as one test."""

    def __init__(self, builds, what, name):
        super().__init__(f'{what}/{name}', 10)
        self.builds, self.what, self.result = builds, what, name

    def commands(self):
        raise NotImplementedError

    def work(self):
        context = self.builds.context
        log = context.report.log(self.what, self.result)
        start = time.monotonic()
        status = 0
        for number, command in enumerate(self.commands()):
            status = status or run(command, log, context.seconds(600),
                                   env={'CI': 'true'}, append=number > 0)
        with open(log, encoding='utf-8') as file:
            warned = WARNING.search(file.read())
        good = status == 0 and not warned
        if status:
            self.builds.failed.add(self.what)
        why = 'the build failed' if status else 'the build warns'
        context.report.results(self.name, [verdict('no error, no warning', good, log, why)],
                               log, time.monotonic() - start)


class ModulesJob(BuildJob):
    """mmkit's modules, with all that kbuild can warn of, and the tests' own."""

    def __init__(self, builds, kernel):
        super().__init__(builds, kernel, 'build')

    def commands(self):
        yield [tree.path('scripts/kernels'), 'build', self.what, '--', 'W=1']
        if os.path.exists(tree.path('tests/kmod/Kbuild')):
            yield [tree.path('scripts/build-test-modules'), self.what]


class ProgramsJob(BuildJob):
    """The guest programs of tests/guest and tests/bench for an architecture."""

    def __init__(self, builds, arch):
        super().__init__(builds, arch, 'programs')

    def commands(self):
        yield [tree.path('scripts/builder'), 'run', '--', 'make', '-s', '-j2',
               '-C', tree.path('tests/guest'),
               f'OUT={tree.path("build/tests", self.what)}',
               f'CC={COMPILERS[self.what]}', 'W=e']
