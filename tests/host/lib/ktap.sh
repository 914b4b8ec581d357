# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# KTAP for the host tests: source this, report results, end with ktap_finish.

TREE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd -P)
ktap_count=0 ktap_failed=0 ktap_skipped=0

echo "KTAP version 1"

# Shows a text as the notes of the result that follows.
ktap_note() {
	printf '# %s\n' "${1//$'\n'/$'\n# '}"
}

ktap_ok() {
	ktap_count=$((ktap_count + 1))
	echo "ok $ktap_count $*"
}

ktap_not_ok() {
	ktap_count=$((ktap_count + 1))
	ktap_failed=$((ktap_failed + 1))
	echo "not ok $ktap_count $*"
}

# Usage: ktap_skip NAME WHY
ktap_skip() {
	ktap_count=$((ktap_count + 1))
	ktap_skipped=$((ktap_skipped + 1))
	echo "ok $ktap_count $1 # SKIP $2"
}

# Usage: ktap_run NAME COMMAND...
# The test is that COMMAND succeeds; its output is shown when it does not.
ktap_run() {
	local name=$1 output status=0

	shift
	output=$("$@" 2>&1) || status=$?
	if [ "$status" = 0 ]; then
		ktap_ok "$name"
	else
		ktap_note "$* ended with $status"
		ktap_note "$(tail -n 20 <<<"$output")"
		ktap_not_ok "$name"
	fi
	return "$status"
}

# Usage: ktap_empty NAME TEXT
# The test is that TEXT, a list of what is wrong, is empty.
ktap_empty() {
	if [ -z "$2" ]; then
		ktap_ok "$1"
	else
		ktap_note "$(head -n 20 <<<"$2")"
		ktap_not_ok "$1"
	fi
}

# Usage: ktap_finish; exits
ktap_finish() {
	echo "1..$ktap_count"
	[ "$ktap_failed" = 0 ] || exit 1
	[ "$ktap_count" != "$ktap_skipped" ] || exit 4
	exit 0
}
