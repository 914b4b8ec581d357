# SPDX-License-Identifier: GPL-2.0-only
"""The disk of guests with a Debian root."""

from .paths import script


def arguments(kernel, directory):
    """QEMU's arguments for a disk whose changes are lost at the end."""
    image = script("guest-root", kernel.debian, kernel.arch)
    return ["-drive", f"if=none,id=root,file={image},format=raw,snapshot=on",
            "-device", "virtio-blk-pci,drive=root"]
