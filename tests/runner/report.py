# SPDX-License-Identifier: GPL-2.0-only
"""What the person in front of the terminal sees, and the count at the end."""

import collections
import os
import shutil
import threading
import time

from . import ktap, tree

NOTES_SHOWN = 12
NAMES_SHOWN = 4


class Report:
    """Prints results as they come. Every method may be called by any thread."""

    def __init__(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        self.folder = folder
        self.lock = threading.Lock()
        self.counts = collections.Counter()
        self.failures = []
        self.skips = collections.defaultdict(list)
        self.start = self.last = time.monotonic()

    def log(self, *names):
        """A new log's path; names become its folders and its name."""
        file = os.path.join(self.folder, *names) + '.log'
        os.makedirs(os.path.dirname(file), exist_ok=True)
        return file

    def say(self, text):
        with self.lock:
            self._say(text)

    def _say(self, text):
        self.last = time.monotonic()
        seconds = int(self.last - self.start)
        for line in text.splitlines():
            print(f'[{seconds // 60:3}:{seconds % 60:02}] {line}', flush=True)

    def quiet_for(self):
        return time.monotonic() - self.last

    def results(self, name, results, log, seconds=None):
        """Counts the results of the test `name` and shows what went wrong."""
        counts = collections.Counter(result.status for result in results)
        took = '' if seconds is None else f' ({seconds:.0f} s)'
        with self.lock:
            self.counts.update(counts)
            self._say(f'{name}: {summary(counts, short=True)}{took}')
            for result in results:
                if result.status == ktap.FAIL:
                    self._failure(f'{name}: {result.name}', result.notes, log)
                elif result.status == ktap.SKIP:
                    self.skips[' '.join(result.notes) or 'no reason given'].append(name)

    def _failure(self, name, notes, log):
        where = os.path.relpath(log, tree.TREE)
        self.failures.append(f'{name} ({where})')
        lines = notes[-NOTES_SHOWN:]
        self._say('\n'.join([f'FAILED {name}', *(f'    {line}' for line in lines),
                             f'    log: {where}']))

    def close(self):
        """Prints the closing lines and returns the exit status."""
        print()
        for why, names in sorted(self.skips.items()):
            print(f'skipped {len(names)}: {why}: {some(names)}')
        for failure in self.failures:
            print(f'failed: {failure}')
        line = summary(self.counts)
        with open(os.path.join(self.folder, 'summary'), 'w', encoding='utf-8') as file:
            file.write(f'{line}\n')
        print(line, flush=True)
        return 0 if self.counts[ktap.PASS] and not self.counts[ktap.FAIL] else 1


def some(names):
    """The first few different ones, and how many more there are."""
    names = list(dict.fromkeys(names))
    more = len(names) - NAMES_SHOWN
    return ', '.join(names[:NAMES_SHOWN]) + (f' and {more} more' if more > 0 else '')


def summary(counts, short=False):
    parts = [(counts[ktap.PASS], 'passed'), (counts[ktap.FAIL], 'failed'),
             (counts[ktap.SKIP], 'skipped')]
    if short:
        parts = [part for part in parts if part[0]] or parts[:1]
    return ', '.join(f'{number} {what}' for number, what in parts)
