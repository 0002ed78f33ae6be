// SPDX-License-Identifier: Apache-2.0
/* The HELLO record, the first of each connection: the JVM's versions and command line, and the agent's capabilities.
 * agent.c publishes it at the start, kinds.c again when the configuration changes. */
#include "agent.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SHORT_MAX 1024U

static char *property(const char *name)
{
	char *value = NULL;

	if ((*agent.jvmti)->GetSystemProperty(agent.jvmti, name, &value) != JVMTI_ERROR_NONE)
		return NULL;
	return value;
}

/* Four strings of the maximum length exceed a record; only a command line needs that much. */
static uint16_t short_cut(const char *s, uint16_t *flags)
{
	uint16_t length = string_cut(s, flags);

	if (length <= SHORT_MAX)
		return length;
	*flags |= BRAID_REC_TRUNCATED;
	return SHORT_MAX;
}

/* The release file of a JDK has a line JAVA_VERSION="17.0.1". */
static bool release_file_read(const char *home, const char *where, char *to, size_t size)
{
	char path[512], line[128];
	bool found = false;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/%srelease", home, where) >= (int)sizeof(path))
		return false;
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		found = !strncmp(line, "JAVA_VERSION=\"", 14);
		if (found)
			snprintf(to, size, "%.*s", (int)strcspn(line + 14, "\"\n"), line + 14);
	}
	if (f)
		fclose(f);
	return found;
}

/* HotSpot does not give JVM TI java.version: Java code sets it later. */
static void java_version_read(char *to, size_t size, const char *vm_version)
{
	char *home = property("java.home");
	unsigned update;

	to[0] = '\0';
	if (home && !release_file_read(home, "", to, size))
		release_file_read(home, "../", to, size); /* java.home of JDK 8 is its jre folder */
	/* Some builds of 8 lack the file: HotSpot 25.492-b09 belongs to 1.8.0_492. */
	if (!to[0] && vm_version && sscanf(vm_version, "25.%u-b", &update) == 1)
		snprintf(to, size, "1.8.0_%u", update);
	agent_release(home);
}

void hello_publish(const struct caps *c)
{
	struct braid_rec_hello r = {
		.version = BRAID_RING_VERSION,
		.pid = (uint32_t)getpid(),
		.jvmti_version = (uint32_t)agent.jvmti_version,
		.start = (uint16_t)agent.start,
		.header_size = sizeof(struct braid_rec),
		.caps_got = {c->got[0], c->got[1]},
		.caps_refused = {c->refused[0], c->refused[1]},
	};
	char *vm_version = property("java.vm.version");
	char *vm_name = property("java.vm.name");
	char *command = property("sun.java.command");
	char java_version[64];

	java_version_read(java_version, sizeof(java_version), vm_version);
	record_init(&r.hdr, BRAID_REC_HELLO, 0);
	r.vm_version_len = short_cut(vm_version, &r.hdr.flags);
	r.vm_name_len = short_cut(vm_name, &r.hdr.flags);
	r.java_version_len = string_cut(java_version, &r.hdr.flags);
	r.command_len = string_cut(command, &r.hdr.flags);
	publish_definition((struct iovec[]){PART(&r, sizeof(r)), PART(vm_version, r.vm_version_len),
					    PART(vm_name, r.vm_name_len), PART(java_version, r.java_version_len),
					    PART(command, r.command_len)},
			   5);
	agent_release(vm_version);
	agent_release(vm_name);
	agent_release(command);
}
