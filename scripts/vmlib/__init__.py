# SPDX-License-Identifier: GPL-2.0-only
"""The parts of scripts/vm: what a guest is made of, and how it is watched."""
