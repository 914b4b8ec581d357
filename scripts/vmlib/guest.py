# SPDX-License-Identifier: GPL-2.0-only
"""Runs a guest under QEMU and watches it."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import disk, initramfs
from .console import Console
from .paths import CACHE, SCRIPTS, TREE, say

STATUS_TIMEOUT = 124
STATUS_REPORT = 125
# How long a guest may go on after a fatal report (for the rest of the report),
# and after the command's exit status came (to power off).
GRACE_SECONDS = 3
POWEROFF_SECONDS = 20
TIMER_PANIC_TRIES = 4

BOOT_ARGUMENTS = {
    # no_timer_check: see console.TIMER_PANIC.
    "amd64": "console=ttyS0 no_timer_check",
    "arm64": "console=ttyAMA0",
}
# A panicked guest ends at once. A vCPU that a busy host does not run for some
# seconds is no stall.
BOOT_COMMON = "panic=-1 rcupdate.rcu_cpu_stall_timeout=60 watchdog_thresh=30"


@dataclass
class Job:
    """What a run is asked for; one field for each option of scripts/vm."""

    command: list
    additions: list = field(default_factory=list)
    memory: str = ""
    cpus: int = 2
    icount: bool = False
    root: str = "minimal"
    append: list = field(default_factory=list)
    qemu: list = field(default_factory=list)
    timeout: float = 600
    tolerate: list = field(default_factory=list)
    modules: list = field(default_factory=list)
    with_modules: list = field(default_factory=list)
    shell: bool = False
    systemd: bool = False
    console: str = ""

    def settings(self):
        """What the guest's scripts want to know, as shell variables."""
        size = shutil.get_terminal_size()
        return (f"ROOT={self.root}\n"
                f"SHELL_WANTED={'yes' if self.shell else 'no'}\n"
                f"SYSTEMD={'yes' if self.systemd else 'no'}\n"
                f"ROWS={size.lines}\nCOLUMNS={size.columns}\n")


def machine_arguments(arch, icount):
    """Emulation only: a /dev/kvm may exist and not run a stock kernel."""
    if arch == "amd64":
        # Without erms and fsrm a string instruction does not count per byte.
        cpu = "max,erms=off,fsrm=off" if icount else "max"
        arguments = ["qemu-system-x86_64", "-machine", "q35", "-cpu", cpu]
    else:
        # Emulated pointer authentication is slow.
        arguments = ["qemu-system-aarch64", "-machine", "virt,gic-version=3",
                     "-cpu", "max,pauth=off"]
    if icount:
        return arguments + ["-accel", "tcg,thread=single", "-smp", "1",
                            "-icount", "shift=0,sleep=off"]
    # With a thread per CPU, QEMU 10 on x86 now and then keeps the translation of
    # a breakpoint that the kernel has just replaced: "Oops: int3" at an ftrace
    # site whose memory holds no int3, on one CPU after the other.
    thread = "single" if arch == "amd64" else "multi"
    return arguments + ["-accel", f"tcg,thread={thread}"]


def channel_arguments(directory, shell):
    """Console, output, errors and status, each to a file of its own."""
    arguments = ["-chardev", f"file,id=console,path={directory}/console",
                 "-serial", "chardev:console", "-device", "virtio-serial-pci"]
    for name in ("out", "err", "status"):
        arguments += ["-chardev", f"file,id={name},path={directory}/{name}",
                      "-device", f"virtserialport,chardev={name},name=mmkit.{name}"]
    if shell:
        arguments += ["-chardev", "stdio,id=terminal,signal=off",
                      "-device", "virtconsole,chardev=terminal"]
    return arguments


def qemu_command(kernel, job, directory):
    memory = job.memory or ("2G" if job.root == "debian" else "1G")
    append = " ".join([BOOT_ARGUMENTS[kernel.arch], BOOT_COMMON, *kernel.append,
                       *job.append])
    command = machine_arguments(kernel.arch, job.icount)
    if not job.icount:
        command += ["-smp", str(job.cpus)]
    command += ["-nodefaults", "-no-user-config", "-display", "none",
                "-no-reboot", "-m", memory, "-kernel", str(kernel.image),
                "-initrd", f"{directory}/initramfs", "-append", append]
    command += channel_arguments(directory, job.shell)
    if job.root == "debian":
        command += disk.arguments(kernel, directory)
    for text in job.qemu:
        command += shlex.split(text)
    return command


def make_initramfs(kernel, job, directory):
    base = initramfs.base_archive(kernel)
    with open(directory / "initramfs", "wb") as file:
        with open(base, "rb") as source:
            shutil.copyfileobj(source, file)
        initramfs.write_run_archive(file, kernel, job)


class Follower:
    """Copies what is new in a file to one of our own outputs."""

    def __init__(self, path, output):
        self.file = open(path, "rb")  # pylint: disable=consider-using-with
        self.output = output

    def copy(self):
        new = self.file.read()
        if new:
            self.output.write(new)
            self.output.flush()


class Guest:
    """One boot of a guest."""

    def __init__(self, kernel, job, directory):
        self.job = job
        self.directory = directory
        self.timed_out = False
        for name in ("console", "out", "err", "status"):
            (directory / name).write_bytes(b"")
        self.console = Console(directory / "console", job.tolerate)
        self.followers = [Follower(directory / "out", sys.stdout.buffer),
                          Follower(directory / "err", sys.stderr.buffer)]
        # The builder's processes exec one another, so that this one is QEMU;
        # it must not outlive us, even if we are killed.
        command = [str(SCRIPTS / "builder"), "run", "--",
                   "setpriv", "--pdeathsig", "KILL", "--",
                   *qemu_command(kernel, job, directory)]
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            command, start_new_session=not job.shell,
            stdin=None if job.shell else subprocess.DEVNULL,
            stdout=None if job.shell else subprocess.DEVNULL)

    def status(self):
        """The command's exit status, or None as long as there is none."""
        text = (self.directory / "status").read_text()
        return int(text) if text.endswith("\n") else None

    def watch(self):
        """Returns when the guest has ended, by itself or by us."""
        deadline = time.monotonic() + self.job.timeout
        leave = None
        while self.process.poll() is None:
            time.sleep(0.03)
            self.console.read()
            for follower in self.followers:
                follower.copy()
            now = time.monotonic()
            if leave is None and self.status() is not None:
                leave = now + POWEROFF_SECONDS
            if self.console.fatal:
                leave = min(leave or now + GRACE_SECONDS, now + GRACE_SECONDS)
            if leave is not None and now > leave:
                break
            if not self.job.shell and now > deadline and self.status() is None:
                self.timed_out = True
                break
        self.stop()
        self.console.finish()
        for follower in self.followers:
            follower.copy()

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def verdict(guest):
    """The exit status of the run, and what to say when it is not the command's."""
    if guest.console.report:
        return STATUS_REPORT, f"the kernel reported: {guest.console.report}"
    if guest.timed_out:
        return STATUS_TIMEOUT, f"no end after {guest.job.timeout:g} seconds"
    status = guest.status()
    if status is None:
        return STATUS_REPORT, ("the guest ended without the command's exit status"
                               f" (QEMU: {guest.process.returncode})")
    return status, None


def keep_console(kernel, guest):
    directory = TREE / "build/vm"
    directory.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    path = directory / f"{kernel.name}-{stamp}-{os.getpid()}.log"
    shutil.copyfile(guest.directory / "console", path)
    return path


def remove_leftovers(parent):
    """Removes what runs that were killed could not."""
    for directory in parent.glob("*-*"):
        pid = directory.name.split("-")[0]
        if pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
            shutil.rmtree(directory, ignore_errors=True)


def boot(kernel, job, directory):
    """Boots until it is not the emulated timer that fails."""
    for attempt in range(TIMER_PANIC_TRIES):
        guest = Guest(kernel, job, directory)
        try:
            guest.watch()
        finally:
            guest.stop()
        if not guest.console.timer_panic:
            break
        say(f"the emulated timer failed at boot (try {attempt + 1}); booting again")
    return guest


def raise_interrupt(*_):
    raise KeyboardInterrupt


def run(kernel, job):
    """Runs the job in a guest; returns the exit status for this program."""
    signal.signal(signal.SIGTERM, raise_interrupt)
    signal.signal(signal.SIGHUP, raise_interrupt)
    parent = CACHE / "run"
    parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(parent)
    with tempfile.TemporaryDirectory(prefix=f"{os.getpid()}-", dir=parent) as name:
        directory = Path(name)
        make_initramfs(kernel, job, directory)
        guest = boot(kernel, job, directory)
        status, message = verdict(guest)
        if job.console:
            shutil.copyfile(directory / "console", job.console)
        if message:
            say(f"vm: {kernel.name}: {message}")
        if status:
            log = job.console or keep_console(kernel, guest)
            say(f"vm: {kernel.name}: exit status {status}; console log: {log}")
    return status

