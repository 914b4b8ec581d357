# SPDX-License-Identifier: GPL-2.0-only
"""What a test says about itself.

The first comment block of a test has one line per run:

    mmkit-test: timeout=120 cpus=2 append="mmkit_disable"

Keys, all optional:
    id            name of this run (default: the file's name)
    args          arguments for the program
    timeout       seconds, without the boot, at reduced volume (120)
    timeout_full  the same at full volume (5 times as many)
    full=only     not a part of the reduced volume
  guest tests:
    kernels       patterns; only these kernels
    cpus, mem, root, icount=yes, append, tolerate
                  options of scripts/vm
    alone=yes     needs a boot of its own, as append and tolerate imply
    stop=yes      runs last in a shared boot
    kmod          test modules that it uses
  host tests:
    in=builder    runs inside the builder (default: on the host)
    network=yes   downloads (informative)
"""

import fnmatch
import os
import re
import shlex

MARK = 'mmkit-test:'
KEYS = {'id', 'args', 'timeout', 'timeout_full', 'full', 'kernels', 'cpus', 'mem',
        'root', 'icount', 'append', 'tolerate', 'alone', 'stop', 'kmod', 'in',
        'network'}


def matching(names, patterns):
    """The names that match one of the blank-separated patterns, or all."""
    wanted = patterns.replace(',', ' ').split()
    if not wanted:
        return list(names)
    return [name for name in names
            if any(fnmatch.fnmatchcase(name, pattern) for pattern in wanted)]


class Run:
    """One run of one test program."""

    def __init__(self, file, values):
        unknown = values.keys() - KEYS
        if unknown:
            raise SystemExit(f'{file}: unknown key after {MARK} {" ".join(unknown)}')
        name = os.path.basename(file)
        self.file = file
        self.program = re.sub(r'\.(c|sh|py)$', '', name)
        self.values = values
        self.id = values.get('id', self.program)

    def get(self, key, default=''):
        return self.values.get(key, default)

    def is_set(self, key):
        return self.get(key) == 'yes'

    def timeout(self, full):
        reduced = int(self.get('timeout', '120'))
        return int(self.get('timeout_full', 5 * reduced)) if full else reduced

    def wanted(self, group, patterns, full):
        if self.get('full') == 'only' and not full:
            return False
        if group != 'host' and not matching([group], self.get('kernels')):
            return False
        return bool(matching([self.id], patterns) or
                    matching([f'{group}/{self.id}'], patterns))


def read_file(file):
    runs = []
    with open(file, encoding='utf-8') as text:
        for line, _ in zip(text, range(60)):
            if MARK in line:
                words = shlex.split(line.split(MARK, 1)[1].replace('*/', ''))
                runs.append(Run(file, dict(word.split('=', 1) for word in words)))
    return runs


def read_folder(folder):
    """All runs of the tests in a folder, sorted by file."""
    runs = []
    for name in sorted(os.listdir(folder)):
        file = os.path.join(folder, name)
        if os.path.isfile(file) and not name.endswith('.h'):
            runs += read_file(file)
    ids = [run.id for run in runs]
    twice = {id for id in ids if ids.count(id) > 1}
    if twice:
        raise SystemExit(f'{folder}: two runs of one name: {" ".join(twice)}')
    return runs
