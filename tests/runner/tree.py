# SPDX-License-Identifier: GPL-2.0-only
"""Where things are, and what the scripts of this tree answer."""

import os
import subprocess

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def path(*names):
    return os.path.join(TREE, *names)


def ask(*command):
    """Returns what a script of this tree prints."""
    return subprocess.run([path(command[0]), *command[1:]], check=True, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout


def kernel_names(*kind):
    return ask('scripts/kernels', 'names', *kind).split()


def slowness(kernel):
    """How many times longer a test may take: debug kernels check all they do."""
    return 3 if kernel in kernel_names('debug') else 1


def arch(kernel):
    return kernel.rsplit('-', 1)[1]
