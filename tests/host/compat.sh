#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# mmkit-test: in=builder timeout=300
#
# The compile-time probes of include/compat: that every one is asked and used,
# and that the two guards stop a build whose answers would be worthless.

set -uo pipefail
# shellcheck source=tests/host/lib/ktap.sh
. "$(dirname "$0")/lib/ktap.sh"
# shellcheck source=tests/host/lib/build.sh
. "$(dirname "$0")/lib/build.sh"
cd "$TREE" || exit 1

kernel=$(first_kernel amd64)
probes=$(cd include/compat/probes && printf '%s\n' *.c | sed 's/\.c$//')

# Usage: answer KERNEL PROBE, after a build
answer() {
	grep -qi "^#define HAVE_$2 1" "$SCRATCH/$1/include/generated/mmkit_compat.h"
}

listed() {
	grep -qw "$1" include/compat/Kbuild.probes
}

used() {
	case $1 in
	must_pass | must_fail) ;;
	*) grep -rqw "HAVE_${1^^}" include/compat/*.h include/mmkit modules ;;
	esac
}

for_all_probes() {
	local probe

	for probe in $probes; do "$1" "$probe" || echo "$probe"; done
}

ktap_empty 'every probe is asked' "$(for_all_probes listed)"
ktap_empty 'every answer is used' "$(for_all_probes used)"
ktap_empty 'every use has a probe' "$(grep -rhoE '\bHAVE_[A-Z0-9_]+' include/compat/*.h include/mmkit modules |
	sort -u | sed 's/^HAVE_//' | tr '[:upper:]' '[:lower:]' | grep -vxF "$probes")"

if [ -z "$kernel" ]; then
	ktap_skip 'guards' 'no amd64 kernel is selected'
	ktap_finish
fi

copy_tree "$SCRATCH/$kernel"
if ktap_run 'the tree builds with its guards' build "$kernel" "$SCRATCH/$kernel"; then
	ktap_run 'must_pass passed' answer "$kernel" must_pass
	ktap_run 'must_fail failed' test "$(answer "$kernel" must_fail; echo $?)" = 1
fi

# Usage: guard NAME PROBE SOURCE MESSAGE
# The build must stop, and say why, when PROBE gives the wrong answer.
guard() {
	local output

	copy_tree "$SCRATCH/broken"
	echo "$3" >"$SCRATCH/broken/include/compat/probes/$2.c"
	if output=$(build "$kernel" "$SCRATCH/broken" 2>&1); then
		ktap_note "the build went through"
		ktap_not_ok "$1"
	elif ! grep -q "$4" <<<"$output"; then
		ktap_note "$(tail -n 20 <<<"$output")"
		ktap_not_ok "$1"
	else
		ktap_ok "$1"
	fi
}

guard 'a must_pass that fails stops the build' must_pass 'syntax error;' \
	'cannot build a trivial module'
guard 'a must_fail that passes stops the build' must_fail '#include <linux/module.h>' \
	'must fail'

ktap_finish
