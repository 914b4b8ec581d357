# SPDX-License-Identifier: GPL-2.0-only
"""Writes cpio archives of the kind that a kernel unpacks as its first root."""

import os
import stat


class Archive:
    """A "newc" archive being written to a binary file; root owns all in it."""

    def __init__(self, file):
        self.file = file
        self.known = set()
        self.inode = 0

    def directory(self, path, mode=0o755):
        """Adds a directory, and its parents, once."""
        path = path.strip("/")
        if not path or path in self.known:
            return
        self.directory(os.path.dirname(path))
        self.known.add(path)
        self._entry(path, stat.S_IFDIR | mode, b"")

    def data(self, path, content, mode=0o644):
        """Adds a regular file."""
        path = path.strip("/")
        self.directory(os.path.dirname(path))
        self._entry(path, stat.S_IFREG | mode, content)

    def symlink(self, path, target):
        path = path.strip("/")
        self.directory(os.path.dirname(path))
        self._entry(path, stat.S_IFLNK | 0o777, os.fsencode(target))

    def tree(self, source, path):
        """Adds a file, a symbolic link or a directory with all in it."""
        source = os.fspath(source)
        mode = os.lstat(source).st_mode
        if stat.S_ISLNK(mode):
            self.symlink(path, os.readlink(source))
        elif stat.S_ISDIR(mode):
            self.directory(path, stat.S_IMODE(mode))
            for name in sorted(os.listdir(source)):
                self.tree(os.path.join(source, name), f"{path}/{name}")
        elif stat.S_ISREG(mode):
            with open(source, "rb") as file:
                self.data(path, file.read(), stat.S_IMODE(mode))

    def close(self):
        """Ends the archive; another one may follow in the same file."""
        self._entry("TRAILER!!!", 0, b"")
        self.file.write(b"\0" * (-self.file.tell() % 512))

    def _entry(self, path, mode, content):
        self.inode += 1
        name = os.fsencode(path) + b"\0"
        fields = (self.inode, mode, 0, 0, 1, 0, len(content),
                  0, 0, 0, 0, len(name), 0)
        header = b"070701" + b"".join(b"%08x" % field for field in fields)
        self._padded(header + name)
        self._padded(content)

    def _padded(self, content):
        self.file.write(content)
        self.file.write(b"\0" * (-len(content) % 4))
