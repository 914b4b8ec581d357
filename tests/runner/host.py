# SPDX-License-Identifier: GPL-2.0-only
"""Tests that run on this machine, some of them inside the builder."""

import shlex
import time

from . import ktap, tree
from .jobs import Job, run


class HostJob(Job):
    def __init__(self, context, test, kernels):
        super().__init__(f'host/{test.id}', test.timeout(context.full))
        self.context, self.test, self.kernels = context, test, kernels

    def command(self):
        command = [self.test.file, *shlex.split(self.test.get('args'))]
        if self.test.get('in') == 'builder':
            command = [tree.path('scripts/builder'), 'run', '--', *command]
        return command

    def work(self):
        report, full = self.context.report, self.context.full
        parser = ktap.Parser()
        log = report.log('host', self.test.id)
        start = time.monotonic()
        env = {'MMKIT_KERNELS': ' '.join(self.kernels), 'CI': 'true'}
        if full:
            env['MMKIT_FULL'] = '1'
        status = run(self.command(), log, self.context.seconds(self.estimate),
                     parser.feed, env)
        report.results(self.name, parser.finish(status), log, time.monotonic() - start)


def jobs(context, runs, kernels):
    return [HostJob(context, test, kernels) for test in runs]
