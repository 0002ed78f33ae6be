// SPDX-License-Identifier: Apache-2.0
/* What a JVM's options say about attaching to it, and which program it runs. */
#ifndef BRAID_ATTACH_JVM_OPTIONS_H
#define BRAID_ATTACH_JVM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct jvm_options {
	bool no_attach;	 /* -XX:+DisableAttachMechanism */
	bool no_dynamic; /* -XX:-EnableDynamicAgentLoading */
	bool no_signals; /* -Xrs: SIGQUIT is left to the program */
};

/* One option; later ones override earlier ones, as in the JVM. */
void jvm_options_add(struct jvm_options *o, const char *option);

/* Options separated by white space, as in JAVA_TOOL_OPTIONS or java.rt.vmArgs. Changes `text`. */
void jvm_options_add_all(struct jvm_options *o, char *text);

/*
 * The java launcher's command line: zero-terminated arguments one after the other, as in /proc/PID/cmdline. Options in
 * front of the main class go to *o; the main class, module or jar goes to `main` ("" when there is none to be seen).
 * The name of the program itself when that is not the launcher.
 */
void jvm_command_line(const char *cmdline, size_t length, struct jvm_options *o, char *main_class, size_t size);

#endif
