# SPDX-License-Identifier: GPL-2.0-only
"""Where things are, and the calls to the shell scripts that make them."""

import fcntl
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("MMKIT_CACHE", "/var/cache/mmkit"))
SCRIPTS = TREE / "scripts"


class Failure(Exception):
    """Ends the program with a message of one line, if it has one."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def script(*command):
    """Runs a script of this tree and returns what it prints.

    Its errors and its progress go to ours: a script that fails has said why.
    """
    command = [str(SCRIPTS / command[0]), *map(str, command[1:])]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise Failure()
    return done.stdout.strip()


@contextmanager
def lock(name):
    """Keeps other processes, the shell scripts too, from making the same."""
    directory = CACHE / "locks"
    directory.mkdir(parents=True, exist_ok=True)
    with open(directory / name, "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Kernel:
    """A kernel in the cache, fetched or built if it is not there yet."""

    def __init__(self, name):
        self.name = name
        self.dir = Path(script("kernels", "dir", name))
        self.release = (self.dir / "release").read_text().strip()
        self.arch = (self.dir / "arch").read_text().strip()
        self.debian = (self.dir / "debian").read_text().strip()
        self.image = self.dir / "vmlinuz"
        # Debug kernels have words of their own for the command line.
        append = self.dir / "append"
        self.append = append.read_text().split() if append.exists() else []
        self.modules = self.dir / "modules"
