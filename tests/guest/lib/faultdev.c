// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "faultdev.h"
#include "file.h"
#include "module.h"
#include "util.h"

#define DEVICE	"/dev/" MMKIT_TEST_FAULT_NAME
#define MODULE	TEST_MODULES MMKIT_TEST_FAULT_NAME ".ko"

char *faultdev_map(enum mmkit_test_fault what, size_t pages, int *fd)
{
	size_t page = page_size();
	char *p;
	int ret;

	if (!file_exists(DEVICE)) {
		ret = module_insert(MODULE, NULL);
		if (ret) {
			errno = -ret;
			return NULL;
		}
	}
	*fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (*fd < 0)
		return NULL;
	p = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_SHARED, *fd,
		 what * page);
	if (p == MAP_FAILED) {
		close(*fd);
		return NULL;
	}
	return p;
}

int faultdev_blocked(int fd)
{
	char buf[16] = "";

	if (pread(fd, buf, sizeof(buf) - 1, 0) < 0)
		return -errno;
	return atoi(buf);
}

int faultdev_release(int fd)
{
	return write(fd, "1", 1) == 1 ? 0 : -errno;
}

void faultdev_unload(void)
{
	module_unload_wait(MMKIT_TEST_FAULT_NAME, 5);
}
