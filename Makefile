# SPDX-License-Identifier: GPL-2.0-only
#
# Serves people. The kernel's build system and dkms never read this file: they
# read Kbuild. That is why nothing here looks at KERNELRELEASE, and why there
# is no recursion to trip over.
#
# `make help` prints the lines that start with two number signs.
#
## Build and install (wants the headers of the kernel to build for):
##   make                  build the modules for the running kernel
##   make KDIR=DIR         ... for the kernel whose headers or build tree is DIR
##   make ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- KDIR=DIR
##                         ... for another architecture
##   make install          into /lib/modules/RELEASE/updates, then depmod;
##                         INSTALL_MOD_PATH= and DESTDIR= are honoured
##   make uninstall        takes them away again
##   make dkms-install     build and install through DKMS, so that the modules
##                         follow kernel updates
##   make dkms-remove      the opposite
##   make clean            remove everything that was built (wants no headers)
##
## Try and test in virtual machines (as root; what they need is set up in
## $MMKIT_CACHE, by default /var/cache/mmkit; this machine's kernel is not
## touched):
##   make demo [KERNEL=7.3-amd64]
##                         boot a stock kernel, run a workload, show the counts
##   make kernels          the kernels that can be booted, with their versions
##   make check [KERNELS="6.12-amd64 ..."] [TESTS="PATTERN ..."] [FULL=1] [JOBS=2]
##                         build for all kernels and run the tests; DEBUG=1:
##                         on the debug kernels, too
##   make debug-kernels    build kernels with KASAN, lockdep, KCSAN, ... from
##                         Debian's source (half an hour and more, once)
##   make bench [KERNELS="..."] [BENCH="..."]
##                         count the cost of the hooks in guest instructions
##   make style            checkpatch and sparse

VERSION := $(shell cat VERSION)
KDIR ?= /lib/modules/$(shell uname -r)/build
# Absolute, since kbuild works in KDIR.
ROOT = $(abspath $(DESTDIR)$(INSTALL_MOD_PATH))

# The release that the modules are built for: what `uname -r` says once that
# kernel runs. (Debian's include/config/kernel.release says something else.)
RELEASE = $(or $(shell sed -n 's/.*UTS_RELEASE "\(.*\)".*/\1/p' \
	'$(KDIR)/include/generated/utsrelease.h' 2>/dev/null),$(shell uname -r))

# A kernel built by clang needs modules built by clang.
LLVM_ARG = $(if $(LLVM),,$(shell \
	grep -qs '^CONFIG_CC_IS_CLANG=y' '$(KDIR)/include/config/auto.conf' && \
	echo LLVM=1))
KBUILD_ARGS = -C '$(KDIR)' M='$(CURDIR)' $(LLVM_ARG)

# Distributions say "sign all modules" in the configuration and keep the key:
# without it kbuild's signing only prints errors.
SIGN_ARG = $(if $(wildcard $(KDIR)/certs/signing_key.pem),,CONFIG_MODULE_SIG_ALL=)

DKMS_DIR := /usr/src/mmkit-$(VERSION)

.PHONY: all modules install uninstall dkms-install dkms-remove clean help \
	kernels debug-kernels check style demo bench need-kdir need-root

all: modules

modules: need-kdir
	$(MAKE) $(KBUILD_ARGS) modules

install: modules
	$(MAKE) $(KBUILD_ARGS) INSTALL_MOD_PATH='$(ROOT)' INSTALL_MOD_DIR=updates \
		$(SIGN_ARG) modules_install
	@scripts/after-install '$(RELEASE)' '$(ROOT)'

uninstall:
	@scripts/uninstall '$(RELEASE)' '$(ROOT)'

# What was installed of this version goes first: dkms would not build it again.
dkms-install: need-root
	@command -v dkms >/dev/null || { echo "mmkit: dkms is missing: apt install dkms" >&2; exit 1; }
	@dkms remove mmkit/$(VERSION) --all >/dev/null 2>&1 || true
	scripts/dkms-source '$(DKMS_DIR)'
	@scripts/uninstall '$(RELEASE)'
	dkms install mmkit/$(VERSION) -k '$(RELEASE)'
	@scripts/after-install '$(RELEASE)'

dkms-remove: need-root
	-dkms remove mmkit/$(VERSION) --all
	rm -rf '$(DKMS_DIR)'

# Without kbuild, so that it works where no headers are (any more).
clean:
	@scripts/clean

need-kdir:
	@scripts/check-kdir '$(KDIR)'

need-root:
	@test "$$(id -u)" = 0 || { echo "mmkit: this needs root: sudo make $(MAKECMDGOALS)" >&2; exit 1; }

kernels: need-root
	@scripts/kernels list

debug-kernels: need-root
	@scripts/debug-kernels $(KERNELS)

# JOBS, KERNELS, TESTS, FULL and DEBUG reach the runner as arguments, so that the
# environment cannot change a test run by accident.
check: need-root
	@scripts/python tests/run --kernels '$(KERNELS)' --tests '$(TESTS)' $(if $(JOBS),--jobs $(JOBS)) $(if $(FULL),--full) $(if $(DEBUG),--debug)

style: need-root
	@scripts/style

demo: need-root
	@scripts/python scripts/demo $(KERNEL)

bench: need-root
	@scripts/bench '$(KERNELS)' '$(BENCH)'

help:
	@sed -n 's/^## \?//p' Makefile
