// SPDX-License-Identifier: Apache-2.0
/* Reads the options of a JVM that matter for attaching, and its main class. jvm_process.c calls this. */
#ifndef BRAID_ATTACH_JVM_OPTIONS_H
#define BRAID_ATTACH_JVM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct jvm_options {
	bool no_attach;	 /* -XX:+DisableAttachMechanism */
	bool no_dynamic; /* -XX:-EnableDynamicAgentLoading */
	bool no_signals; /* -Xrs: the JVM leaves SIGQUIT to the program */
};

/* Adds one option; later ones override earlier ones, as in the JVM. */
void jvm_options_add(struct jvm_options *o, const char *option);

/* Adds options separated by white space, as in JAVA_TOOL_OPTIONS or java.rt.vmArgs. Modifies `text`. */
void jvm_options_add_all(struct jvm_options *o, char *text);

/*
 * Reads a command line of the java launcher: zero-terminated arguments, as in /proc/PID/cmdline. Options before the
 * main class go to *o. The main class, module or jar goes to `main_class` ("" when none is found). For another program
 * that is the program's name.
 */
void jvm_command_line(const char *cmdline, size_t length, struct jvm_options *o, char *main_class, size_t size);

#endif
