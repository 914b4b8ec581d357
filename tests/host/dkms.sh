#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# mmkit-test: id=dkms-11 args=11 timeout=600 network=yes
# mmkit-test: id=dkms-12 args=12 timeout=600 network=yes
# mmkit-test: id=dkms-13 args=13 timeout=600 network=yes
#
# Usage: dkms.sh DEBIAN
#
# The life of the package in a Debian release, with that release's dkms and
# kernel headers: add, build, install, the next boot's autoinstall, remove, and
# nothing left behind. The chroot is kept in the cache for the next time.

set -uo pipefail
# shellcheck source=tests/host/lib/ktap.sh
. "$(dirname "$0")/lib/ktap.sh"
# shellcheck source=scripts/lib.sh
. "$TREE/scripts/lib.sh"

debian=$1
root=$MMKIT_CACHE/dkms/$debian
version=$(cat "$TREE/VERSION")
# Its presence says that the chroot is as mmdebstrap made it.
clean_mark=$root/.mmkit-clean

make_chroot() {
	local temp=$MMKIT_CACHE/dkms/$debian.tmp

	rm -rf "$root" "$temp"
	mkdir -p "$temp"
	# In a shell of its own, for it ends the shell when it fails.
	(bootstrap "$debian" "$temp" --variant=apt --architectures=amd64 \
		--aptopt='APT::Install-Recommends "false"' \
		--include=dkms,linux-headers-amd64,openssl) || return 1
	# Headers of 6.12 and later bring the whole kernel, and depmod would
	# read its modules each time. One stays: dkms takes a kernel without
	# modules for one that was removed.
	find "$temp"/root/lib/modules/*/kernel -name '*.ko*' 2>/dev/null | sort |
		tail -n +2 | xargs -r rm
	mv "$temp/root" "$root"
	touch "$clean_mark"
	rm -rf "$temp"
}

# That the kernel in it is not the newest any more does not matter: the test is
# about dkms. What a test left that failed half-way does: then it is made anew.
ensure_chroot() {
	[ -e "$clean_mark" ] || make_chroot || return 1
	rm -f "$clean_mark"
}

inside() { "$TREE/scripts/builder" run --root "$root" -- "$@"; }

# Everything that a package could leave somewhere, with its content.
snapshot() {
	(cd "$root" && find etc lib/ usr var opt boot -xdev \
		! -path 'var/lib/dkms/mok.*' ! -path 'var/cache/*' \
		! -path 'var/log/*' ! -name 'modules.*' \( -type f -o -type l -o -type d \) \
		-printf '%y %s %p %l\n' | grep -v '^d ' | sort
		find usr/src var/lib/dkms lib/modules/ -type d | sort)
}

# Usage: status_is WORD
status_is() {
	inside dkms status "mmkit/$version" -k "$release" | tee /dev/stderr | grep -q ": $1"
}

installed() {
	find "$root/lib/modules/$release/updates/dkms" -name 'mmkit*.ko*' -printf '%f\n' 2>/dev/null |
		sed 's/\.ko.*//' | sort | xargs
}

# Both modules, for this kernel, and modprobe would find them.
usable() {
	local module

	for module in mmkit mmkit_fault; do
		inside modinfo -k "$release" -F vermagic "$module" | grep -q "^$release " || return 1
	done
	inside modprobe -S "$release" --show-depends mmkit_fault | tee /dev/stderr |
		grep -q 'updates/dkms/mmkit\.ko'
}

# dkms reports what kbuild said in the log of the build.
warnings() {
	grep -h 'warning: ' "$root/var/lib/dkms/mmkit/$version"/*/*/log/make.log
}

# What the compiler said is in a log of dkms.
show_build_log() {
	ktap_note "$(tail -n 15 "$root/var/lib/dkms/mmkit/$version"/build/make.log 2>/dev/null)"
}

by_hand() {
	local dkms=(inside dkms) which=(-m mmkit -v "$version" -k "$release")

	ktap_run 'the source is copied' inside "$TREE/scripts/dkms-source" "/usr/src/mmkit-$version"
	ktap_run 'dkms add' "${dkms[@]}" add -m mmkit -v "$version"
	ktap_run 'dkms build' "${dkms[@]}" build "${which[@]}" || show_build_log
	ktap_empty 'the build does not warn' "$(warnings)"
	ktap_run 'status says built' status_is built
	ktap_run 'dkms install' "${dkms[@]}" install "${which[@]}"
	ktap_run 'status says installed' status_is installed
	ktap_run 'both modules are installed' test "$(installed)" = 'mmkit mmkit_fault'
	ktap_run 'modprobe finds them' usable
	ktap_run 'dkms uninstall' "${dkms[@]}" uninstall "${which[@]}"
	ktap_run 'no module is installed' test -z "$(installed)"
	# What happens when a new kernel arrives.
	ktap_run 'dkms autoinstall' "${dkms[@]}" autoinstall -k "$release"
	ktap_run 'autoinstall installs both' test "$(installed)" = 'mmkit mmkit_fault'
	ktap_run 'dkms remove' "${dkms[@]}" remove -m mmkit -v "$version" --all
	rm -r "$root/usr/src/mmkit-$version"
}

by_make() {
	local make=(inside make -C "$TREE" "KDIR=/lib/modules/$release/build")

	ktap_run 'make dkms-install' "${make[@]}" dkms-install
	ktap_run 'make dkms-install installs both' test "$(installed)" = 'mmkit mmkit_fault'
	ktap_run 'make dkms-remove' "${make[@]}" dkms-remove
}

prepare_cache
mkdir -p "$MMKIT_CACHE/dkms"
# For the whole test: another one would work in the same chroot.
exec {lock}>"$MMKIT_CACHE/locks/dkms-$debian"
flock "$lock"
if ! ktap_run "a Debian $debian with dkms" ensure_chroot; then
	ktap_finish
fi
release=$(basename "$(readlink -f "$root"/lib/modules/*-amd64)")
ktap_note "$(inside dkms --version) $release"

before=$(snapshot)
by_hand
ktap_empty 'remove leaves nothing behind' "$(diff <(echo "$before") <(snapshot))"
by_make
ktap_empty 'make dkms-remove leaves nothing behind' "$(diff <(echo "$before") <(snapshot))"

[ "$ktap_failed" != 0 ] || touch "$clean_mark"
ktap_finish
