#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# mmkit-test: in=builder timeout=120
#
# What goes wrong before a build, and whether one line says so.

set -uo pipefail
# shellcheck source=tests/host/lib/ktap.sh
. "$(dirname "$0")/lib/ktap.sh"
# shellcheck source=tests/host/lib/build.sh
. "$(dirname "$0")/lib/build.sh"

work=$SCRATCH/tree
copy_tree "$work"

# Usage: fake_kdir
# Makes $SCRATCH/kdir look like the headers of a kernel for this machine.
fake_kdir() {
	rm -rf "$SCRATCH/kdir"
	mkdir -p "$SCRATCH/kdir/include/config" "$SCRATCH/kdir/scripts/basic"
	cd "$SCRATCH/kdir" || exit 1
	touch Makefile Module.symvers
	echo 'CONFIG_X86_64=y' >include/config/auto.conf
	cp /bin/true scripts/basic/fixdep
	cd "$work" || exit 1
}

# Usage: refused NAME PATTERN MAKE-ARGUMENT...
# make fails, and says one line of its own that has PATTERN in it.
refused() {
	local name=$1 pattern=$2 output said

	shift 2
	if output=$(make "$@" 2>&1); then
		ktap_note "make $* went through"
		ktap_not_ok "$name"
		return
	fi
	said=$(grep -v '^make' <<<"$output")
	if [ "$(wc -l <<<"$said")" = 1 ] && grep -qE -- "$pattern" <<<"$said"; then
		ktap_ok "$name"
	else
		ktap_note "make $* said:"
		ktap_note "$output"
		ktap_not_ok "$name"
	fi
}

cd "$work" || exit 1
refused 'no headers of the running kernel' "no kernel headers in .*apt install linux-headers-$(uname -r)"
refused 'no headers in KDIR' 'no kernel headers in /nonexistent.*KDIR=' KDIR=/nonexistent
refused 'a space in KDIR' "space in a path: KDIR is '/a b'" KDIR='/a b'
refused 'a space in DESTDIR' "space in a path: DESTDIR is '/a b'" install DESTDIR='/a b'

fake_kdir
rm "$SCRATCH/kdir/include/config/auto.conf"
refused 'a kernel tree that is not configured' 'not configured' KDIR="$SCRATCH/kdir"

fake_kdir
rm "$SCRATCH/kdir/Module.symvers"
refused 'no Module.symvers' 'no Module.symvers in ' KDIR="$SCRATCH/kdir"

fake_kdir
# shellcheck disable=SC2016 # expanded by make
echo 'CC = $(CROSS_COMPILE)gcc-99' >"$SCRATCH/kdir/.kernelvariables"
refused "the kernel's compiler is missing" 'gcc-99, is missing: apt install gcc-99,' KDIR="$SCRATCH/kdir"
refused 'the cross compiler is missing' 'apt install gcc-99-mips64-linux-gnu,' \
	KDIR="$SCRATCH/kdir" CROSS_COMPILE=mips64-linux-gnu-
refused 'CC= names nothing' 'nosuchcc, is missing' KDIR="$SCRATCH/kdir" CC=nosuchcc

fake_kdir
echo 'CONFIG_ARM64=y' >"$SCRATCH/kdir/include/config/auto.conf"
refused 'a native compiler for arm64' 'this kernel is arm64: add ARCH=arm64 CROSS_COMPILE=' \
	KDIR="$SCRATCH/kdir"

fake_kdir
echo 'CONFIG_CC_IS_CLANG=y' >"$SCRATCH/kdir/include/config/auto.conf"
refused 'a kernel built by clang, without clang' 'clang, is missing' KDIR="$SCRATCH/kdir"

fake_kdir
printf '#!/nonexistent/loader\n' >"$SCRATCH/kdir/scripts/basic/fixdep"
refused 'headers of another machine' 'do not run on this machine' KDIR="$SCRATCH/kdir"

cp -r "$work" "$SCRATCH/a b"
cd "$SCRATCH/a b" || exit 1
fake_kdir
cd "$SCRATCH/a b" || exit 1
refused 'a space in the path of the tree' 'space in a path: this directory' KDIR="$SCRATCH/kdir"

# Usage: installed_note NAME SIG_ENFORCE LOCKDOWN YES|NO
# Does the installation warn of a kernel that only loads signed modules?
installed_note() {
	local sys=$SCRATCH/sys want=$4 got=no

	rm -rf "$sys"
	mkdir -p "$sys/module/module/parameters" "$sys/kernel/security" "$SCRATCH/bin"
	echo "$2" >"$sys/module/module/parameters/sig_enforce"
	echo "$3" >"$sys/kernel/security/lockdown"
	# The builder has no kernel of its own; what depmod does is not the point.
	ln -sf /bin/true "$SCRATCH/bin/depmod"
	MMKIT_SYSFS=$sys PATH=$SCRATCH/bin:$PATH "$work/scripts/after-install" 0.0.0-none 2>/dev/null |
		grep -q 'only loads signed modules' && got=yes
	ktap_run "$1" test "$got" = "$want"
}

installed_note 'a note with module.sig_enforce=1' Y '[none] integrity confidentiality' yes
installed_note 'a note with lockdown' N 'none [integrity] confidentiality' yes
installed_note 'no note where any module loads' N '[none] integrity confidentiality' no

ktap_finish
