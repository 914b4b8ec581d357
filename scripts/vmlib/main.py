# SPDX-License-Identifier: GPL-2.0-only
"""Boots a stock Debian kernel under QEMU, with this tree's modules installed.

scripts/vm run KERNEL [OPTION]... -- COMMAND
    boots, runs COMMAND as root and exits with its status. Its output is this
    program's; the kernel log goes to a console log, which is named and kept
    when something fails. A COMMAND of one word is a line for /bin/sh, one of
    several words is run as it is.
scripts/vm shell KERNEL [OPTION]...
    boots and gives a prompt; leave it with "exit".

Exit status: that of COMMAND; 124 when it took longer than --timeout; 125 when
the kernel reported a problem (oops, warning, lockdep, RCU stall, hung task,
...) or the guest died, whatever COMMAND said; 2 for a wrong command line or
when there is no guest to boot.

Kernels: see scripts/kernels list. They, the builder with QEMU, and a Debian
root are made when first needed and kept in MMKIT_CACHE.
"""

import argparse
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

# pylint: disable=wrong-import-position
from vmlib import guest  # noqa: E402
from vmlib.paths import TREE, Failure, Kernel, say, script  # noqa: E402


def parser():
    main = argparse.ArgumentParser(
        prog="scripts/vm", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = main.add_subparsers(dest="verb", required=True, metavar="run|shell")
    for verb in ("run", "shell"):
        add_options(verbs.add_parser(verb))
    return main


def add_options(sub):
    sub.add_argument("kernel", help="for example 6.12-amd64")
    sub.add_argument("--add", metavar="FILE[:DEST]", action="append", default=[],
                     help="a file or directory to put into the guest; default "
                          "destination: /root, where COMMAND starts")
    sub.add_argument("--mem", metavar="SIZE", default="",
                     help="memory (default 1G, with a Debian root 2G)")
    sub.add_argument("--smp", metavar="N", type=int, default=2,
                     help="number of CPUs (default 2)")
    sub.add_argument("--icount", action="store_true",
                     help="one CPU whose clock counts instructions, 1 per ns")
    sub.add_argument("--root", choices=("minimal", "debian"), default="minimal",
                     help="busybox (default), or Debian of the kernel's release")
    sub.add_argument("--systemd", action="store_true",
                     help="start systemd, which starts COMMAND; takes longer; "
                          "with a Debian root only")
    sub.add_argument("--append", metavar="ARGS", action="append", default=[],
                     help="more for the kernel's command line")
    sub.add_argument("--qemu", metavar="ARGS", action="append", default=[],
                     help="more for QEMU's command line; QEMU sees only files "
                          "in the source tree and in the cache")
    sub.add_argument("--timeout", metavar="SECONDS", type=float, default=600,
                     help="for boot and command together (default 600)")
    sub.add_argument("--tolerate", metavar="REGEX", action="append", default=[],
                     help="a console line that is no failure")
    sub.add_argument("--modules", metavar="DIR",
                     help="modules to install instead of building this tree's; "
                          "'none' for none")
    sub.add_argument("--with", metavar="MODULE", action="append", default=[],
                     dest="with_modules",
                     help="a module of the distribution that guests lack")
    sub.add_argument("--console", metavar="FILE", default="",
                     help="keep the console log there in any case")


def split_command(arguments):
    """Splits at the "--" that starts the command for the guest."""
    if "--" not in arguments:
        return arguments, []
    where = arguments.index("--")
    return arguments[:where], arguments[where + 1:]


def modules_to_install(kernel, directory):
    if directory == "none":
        return []
    if directory is None:
        script("kernels", "build", kernel.name)
        directory = TREE / "build" / kernel.name
    modules = sorted(Path(directory).glob("*.ko"))
    if not modules:
        raise Failure(f"no modules in {directory}")
    return modules


def make_job(options, command, kernel):
    return guest.Job(
        command=command, additions=options.add, memory=options.mem,
        cpus=options.smp, icount=options.icount, root=options.root,
        append=options.append, qemu=options.qemu, timeout=options.timeout,
        tolerate=options.tolerate, with_modules=options.with_modules,
        modules=modules_to_install(kernel, options.modules),
        shell=options.verb == "shell", systemd=options.systemd, console=options.console)


def main():
    arguments, command = split_command(sys.argv[1:])
    arguments = parser().parse_args(arguments)
    if arguments.verb == "run" and not command:
        raise Failure("no command after -- (see --help)")
    if arguments.systemd and arguments.root != "debian":
        raise Failure("--systemd needs --root debian")
    if arguments.verb == "shell" and not sys.stdin.isatty():
        raise Failure("shell needs a terminal")
    if os.geteuid() != 0:
        raise Failure("must run as root")
    kernel = Kernel(arguments.kernel)
    return guest.run(kernel, make_job(arguments, command, kernel))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        if failure.args:
            say(f"vm: {failure}")
        sys.exit(2)
    except BrokenPipeError:
        # Nobody reads us any more; Python must not complain when it closes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except KeyboardInterrupt:
        sys.exit(130)
