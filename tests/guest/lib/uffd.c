// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../ktap.h"
#include "uffd.h"
#include "util.h"

int uffd_resolve(struct uffd *u, size_t page)
{
	size_t size = page_size();
	struct uffdio_copy copy = {
		.dst = (uintptr_t)u->area + page * size,
		.src = (uintptr_t)u->source,
		.len = size,
	};

	if (!ioctl(u->fd, UFFDIO_COPY, &copy)) {
		atomic_fetch_add(&u->nr_resolved, 1);
		return 0;
	}
	/* the address space was changing: nothing was done */
	return -errno;
}

static void wake_page(struct uffd *u, size_t page)
{
	size_t size = page_size();
	struct uffdio_range range = {
		.start = (uintptr_t)u->area + page * size,
		.len = size,
	};

	ioctl(u->fd, UFFDIO_WAKE, &range);
}

static void *resolver(void *arg)
{
	struct uffd *u = arg;
	struct pollfd fds[] = {
		{ .fd = u->fd, .events = POLLIN },
		{ .fd = u->stop_fd, .events = POLLIN },
	};
	unsigned long long seen;
	struct uffd_msg msg;
	size_t page;
	int ret;

	touch_stack();
	u->ready = true;
	for (;;) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents)
			break;
		if (read(u->fd, &msg, sizeof(msg)) != sizeof(msg) ||
		    msg.event != UFFD_EVENT_PAGEFAULT)
			continue;
		seen = now_ns();
		if (u->delay_ms)
			sleep_ms(u->delay_ms);
		page = (msg.arg.pagefault.address - (uintptr_t)u->area) /
		       page_size();
		do {
			ret = uffd_resolve(u, page);
		} while (ret == -EAGAIN);
		if (ret == -EEXIST)
			wake_page(u, page);
		atomic_fetch_add(&u->slept_ns, now_ns() - seen);
	}
	return NULL;
}

int uffd_open(struct uffd *u, size_t pages, int delay_ms)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int ret;

	memset(u, 0, sizeof(*u));
	u->stop_fd = -1;
	u->pages = pages;
	u->delay_ms = delay_ms;
	u->fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (u->fd < 0)
		return -errno;
	u->area = map_anon(pages);
	u->source = map_anon(1);
	if (mlock(u->source, page_size())) {
		ret = -errno;
		goto fail;
	}
	memset(u->source, 0x5a, page_size());
	reg.range.start = (uintptr_t)u->area;
	reg.range.len = pages * page_size();
	if (ioctl(u->fd, UFFDIO_API, &api) ||
	    ioctl(u->fd, UFFDIO_REGISTER, &reg)) {
		ret = -errno;
		goto fail;
	}
	if (delay_ms == UFFD_MANUAL)
		return 0;
	u->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (u->stop_fd < 0) {
		ret = -errno;
		goto fail;
	}
	ret = -thread_start(&u->thread, resolver, u);
	if (ret)
		goto fail;
	u->has_thread = true;
	while (!u->ready)
		sleep_ms(1);
	return 0;
fail:
	uffd_close(u);
	return ret;
}

size_t uffd_wait_blocked(struct uffd *u, size_t count, unsigned int seconds)
{
	unsigned long long end = now_ns() + seconds * NSEC_PER_SEC;
	struct pollfd pfd = { .fd = u->fd, .events = POLLIN };
	struct uffd_msg msg;

	while (u->nr_seen < count && now_ns() < end) {
		if (poll(&pfd, 1, 100) <= 0)
			continue;
		if (read(u->fd, &msg, sizeof(msg)) == sizeof(msg) &&
		    msg.event == UFFD_EVENT_PAGEFAULT)
			u->nr_seen++;
	}
	return u->nr_seen;
}

void uffd_reset(struct uffd *u)
{
	madvise(u->area, u->pages * page_size(), MADV_DONTNEED);
}

void uffd_close(struct uffd *u)
{
	unsigned long long one = 1;

	if (u->has_thread) {
		if (write(u->stop_fd, &one, sizeof(one)) == sizeof(one))
			pthread_join(u->thread, NULL);
		u->has_thread = false;
	}
	if (u->stop_fd >= 0)
		close(u->stop_fd);
	if (u->fd >= 0)
		close(u->fd);
	if (u->area)
		unmap_anon(u->area, u->pages);
	if (u->source)
		unmap_anon(u->source, 1);
	u->fd = -1;
	u->stop_fd = -1;
	u->area = NULL;
	u->source = NULL;
}
