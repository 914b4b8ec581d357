# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For host tests that build the modules, in the builder. They do so in copies
# of the tree below SCRATCH, which goes with the builder's /tmp.

SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT

# Usage: first_kernel ARCH
# The first of the selected kernels with that architecture, if any.
first_kernel() {
	tr ' ' '\n' <<<"${MMKIT_KERNELS:-}" | grep -m 1 -- "-$1\$"
}

# Usage: copy_tree DEST
copy_tree() {
	rm -rf "$1"
	mkdir -p "$1"
	tar -C "$TREE" --exclude=./.git --exclude=./build --exclude=./include/generated \
		--exclude='*.o' --exclude='*.ko' --exclude='.*.cmd' --exclude='*.probe' --exclude='*.probe.log' \
		--exclude=Module.symvers --exclude=modules.order --exclude='*.mod*' \
		-cf - . | tar -C "$1" -xf -
}

kdir() { "$TREE/scripts/kernels" kdir "$1"; }

# Usage: build KERNEL DIRECTORY [MAKE-ARGUMENT...]
# Builds a copy of the tree as a person would, through the Makefile.
build() {
	local kernel=$1 dir=$2 variables

	shift 2
	read -ra variables < <("$TREE/scripts/kernels" env "$kernel")
	make -C "$dir" -j2 KDIR="$(kdir "$kernel")" "${variables[@]}" "$@"
}
