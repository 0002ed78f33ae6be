// SPDX-License-Identifier: Apache-2.0
#include "cgroup.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "util/utf8.h"

#define ID_DIGITS 64
#define ID_SHOWN 12

/* Docker, containerd, CRI-O and Podman name the group `ID`, `docker-ID.scope`, `cri-containerd-ID.scope`, ... */
static const char *find_id(const char *name, size_t size)
{
	size_t digits = 0;

	for (size_t i = 0; i < size; i++) {
		digits = strchr("0123456789abcdef", name[i]) ? digits + 1 : 0;
		if (digits == ID_DIGITS && (i + 1 == size || name[i + 1] == '.'))
			return name + i + 1 - ID_DIGITS;
	}
	return NULL;
}

/* `machine-NAME.scope` of systemd-nspawn and libvirt, `lxc.payload.NAME` of LXC. */
static bool find_machine(const char *name, size_t size, const char **machine, size_t *length)
{
	static const struct {
		const char *head, *tail;
	} forms[] = {{"machine-", ".scope"}, {"lxc.payload.", ""}};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size_t head = strlen(forms[i].head), tail = strlen(forms[i].tail);

		if (size <= head + tail || strncmp(name, forms[i].head, head) != 0 ||
		    strncmp(name + size - tail, forms[i].tail, tail) != 0)
			continue;
		*machine = name + head;
		*length = size - head - tail;
		return true;
	}
	return false;
}

/* The innermost container counts. */
void cgroup_container(const char *cgroup, char to[CONTAINER_NAME_MAX])
{
	const char *found;
	size_t length;

	to[0] = '\0';
	for (size_t size; *cgroup; cgroup += size) {
		cgroup += *cgroup == '/';
		size = strcspn(cgroup, "/");
		found = find_id(cgroup, size);
		length = ID_SHOWN;
		if (found || find_machine(cgroup, size, &found, &length))
			utf8_from_modified(to, CONTAINER_NAME_MAX, found, length);
	}
}
