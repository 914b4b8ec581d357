// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file.h"
#include "module.h"
#include "util.h"

extern char **environ;

/* modprobe ends its message with the text of the errno */
static int errno_of(const char *message)
{
	static const int known[] = {
		ENODEV, EINVAL, EBUSY, EEXIST, ENOENT, EOPNOTSUPP, ERANGE,
		EPERM, ENOMEM, ENOEXEC, EKEYREJECTED, EIO,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (strstr(message, strerror(known[i])))
			return -known[i];
	return -ECHILD;
}

int module_load(const char *name, const char *params)
{
	char *argv[] = { "modprobe", (char *)name, (char *)params, NULL };
	posix_spawn_file_actions_t actions;
	int ret, status, pipe_fd[2];
	char message[1024];
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(pipe_fd, O_CLOEXEC))
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipe_fd[1], STDERR_FILENO);
	ret = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(pipe_fd[1]);
	if (ret) {
		close(pipe_fd[0]);
		return -ret;
	}
	while (len < sizeof(message) - 1) {
		n = read(pipe_fd[0], message + len, sizeof(message) - 1 - len);
		if (n <= 0)
			break;
		len += n;
	}
	message[len] = '\0';
	close(pipe_fd[0]);
	if (waitpid(pid, &status, 0) != pid)
		return -errno;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	return errno_of(message);
}

int module_insert(const char *path, const char *params)
{
	int fd, ret = 0;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, params ? params : "", 0))
		ret = -errno;
	close(fd);
	return ret;
}

int module_unload(const char *name)
{
	if (syscall(SYS_delete_module, name, O_NONBLOCK))
		return -errno;
	return 0;
}

int module_unload_wait(const char *name, unsigned int seconds)
{
	unsigned long long end = now_ns() + seconds * NSEC_PER_SEC;
	int ret;

	do {
		ret = module_unload(name);
		if (ret != -EAGAIN)
			break;
		sleep_ms(20);
	} while (now_ns() < end);
	return ret;
}

bool module_loaded(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/%s/initstate", name);
	return file_exists(path);
}
