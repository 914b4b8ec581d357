/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef MMKIT_TEST_FAULT_H
#define MMKIT_TEST_FAULT_H

#define MMKIT_TEST_FAULT_NAME	"mmkit_test_fault"

/*
 * What a fault in a mapping of /dev/mmkit_test_fault gets; chosen by the offset
 * of the mapping in pages.
 */
enum mmkit_test_fault {
	MMKIT_TEST_FAULT_PAGE,		/* a page, at once */
	MMKIT_TEST_FAULT_MAJOR,		/* a page that had to be waited for */
	MMKIT_TEST_FAULT_SIGBUS,
	MMKIT_TEST_FAULT_SIGSEGV,
	MMKIT_TEST_FAULT_HWPOISON,
	MMKIT_TEST_FAULT_OOM,
	/* a page, after somebody has written to the device; can be killed */
	MMKIT_TEST_FAULT_BLOCK,
};

#endif
