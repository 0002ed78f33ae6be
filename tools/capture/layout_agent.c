// SPDX-License-Identifier: Apache-2.0
/*
 * An agent for tools/capture: writes this JVM's layout, as the real agent finds it, and then the VM's version, to the
 * file that its options name.
 */
#include "agent/core/publish.h"
#include "agent/vm/layout.h"
#include "agent/vm/objects.h"
#include "agent/vm/vmstructs.h"

#include <braid/layout.h>

#include <jvmti.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static JavaVM *the_vm;
static char path[4096];
static char version[64];

void record_init(struct braid_rec *hdr, uint16_t kind, uint16_t flags)
{
	memset(hdr, 0, sizeof(*hdr));
	hdr->kind = kind;
	hdr->flags = flags;
}

/* A reader that waits for the file must not find a part of it. */
bool publish_definition(const struct iovec *parts, int count)
{
	const struct braid_rec_layout *r = parts[0].iov_base;
	char unfinished[sizeof(path) + 8];
	bool ok;
	FILE *f;

	(void)count;
	snprintf(unfinished, sizeof(unfinished), "%s.new", path);
	f = fopen(unfinished, "w");
	if (!f)
		return false;
	ok = fwrite(&r->layout, sizeof(r->layout), 1, f) == 1 && fputs(version, f) >= 0;
	return fclose(f) == 0 && ok && rename(unfinished, path) == 0;
}

void publish_notice(enum braid_severity severity, const char *fmt, ...)
{
	va_list ap;

	(void)severity;
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* No snapshot has the layout of objects. */
void objects_open(void *libjvm)
{
	(void)libjvm;
}

static void JNICALL vm_init(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
	char *text = NULL;
	jint v = 0;

	(void)jni;
	(void)thread;
	(*env)->GetVersionNumber(env, &v);
	if ((*env)->GetSystemProperty(env, "java.vm.version", &text) == JVMTI_ERROR_NONE) {
		snprintf(version, sizeof(version), "%s", text);
		(*env)->Deallocate(env, (unsigned char *)text);
	}
	layout_open(vmstructs_library(the_vm));
	layout_publish(true);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	jvmtiEventCallbacks callbacks = {.VMInit = vm_init};
	jvmtiEnv *env;

	(void)reserved;
	the_vm = vm;
	if (!options || (size_t)snprintf(path, sizeof(path), "%s", options) >= sizeof(path))
		return JNI_ERR;
	if ((*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_1_2) != JNI_OK ||
	    (*env)->SetEventCallbacks(env, &callbacks, sizeof(callbacks)) != JVMTI_ERROR_NONE ||
	    (*env)->SetEventNotificationMode(env, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL) != JVMTI_ERROR_NONE)
		return JNI_ERR;
	return JNI_OK;
}
