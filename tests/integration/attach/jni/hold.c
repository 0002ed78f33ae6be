// SPDX-License-Identifier: Apache-2.0
/* An agent that delays the JVM's start, before other agents, until the file that its option names exists. */
#include <jvmti.h>
#include <poll.h>
#include <unistd.h>

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);
JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)vm;
	(void)reserved;
	while (access(options, F_OK))
		poll(NULL, 0, 10);
	return JNI_OK;
}
