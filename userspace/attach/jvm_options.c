// SPDX-License-Identifier: Apache-2.0
#include "jvm_options.h"

#include <stdio.h>
#include <string.h>

void jvm_options_add(struct jvm_options *o, const char *option)
{
	static const char flag[] = "-XX:";
	bool on;

	if (strcmp(option, "-Xrs") == 0)
		o->no_signals = true;
	if (strncmp(option, flag, 4) != 0 || (option[4] != '+' && option[4] != '-'))
		return;
	on = option[4] == '+';
	option += 5;
	if (strcmp(option, "DisableAttachMechanism") == 0)
		o->no_attach = on;
	else if (strcmp(option, "EnableDynamicAgentLoading") == 0)
		o->no_dynamic = !on;
}

void jvm_options_add_all(struct jvm_options *o, char *text)
{
	char *state = NULL;

	for (char *at = strtok_r(text, " \t\n\r", &state); at; at = strtok_r(NULL, " \t\n\r", &state))
		jvm_options_add(o, at);
}

/* Launcher options (java.c, IsWhiteSpaceOption and IsLauncherOption) whose value is the next argument. */
static bool takes_value(const char *option)
{
	static const char *const names[] = {
		"-cp",
		"-classpath",
		"--class-path",
		"-p",
		"--module-path",
		"--upgrade-module-path",
		"--add-modules",
		"--limit-modules",
		"--add-reads",
		"--add-exports",
		"--add-opens",
		"--patch-module",
		"--source",
		"-d",
		"--describe-module",
		"--enable-native-access",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(option, names[i]) == 0)
			return true;
	return false;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The argument after `at`, or NULL. The caller has checked that the last one ends with a zero byte. */
static const char *next_argument(const char *at, const char *end)
{
	at += strlen(at) + 1;
	return at < end ? at : NULL;
}

void jvm_command_line(const char *cmdline, size_t length, struct jvm_options *o, char *main_class, size_t size)
{
	const char *at = cmdline, *end = cmdline + length;
	const char *found = NULL;

	main_class[0] = '\0';
	if (!length || cmdline[length - 1] != '\0')
		return;
	if (strcmp(base_name(at), "java") != 0) {
		snprintf(main_class, size, "%s", base_name(at));
		return;
	}
	while (!found && (at = next_argument(at, end)) != NULL) {
		if (strcmp(at, "-jar") == 0 || strcmp(at, "-m") == 0 || strcmp(at, "--module") == 0) {
			found = next_argument(at, end);
			break;
		}
		if (strncmp(at, "--module=", 9) == 0)
			found = at + 9;
		else if (takes_value(at))
			at = next_argument(at, end);
		else if (at[0] == '-')
			jvm_options_add(o, at);
		else if (at[0] != '@') /* @argfile */
			found = at;
		if (!at)
			break;
	}
	if (found)
		snprintf(main_class, size, "%s", found);
}
