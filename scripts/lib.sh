# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the shell scripts share: messages, the cache, locks, and Debian's
# archives as the host's own apt knows them.

TREE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
MMKIT_CACHE=${MMKIT_CACHE:-/var/cache/mmkit}
export MMKIT_CACHE

# A user's PATH may lack the sbin directories when root comes by `su`.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

say() { printf '%s\n' "$*" >&2; }
die() { say "${0##*/}: $*"; exit 1; }

# Prints the comment at the head of the calling script, from its fourth line on.
usage_from_header() {
	awk 'NR > 3 && !/^#/ { exit } NR > 3 { sub(/^# ?/, ""); print }' "$0"
}

need_root() {
	[ "$(id -u)" = 0 ] || die "must run as root (try: sudo $0 ...)"
}

# Blanks and colons would have to be quoted for apt, make and mount alike.
check_paths() {
	case $TREE$MMKIT_CACHE in
	*[[:space:]:]*) die "path with a space or a colon: '$TREE' or '$MMKIT_CACHE'" ;;
	esac
	case $MMKIT_CACHE in
	/*) ;;
	*) die "MMKIT_CACHE must be an absolute path: '$MMKIT_CACHE'" ;;
	esac
}

# Makes the cache; apt's unprivileged download user must be able to enter it.
prepare_cache() {
	need_root
	check_paths
	install -d -m 755 "$MMKIT_CACHE" "$MMKIT_CACHE/locks"
}

# Usage: with_lock NAME COMMAND...
# Runs COMMAND (a function of the caller, too) while no other process of the
# same NAME runs. The lock goes with the process, however that ends.
# COMMAND must not be part of a condition: bash would go on after an error in it.
with_lock() {
	local name=$1 fd status

	shift
	exec {fd}>"$MMKIT_CACHE/locks/$name"
	if ! flock -n "$fd"; then
		say "waiting for another process that has the $name lock"
		flock "$fd"
	fi
	"$@"
	status=$?
	exec {fd}>&-
	return "$status"
}

# Usage: own_mounts COMMAND...
# Runs COMMAND as this process, with mounts that nobody else sees and that go
# with it.
own_mounts() {
	if unshare --mount true 2>/dev/null; then
		exec unshare --mount --propagation private "$@"
	fi
	# The root of a chroot is seldom a mount, so it cannot be made private, and
	# what is mounted in it would show up outside. But /proc is one: a copy of
	# the root on top of it is our own.
	mountpoint -q /proc || die "/proc is not mounted"
	# shellcheck disable=SC2016 # expanded by the inner shells
	exec unshare --mount --propagation unchanged /bin/sh -c '
		mount --make-private /proc &&
		mount --rbind / /proc &&
		mount --make-rprivate /proc &&
		exec chroot /proc /bin/sh -c "cd \"\$0\"; exec \"\$@\"" "$PWD" "$@"
	' sh "$@"
}

# Usage: have_packages PACKAGE...
have_packages() {
	local package

	for package; do
		dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
			grep -qx installed || return 1
	done
}

# Usage: host_packages PACKAGE...
# Installs on the host what is missing, and nothing when all is there.
host_packages() {
	have_packages "$@" && return 0
	prepare_cache
	with_lock host-packages install_missing "$@"
}

install_missing() {
	local missing=() package

	for package; do
		have_packages "$package" || missing+=("$package")
	done
	[ ${#missing[@]} = 0 ] && return 0

	say "installing on this machine: ${missing[*]}"
	# A third-party source that fails must not stop us: apt-get install
	# says it better when something is really missing.
	apt-get -qq update >&2 || true
	DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
		-o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 \
		install "${missing[@]}" >/dev/null ||
		die "apt-get cannot install: ${missing[*]}"
}

# Usage: host_source LABEL
# The address from which the host's apt takes Debian's archive of that label.
host_source() {
	# shellcheck disable=SC2016 # expanded by apt-get
	apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' |
		awk -F'|' -v label="$1" '$1 == "Debian" && $2 == label && !n++ { print $3 }'
}

# The address of Debian's archive, without a slash at its end.
debian_mirror() {
	local uri=${MMKIT_MIRROR:-}

	[ -n "$uri" ] || uri=$(host_source Debian)
	if [ -z "$uri" ]; then
		# Origin and label are known only after an update.
		apt-get -qq update >&2 || true
		uri=$(host_source Debian)
	fi
	[ -n "$uri" ] || die "no Debian archive in this machine's apt sources; set MMKIT_MIRROR"
	printf '%s\n' "${uri%/}"
}

# The address of Debian's security archive; mirrors keep it beside the archive.
security_mirror() {
	local uri=${MMKIT_SECURITY_MIRROR:-}

	[ -n "$uri" ] || uri=$(host_source Debian-Security)
	if [ -z "$uri" ]; then
		uri=$(debian_mirror)
		uri=${uri%/}-security
	fi
	printf '%s\n' "${uri%/}"
}

# Usage: keyring RELEASE
# Prints the path of a ring with the keys that sign Debian RELEASE. A newer
# Debian has moved the keys of an old release to the ring of removed keys.
keyring() {
	local dir=/usr/share/keyrings
	local ring=$MMKIT_CACHE/keyring-$1.gpg rings=() name

	for name in debian-archive-keyring debian-archive-removed-keys; do
		[ -e "$dir/$name.gpg" ] && rings+=("$dir/$name.gpg")
		[ "$1" = 11 ] || break
	done
	[ ${#rings[@]} -gt 0 ] || die "no $dir/debian-archive-keyring.gpg (package debian-archive-keyring)"
	cat "${rings[@]}" >"$ring.$$"
	chmod 644 "$ring.$$"
	mv "$ring.$$" "$ring"
	printf '%s\n' "$ring"
}

codename() {
	case $1 in
	11) echo bullseye ;;
	12) echo bookworm ;;
	13) echo trixie ;;
	*) die "unknown Debian release: $1" ;;
	esac
}

# Usage: sources RELEASE [ARCH]
# Prints the apt sources of a Debian release, signed by Debian's keys alone.
sources() {
	local suite options mirror security ring

	suite=$(codename "$1")
	mirror=$(debian_mirror)
	security=$(security_mirror)
	ring=$(keyring "$1")
	# Package lists alone: the host may have apt fetch other files, too.
	options="signed-by=$ring target=Packages${2:+ arch=$2}"
	# Debian 11 gets no new indexes: signed, but past the date in them.
	[ "$1" = 11 ] && options+=" check-valid-until=no"

	echo "deb [$options] $mirror $suite main"
	echo "deb [$options] $mirror $suite-updates main"
	[ "$1" = 13 ] && echo "deb [$options] $mirror $suite-backports main"
	echo "deb [$options] $security $suite-security main"
}

# How the host's apt reaches the network, for the apt of a chroot: proxies,
# retries, and what it was told about dates (machines with a wrong clock).
host_apt_options() {
	apt-config dump |
		grep -E '^Acquire::(https?::|Retries|Check-Valid-Until|Check-Date|Max-FutureTime)' |
		grep -v '""' || true
}

# Usage: bootstrap RELEASE DIR OPTION...
# Makes a Debian root in DIR/root with mmdebstrap and its OPTIONs, from
# DIR/sources if the caller has made that.
bootstrap() {
	local release=$1 dir=$2

	shift 2
	host_packages mmdebstrap debian-archive-keyring
	host_apt_options >"$dir/apt.conf"
	[ -e "$dir/sources" ] || sources "$release" >"$dir/sources"
	(own_mounts mmdebstrap --mode=root --format=directory \
		--skip=check/qemu --skip=check/empty \
		--aptopt="$dir/apt.conf" --aptopt='Acquire::Languages "none"' \
		--dpkgopt=force-unsafe-io \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		"$@" "$(codename "$release")" "$dir/root" "$dir/sources") \
		>"$dir/log" 2>&1 </dev/null || {
		tail -n 20 "$dir/log" >&2
		die "mmdebstrap failed; its log is $dir/log"
	}
	# The signatures' keys are outside; nothing is installed from inside.
	rm -f "$dir"/root/etc/apt/sources.list "$dir"/root/etc/apt/sources.list.d/*
}
