# SPDX-License-Identifier: GPL-2.0-only
"""Runs commands, several at a time."""

import os
import queue
import signal
import subprocess
import threading
import time
import traceback

from . import ktap

# A person waits this long without news before we say what is going on.
HEARTBEAT = 30
# Jobs up to this many seconds come first, for early news.
QUICK = 60


class Context:
    def __init__(self, report, full, patience):
        self.report, self.full, self.patience = report, full, patience

    def seconds(self, timeout):
        return int(timeout * self.patience)


class Job:
    """Something with a name that takes a while. Subclasses have work()."""

    def __init__(self, name, estimate):
        self.name, self.estimate = name, estimate
        self.started = None

    def work(self):
        raise NotImplementedError


def in_order(jobs):
    """Quick jobs first, then the longest first, to end with both slots busy."""
    return sorted(jobs, key=lambda job: (job.estimate > QUICK,
                                         -job.estimate if job.estimate > QUICK
                                         else job.estimate))


class Pool:
    def __init__(self, size, report):
        self.size, self.report = size, report
        self.running = []

    def run(self, jobs):
        """Returns when all jobs are done."""
        waiting = queue.SimpleQueue()
        for job in jobs:
            waiting.put(job)
        threads = [threading.Thread(target=self._worker, args=(waiting,), daemon=True)
                   for _ in range(self.size)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            # Short joins, so that Ctrl-C is heard.
            threads[0].join(1)
            for thread in threads[1:]:
                thread.join(0.1)
            self._heartbeat()

    def _worker(self, waiting):
        while True:
            try:
                job = waiting.get_nowait()
            except queue.Empty:
                return
            job.started = time.monotonic()
            self.running.append(job)
            try:
                job.work()
            except Exception:  # pylint: disable=broad-except
                # A fault of ours fails this job; the others go on.
                self._failed(job)
            finally:
                self.running.remove(job)

    def _failed(self, job):
        log = self.report.log('runner')
        with open(log, 'a', encoding='utf-8') as file:
            file.write(f'{job.name}\n{traceback.format_exc()}')
        self.report.results(job.name, [verdict('the runner works', False, log)], log)

    def _heartbeat(self):
        if self.report.quiet_for() < HEARTBEAT:
            return
        now = time.monotonic()
        self.report.say('running: ' + ', '.join(
            f'{job.name} ({now - job.started:.0f} s)' for job in list(self.running)))


_processes = set()
_processes_lock = threading.Lock()


def stop_all():
    """Ends every command that still runs, with all that it started."""
    with _processes_lock:
        processes = list(_processes)
    for process in processes:
        _stop(process)


def _stop(process):
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(5)
            return
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            pass


def run(command, log, timeout, line=None, env=None, append=False, merge=False):
    """Runs a command with its output in the file `log`.

    line: called with every line of stdout, and of stderr with merge. Returns
    the exit status, or 124 when it did not end within `timeout` seconds.
    """
    with open(log, 'a' if append else 'w', encoding='utf-8') as file:
        file.write(f'$ {" ".join(command)}\n')
        file.flush()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merge else file, text=True, errors='replace',
            start_new_session=True, env={**os.environ, **(env or {})})
        with _processes_lock:
            _processes.add(process)
        late = threading.Event()

        def give_up():
            late.set()
            _stop(process)

        timer = threading.Timer(timeout, give_up)
        timer.start()
        try:
            for text in process.stdout:
                file.write(text)
                file.flush()
                if line:
                    line(text)
            status = process.wait()
        finally:
            timer.cancel()
            with _processes_lock:
                _processes.discard(process)
        if late.is_set():
            file.write(f'ended after {timeout} s\n')
            status = 124
        file.write(f'exit status {status}\n')
    return status


def tail(log, lines):
    with open(log, encoding='utf-8', errors='replace') as file:
        return [f'# {line.rstrip()}' for line in file.readlines()[-lines:]]


def verdict(name, good, log, why=''):
    """One result that is not in a KTAP stream: did this step work?"""
    notes = [] if good else ([f'# {why}'] if why else []) + tail(log, 8)
    return ktap.Result(ktap.PASS if good else ktap.FAIL, name, notes)
