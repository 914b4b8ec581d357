#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# mmkit-test: timeout=600 network=yes
#
# checkpatch and sparse find nothing in our code.

set -uo pipefail
# shellcheck source=tests/host/lib/ktap.sh
. "$(dirname "$0")/lib/ktap.sh"

for check in checkpatch sparse; do
	ktap_run "$check finds nothing" "$TREE/scripts/style" "$check"
done
ktap_finish
