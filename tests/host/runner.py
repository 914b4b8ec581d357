#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# mmkit-test: timeout=60
"""The runner's own judgement: what counts as passed, failed and skipped."""

import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from runner import guest, header, jobs, ktap, report  # noqa: E402

COUNT = 0
FAILED = 0


def check(name, got, wanted):
    global COUNT, FAILED
    COUNT += 1
    if got != wanted:
        FAILED += 1
        print(f'# wanted {wanted!r}\n# got {got!r}')
    print(f'{"ok" if got == wanted else "not ok"} {COUNT} {name}')


def judged(text, status):
    """What the parser makes of a program's output: 'status name' per result."""
    parser = ktap.Parser()
    for line in text.splitlines():
        parser.feed(line)
    return [f'{result.status} {result.name}' for result in parser.finish(status)]


def check_parser():
    check('a pass', judged('KTAP version 1\n1..1\nok 1 a b\n', 0), ['pass a b'])
    check('a dash before the name', judged('1..1\nok 1 - a\n', 0), ['pass a'])
    check('a skip', judged('ok 1 a # SKIP no such thing\n1..1\n', 4), ['skip a'])
    check('a failure', judged('not ok 1 a\n1..1\n', 1), ['fail a'])
    check('a failure is not a skip', judged('not ok 1 a # SKIP x\n1..1\n', 1), ['fail a'])
    check('no output', judged('', 0), ['fail plan'])
    check('no plan', judged('ok 1 a\n', 0), ['pass a', 'fail plan'])
    check('fewer results than planned', judged('1..2\nok 1 a\n', 0), ['pass a', 'fail plan'])
    check('more results than planned', judged('1..1\nok 1 a\nok 2 b\n', 0),
          ['pass a', 'pass b', 'fail plan'])
    check('a bad exit without a reason', judged('1..1\nok 1 a\n', 3), ['pass a', 'fail exit'])
    check('a bad exit with a reason', judged('1..1\nnot ok 1 a\n', 1), ['fail a'])
    check('too slow', judged('ok 1 a\n', 124), ['pass a', 'fail end'])
    check('killed', judged('ok 1 a\n', 137), ['pass a', 'fail end'])
    check('the guest went away', judged('ok 1 a\n', None), ['pass a', 'fail end'])
    check('all skipped', judged('1..0 # SKIP nothing\n', 4), ['skip all'])
    check('nothing planned', judged('1..0\n', 0), ['fail plan'])
    check('a failure dressed as a skip', judged('1..0 # SKIP nothing\n', 1), ['fail plan'])


def check_notes():
    parser = ktap.Parser()
    for line in ('# one', 'ok 1 a', '# two', 'not ok 2 b', '1..2'):
        parser.feed(line)
    check('notes belong to the result after them',
          [result.notes for result in parser.finish(1)], [['# one'], ['# two']])


def made(**values):
    return header.Run('/x/t.c', {'id': values.pop('id', 't'), **values})


def check_boots():
    def ids(runs):
        return [[test.id for test in boot] for boot in guest.boots(runs, False)]

    check('what can share a boot does',
          ids([made(id='a'), made(id='b', timeout='5')]), [['b', 'a']])
    check('different machines do not',
          ids([made(id='a'), made(id='b', cpus='1')]), [['a'], ['b']])
    check('alone is alone', ids([made(id='a', alone='yes'), made(id='b')]), [['b'], ['a']])
    check('append is alone', ids([made(id='a', append='x'), made(id='b')]), [['b'], ['a']])
    check('stop comes last', ids([made(id='a', stop='yes', timeout='1'), made(id='b')]),
          [['b', 'a']])
    check('a boot does not grow too long',
          ids([made(id='a', timeout='500'), made(id='b', timeout='500')]), [['a'], ['b']])


def check_selection():
    run = made(id='fault_count', kernels='6.*')
    check('a kernel that it is for', run.wanted('6.1-amd64', '', False), True)
    check('a kernel that it is not for', run.wanted('5.10-amd64', '', False), False)
    check('by name', run.wanted('6.1-amd64', 'fault_*', False), True)
    check('by kernel and name', run.wanted('6.1-amd64', '6.1-amd64/fault_count', False), True)
    check('by another name', run.wanted('6.1-amd64', 'hook', False), False)
    check('only at full volume', made(full='only').wanted('6.1-amd64', '', False), False)
    check('at full volume', made(full='only').wanted('6.1-amd64', '', True), True)
    check('five times the time at full volume', made(timeout='7').timeout(True), 35)
    with tempfile.NamedTemporaryFile('w', suffix='.c') as file:
        file.write('/*\n * mmkit-test: id=x append="a b"\n * mmkit-test: id=y */\n')
        file.flush()
        check('one run per line', [(run.id, run.get('append')) for run in
                                   header.read_file(file.name)], [('x', 'a b'), ('y', '')])


def check_order():
    order = jobs.in_order([jobs.Job(str(time), time) for time in (300, 5, 900, 20)])
    check('quick ones first, then the longest', [job.estimate for job in order],
          [5, 20, 900, 300])


def check_command():
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, 'log')
        lines = []
        check('exit status', jobs.run(['sh', '-c', 'echo a; exit 3'], log, 60, lines.append), 3)
        check('output', lines, ['a\n'])
        check('too long', jobs.run(['sh', '-c', 'sleep 60'], log, 1), 124)
        quiet = report.Report(os.path.join(folder, 'report'))
        quiet.say = quiet._say = lambda text: None
        quiet.results('x', [ktap.Result(ktap.PASS, 'a', [])], log)
        quiet.results('x', [ktap.Result(ktap.FAIL, 'b', []),
                            ktap.Result(ktap.SKIP, 'c', ['why'])], log)
        jobs.Pool(1, quiet).run([jobs.Job('no work()', 1)])
        check('a fault of the runner is a failure', quiet.counts[ktap.FAIL], 2)
        quiet.counts[ktap.FAIL] = 1
        check('the closing line', report.summary(quiet.counts), '1 passed, 1 failed, 1 skipped')


print('KTAP version 1')
for group in (check_parser, check_notes, check_boots, check_selection, check_order,
              check_command):
    group()
print(f'1..{COUNT}')
sys.exit(1 if FAILED else 0)
