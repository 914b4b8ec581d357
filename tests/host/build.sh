#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# mmkit-test: in=builder timeout=600
#
# The Makefile as people use it: build, install, uninstall, clean.

set -uo pipefail
# shellcheck source=tests/host/lib/ktap.sh
. "$(dirname "$0")/lib/ktap.sh"
# shellcheck source=tests/host/lib/build.sh
. "$(dirname "$0")/lib/build.sh"
cd "$TREE" || exit 1

modules='mmkit.ko mmkit_fault.ko'
work=$SCRATCH/tree

# Usage: complete KERNEL
# Both modules were built, for that kernel's release.
complete() {
	local module release

	release=$("$TREE/scripts/kernels" release "$1")
	for module in $modules; do
		modinfo -F vermagic "$work/$module" | grep -q "^$release " || return 1
	done
}

for_kernel() {
	rm -rf "$work"
	cp -a "$SCRATCH/fresh" "$work"
	ktap_run "$1: make" build "$1" "$work"
	ktap_run "$1: make builds both modules" complete "$1"
}

# What kbuild installed, below a root of its own.
installed() {
	find "$1/lib/modules" -name 'mmkit*.ko*' -printf '%f\n' | sed 's/\.ko.*//' | sort | xargs
}

install_and_uninstall() {
	local kernel=$1 release root=$SCRATCH/root

	release=$("$TREE/scripts/kernels" release "$kernel")
	mkdir -p "$root/lib/modules/$release/updates/other"
	touch "$root/lib/modules/$release/updates/other/other.ko"
	cp "$("$TREE/scripts/kernels" dir "$kernel")"/modules/modules.{order,builtin}* \
		"$root/lib/modules/$release/"

	ktap_run 'make install' build "$kernel" "$work" install INSTALL_MOD_PATH="$root"
	ktap_run 'installs both modules' test "$(installed "$root")" = 'mmkit mmkit_fault'
	ktap_run 'installs to updates/' test -e "$root/lib/modules/$release/updates/mmkit.ko" -o \
		-e "$root/lib/modules/$release/updates/mmkit.ko.xz"
	ktap_run 'runs depmod' grep -q '^updates/mmkit_fault.ko.*: updates/mmkit.ko' \
		"$root/lib/modules/$release/modules.dep"
	ktap_run 'make uninstall' build "$kernel" "$work" uninstall INSTALL_MOD_PATH="$root"
	ktap_run 'removes both modules' test -z "$(installed "$root")"
	ktap_run 'leaves those of others' test -e "$root/lib/modules/$release/updates/other/other.ko"
	ktap_run 'runs depmod again' eval "! grep -q mmkit '$root/lib/modules/$release/modules.dep'"

	ktap_run 'make install with a relative DESTDIR' build "$kernel" "$work" install \
		DESTDIR=../dest INSTALL_MOD_PATH=/usr
	ktap_run 'DESTDIR and INSTALL_MOD_PATH add up' \
		test "$(installed "$SCRATCH/dest/usr")" = 'mmkit mmkit_fault'
	ktap_run 'no depmod where no kernel is' eval "! find '$SCRATCH/dest' -name modules.dep | grep ."
}

# What was built in the tree goes, nothing else does, and no headers anywhere.
clean_without_headers() {
	make -C "$work" clean KDIR=/nonexistent >/dev/null && diff -r "$SCRATCH/fresh" "$work"
}

copy_tree "$SCRATCH/fresh"
# One native and one cross build; the runner itself builds for every kernel.
for kernel in $(first_kernel arm64) $(first_kernel amd64); do
	for_kernel "$kernel"
done
install_and_uninstall "$kernel"
ktap_run 'make clean without headers leaves the sources alone' clean_without_headers
ktap_run 'make help' make -C "$work" help KDIR=/nonexistent
help=$(make -C "$work" help)
for word in KDIR= install uninstall dkms-install clean demo check bench style kernels; do
	ktap_run "make help names $word" grep -q -- "make.*$word" <<<"$help"
done

ktap_finish
