#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# mmkit-test: in=builder timeout=120
#
# What holds for every file of the tree, whatever it does.

set -uo pipefail
# shellcheck source=tests/host/lib/ktap.sh
. "$(dirname "$0")/lib/ktap.sh"
cd "$TREE" || exit 1

# The files that belong to the project. A release has no git, so what git
# ignores is left out by hand.
files() {
	find . \( -path ./.git -o -path ./build -o -path ./include/generated \
		-o -name __pycache__ \) -prune -o -type f "$@" \
		! -name '*.o' ! -name '*.ko' ! -name '.*.cmd' ! -name '*.mod*' \
		! -name '*.probe' ! -name '*.probe.log' ! -name modules.order ! -name Module.symvers \
		-print | sort
}

code() { files ! -name '*.md' ! -name LICENSE ! -path './Documentation/*' ! -path './debian/*'; }

with_shebang() {
	files | while read -r file; do
		head -n 1 "$file" | grep -qE "^#!.*\b($1)( |\$)" && echo "$file"
	done
}

compile_python() {
	{ with_shebang python3; files -name '*.py'; } | sort -u | python3 -c '
import sys
for name in sys.stdin.read().split():
    with open(name, encoding="utf-8") as file:
        compile(file.read(), name, "exec")'
}

# What is sourced is followed from where it is.
mapfile -t shells < <(with_shebang 'sh|bash')
ktap_run 'shellcheck finds nothing' shellcheck "${shells[@]}"
ktap_run 'every Python file compiles' compile_python

# Who starts a script by its name must be able to.
ktap_empty 'every script is executable' "$(with_shebang 'sh|bash|python3' |
	while read -r file; do [ -x "$file" ] || echo "$file"; done)"
ktap_empty 'every file of code names its license' "$(code |
	grep -v '^./\(VERSION\|\.gitignore\)$' | while read -r file; do
	head -n 5 "$file" | grep -q 'SPDX-License-Identifier: ' || echo "$file"; done)"

# Addresses of archives come from the machine's own configuration.
ktap_empty 'no file names a download host' "$(files | xargs grep -nEi \
	'(://|[^a-z0-9.])((deb|ftp|snapshot|security|mirrors?|registry|archive|packages)[0-9]*\.[a-z0-9-]+\.[a-z]|[a-z.-]*pypi\.)' |
	grep -v 'SPDX')"
ktap_empty 'no file names a path of the machine it was written on' "$(
	files | xargs grep -nE "(^|[^A-Za-z0-9_.}/-])(/wor[k]|/hom[e]|$TREE)/")"

# The compat layer asks the compiler, so not even there a version counts.
ktap_empty 'no condition on a kernel version' "$(files -name '*.[chS]' |
	xargs grep -nE '(LINUX_VERSION|KERNEL_VERSION|RHEL_RELEASE)' /dev/null)"
ktap_empty 'the version has one home' "$(code | grep -v '^./VERSION$' |
	xargs grep -nF "$(cat VERSION)")"

ktap_finish
