// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "code.h"
#include "util.h"

#if defined(__x86_64__)
static const uint8_t code_return[] = { 0xc3 };
#elif defined(__aarch64__)
static const uint8_t code_return[] = { 0xc0, 0x03, 0x5f, 0xd6 };
#else
#error "how does this architecture return?"
#endif

int code_map(struct code *code, size_t pages)
{
	size_t page = page_size(), i;
	int ret;

	code->pages = pages;
	code->area = MAP_FAILED;
	code->fd = memfd_create("mmkit-code", MFD_CLOEXEC);
	if (code->fd < 0)
		return -errno;
	if (ftruncate(code->fd, page) ||
	    write(code->fd, code_return, sizeof(code_return)) < 0)
		goto fail;
	code->area = mmap(NULL, pages * page, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code->area == MAP_FAILED)
		goto fail;
	for (i = 0; i < pages; i++)
		if (mmap(code->area + i * page, page, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_FIXED, code->fd, 0) == MAP_FAILED)
			goto fail;
	return 0;
fail:
	ret = -errno;
	code_unmap(code);
	return ret;
}

void code_call(const struct code *code)
{
	size_t page = page_size(), i;

	for (i = 0; i < code->pages; i++)
		((void (*)(void))(uintptr_t)(code->area + i * page))();
}

void code_unmap(struct code *code)
{
	if (code->area != MAP_FAILED)
		munmap(code->area, code->pages * page_size());
	close(code->fd);
}
