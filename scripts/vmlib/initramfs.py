# SPDX-License-Identifier: GPL-2.0-only
"""Makes the first root file system of a guest.

It is two archives, one after the other: one per kernel with busybox, kmod and
some of the kernel's modules, kept in the cache; and a small one for each run
with the command, the modules under test and what the user adds.
"""

import hashlib
import lzma
import os
import shlex
from pathlib import Path

from . import cpio
from .paths import SCRIPTS, Failure, lock, script

# Modules of the distribution that every guest has: those for virtual devices
# and for its root, and what tests of memory management load. A name that a
# kernel does not have is built in there, or not needed.
MODULES = """
    virtio_pci virtio_console virtio_blk virtio_balloon virtio_mem virtio_rng
    9pnet_virtio 9p ext4 crc32c_generic crc32c_intel crc32c-intel
    fuse overlay loop zram lzo lzo_rle lz4 zstd hwpoison_inject null_blk brd
""".split()

TRIPLETS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
LOADERS = {"amd64": "/lib64/ld-linux-x86-64.so.2",
           "arm64": "/lib/ld-linux-aarch64.so.1"}
# What kmod wants, and libm because many small programs want it.
LIBRARIES = ("libc.so.6", "libm.so.6", "libcrypto.so.3", "libz.so.1",
             "libzstd.so.1")
KMOD_NAMES = ("depmod", "insmod", "lsmod", "modinfo", "modprobe", "rmmod")
DIRECTORIES = ("dev", "etc", "mnt", "proc", "root", "run", "sys", "sysroot",
               "tmp", "usr", "usr/bin", "usr/sbin", "var")
TEXTS = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\n"
                  "nobody:x:65534:65534:nobody:/:/bin/false\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "etc/hostname": "mmkit\n",
    # For busybox's shell when it is the prompt; see add_userland().
    "etc/shell-aliases": "".join(
        f"alias {name}=/sbin/{name}\n" for name in KMOD_NAMES),
}


def module_name(path):
    return Path(path).name.split(".ko")[0].replace("-", "_")


class ModuleTree:
    """The modules of a kernel and what each depends on."""

    def __init__(self, directory):
        self.directory = directory
        self.paths = {}
        self.needs = {}
        with open(directory / "modules.dep", encoding="ascii") as file:
            for line in file:
                path, needs = line.split(":")
                name = module_name(path)
                self.paths[name] = path
                self.needs[name] = [module_name(need) for need in needs.split()]

    def closure(self, names):
        """The paths of the modules and of all that they depend on."""
        wanted = set()
        for name in names:
            name = module_name(name)
            if name in self.paths:
                wanted.update([name, *self.needs[name]])
        return sorted(self.paths[name] for name in wanted)

    def read(self, path):
        """A module's content, as the kernel loads it."""
        content = (self.directory / path).read_bytes()
        return lzma.decompress(content) if path.endswith(".xz") else content


def add_modules(archive, kernel, names):
    """Adds distribution modules, unpacked: that is quicker in a guest."""
    tree = ModuleTree(kernel.modules)
    where = f"lib/modules/{kernel.release}"
    for path in tree.closure(names):
        archive.data(f"{where}/{path.removesuffix('.xz')}", tree.read(path))


def userland(arch):
    root = Path(script("builder", "root"))
    return root if arch == "amd64" else root / "srv/arm64"


def add_userland(archive, arch):
    """Adds busybox, a shell, kmod and the libraries of these."""
    root = userland(arch)
    libraries = root / "usr/lib" / TRIPLETS[arch]
    # busybox's own shell would run busybox's modprobe, whatever PATH says.
    for source, name in (("busybox", "busybox"), ("dash", "sh"), ("kmod", "kmod")):
        archive.data(f"bin/{name}", (root / "usr/bin" / source).read_bytes(), 0o755)
    for name in KMOD_NAMES:
        archive.symlink(f"sbin/{name}", "/bin/kmod")
    archive.symlink("bin/lsmod", "/bin/kmod")
    for name in LIBRARIES:
        archive.data(f"lib/{TRIPLETS[arch]}/{name}",
                     (libraries / name).read_bytes(), 0o755)
    loader = LOADERS[arch]
    archive.data(loader, (libraries / Path(loader).name).read_bytes(), 0o755)


def write_base(path, kernel):
    with open(path, "wb") as file:
        archive = cpio.Archive(file)
        for name in DIRECTORIES:
            archive.directory(name)
        for name, text in TEXTS.items():
            archive.data(name, text.encode())
        add_userland(archive, kernel.arch)
        for name in ("modules.builtin", "modules.order", "modules.builtin.modinfo"):
            source = kernel.modules / name
            if source.exists():
                archive.tree(source, f"lib/modules/{kernel.release}/{name}")
        add_modules(archive, kernel, MODULES)
        archive.close()


def base_archive(kernel):
    """The archive that all runs of this kernel share."""
    script("builder", "ensure")
    key = hashlib.sha256(
        Path(__file__).read_bytes() + script("builder", "root").encode())
    path = kernel.dir / f"initramfs-{key.hexdigest()[:12]}.cpio"
    with lock(f"initramfs-{kernel.name}"):
        if not path.exists():
            for old in kernel.dir.glob("initramfs-*"):
                old.unlink()
            temporary = path.with_suffix(".tmp")
            write_base(temporary, kernel)
            temporary.rename(path)
    return path


def command_text(command):
    """One word is a line for the shell; several are a command as they are."""
    return command[0] if len(command) == 1 else shlex.join(command)


def split_addition(text):
    """FILE[:DEST] of the command line, as (source, path in the guest)."""
    source, _, destination = text.partition(":")
    if not os.path.lexists(source):
        raise Failure(f"no such file to add: {source}")
    name = os.path.basename(os.path.abspath(source))
    if not destination:
        destination = f"/root/{name}"
    elif destination.endswith("/"):
        destination += name
    if not destination.startswith("/"):
        destination = f"/root/{destination}"
    return os.path.realpath(source), destination


def write_run_archive(file, kernel, job):
    """Adds what this run alone has. `job` is a guest.Job."""
    archive = cpio.Archive(file)
    scripts = SCRIPTS / "vmlib/guest"
    archive.tree(scripts / "init", "init")
    for name in ("start", "mmkit.service"):
        archive.tree(scripts / name, f"mmkit/{name}")
    archive.data("mmkit/command", command_text(job.command).encode() + b"\n", 0o755)
    archive.data("mmkit/settings", job.settings().encode())
    add_modules(archive, kernel, job.with_modules)
    for module in job.modules:
        archive.tree(module, f"lib/modules/{kernel.release}/updates/{module.name}")
    # The minimal root is this archive itself; for a disk, init copies from /add.
    prefix = "" if job.root == "minimal" else "/add"
    for source, destination in map(split_addition, job.additions):
        archive.tree(source, prefix + destination)
    archive.close()
