#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# mmkit-test: timeout=900
#
# What scripts/vm promises to everything that is built on it: the command's
# output and exit status, a limit of time, and that no report of the kernel
# goes unnoticed.

set -uo pipefail
# shellcheck source=tests/host/lib/ktap.sh
. "$(dirname "$0")/lib/ktap.sh"

kernel=6.12-amd64
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Usage: vm OPTION... -- COMMAND; leaves status, $work/out and $work/err
vm() {
	"$TREE/scripts/vm" run "$kernel" --modules "$TREE/build/$kernel/test" "$@" \
		>"$work/out" 2>"$work/err" </dev/null
	status=$?
}

# Usage: expect NAME STATUS [PATTERN-OF-ERRORS]
expect() {
	if [ "$status" = "$2" ] && { [ $# = 2 ] || grep -qE -- "$3" "$work/err"; }; then
		ktap_ok "$1"
		return
	fi
	ktap_note "exit status $status, wanted $2 and ${3:-nothing special}; it said:"
	ktap_note "$(tail -n 20 "$work/err")"
	ktap_not_ok "$1"
}

# Usage: log_has PATTERN
# The console log that the message names is there and has the pattern.
log_has() {
	local log

	log=$(sed -n 's/.*console log: //p' "$work/err")
	grep -qE -- "$1" "$log" && rm -f "$log"
}

remove_log() {
	rm -f "$(sed -n 's/.*console log: //p' "$work/err")"
}


"$TREE/scripts/build-test-modules" "$kernel" >&2 || exit 1

check_channels() {
	echo added >"$work/file"
	vm --add "$work/file" --add "$work/file:/opt/other" -- \
		'sleep 1000 & cat file /opt/other
		echo wrong >&2; echo said >/dev/kmsg; exit 37'
	expect "the command's exit status" 37 '^wrong$'
	ktap_run 'its output, and nothing else' \
		test "$(cat "$work/out")" = "added"$'\n'"added"
	ktap_run 'a failed run names its console log' log_has '\] said'

	vm -- 'dd if=/dev/urandom of=/tmp/x bs=64k count=32 2>/dev/null
		sha256sum </tmp/x >&2; cat /tmp/x'
	expect 'binary output' 0 "^$(sha256sum <"$work/out" | cut -d' ' -f1)"
	vm -- printf '%s|' 'a b' "c'd" "\$e"
	expect 'a command of several words' 0
	ktap_run '... comes as it is' test "$(cat "$work/out")" = "a b|c'd|\$e|"
}

check_ends() {
	vm --timeout 40 -- 'echo begun; sleep 1000'
	expect 'a command that takes too long' 124 'no end after 40 seconds'
	ktap_run '... is heard until then' grep -qx begun "$work/out"
	remove_log
	vm -- 'echo o >/proc/sysrq-trigger; sleep 1000'
	expect 'a guest that goes away' 125 'without the command'
	remove_log
}

check_reports() {
	vm -- 'modprobe mmkit_test_report warn=1; echo after'
	expect 'a kernel warning, whatever the command says' 125 'the kernel reported: .* WARNING:'
	ktap_run '... and the command ends' grep -qx after "$work/out"
	ktap_run '... and the log has it' log_has 'mmkit_test_report: this is a test'
	vm --tolerate 'test_report|test_init' -- 'modprobe mmkit_test_report warn=1'
	expect 'a warning that is tolerated' 0
	SECONDS=0
	vm -- 'modprobe mmkit_test_report oops=1; sleep 1000'
	expect 'an oops' 125 'BUG: kernel NULL pointer'
	ktap_run '... ends the guest at once' test "$SECONDS" -lt 120
	remove_log
	vm -- 'echo c >/proc/sysrq-trigger'
	expect 'a panic' 125 'the kernel reported: '
	ktap_run '... and the log has it' log_has 'Kernel panic - not syncing: sysrq triggered crash'
}

# Usage: check_signal SIGNAL
# The signal ends scripts/vm, and the guest goes with it.
check_signal() {
	local mark=mmkit_test_$$_$1 vm try

	# A shell starts what is in the background with SIGINT ignored.
	env --default-signal=INT "$TREE/scripts/vm" run "$kernel" \
		--modules none --append "$mark" \
		-- 'sleep 1000' >"$work/out" 2>"$work/err" </dev/null &
	vm=$!
	for ((try = 0; try < 60; try++)); do
		pgrep -f "^qemu-system.*$mark" >/dev/null && break
		sleep 1
	done
	[ "$try" -lt 60 ] || ktap_note 'the guest did not start'
	kill "-$1" "$vm"
	wait "$vm" 2>/dev/null
	sleep 1
	ktap_empty "no guest is left after SIG$1" "$(pgrep -af "^qemu-system.*$mark")"
	[ "$1" = KILL ] || ktap_empty '... and no file' \
		"$(find "${MMKIT_CACHE:-/var/cache/mmkit}/run" -mindepth 1 -name "$vm-*")"
}

check_channels
check_ends
check_reports
check_signal INT
check_signal KILL
ktap_finish
