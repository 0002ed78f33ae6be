// SPDX-License-Identifier: Apache-2.0
/* `braid list`: prints the JVMs that attach/jvm_process.c finds. */
#include "cli/cli.h"
#include "cli/common.h"
#include "attach/attach.h"
#include "util/json.h"
#include "util/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char doc[] = "Lists the JVMs on this machine that this user can see: process, user, JDK, main class, and "
			  "whether the agent can be attached, or why not.\vExamples:\n"
			  "  braid list\n"
			  "  sudo braid list --json\n";

static void print_json(const struct jvm_process *list, int count)
{
	struct json j = {.out = stdout};

	json_open(&j, NULL, '[');
	for (int i = 0; i < count; i++) {
		json_open(&j, NULL, '{');
		json_number(&j, "pid", (uint64_t)list[i].pid);
		json_number(&j, "ns_pid", (uint64_t)list[i].ns_pid);
		json_number(&j, "uid", list[i].uid);
		json_string(&j, "user", list[i].user);
		json_string(&j, "main", list[i].main_class);
		json_string(&j, "jdk", list[i].jdk);
		json_string(&j, "libjvm", list[i].libjvm);
		json_bool(&j, "attachable", list[i].attachable && !list[i].stopped);
		if (list[i].why[0])
			json_string(&j, "why", list[i].why);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	putchar('\n');
}

static int wider(int width, const char *text)
{
	int n = (int)strlen(text);

	return n > width ? n : width;
}

static void print_table(const struct jvm_process *list, int count)
{
	int user = 4, jdk = 3, main_class = 4;

	for (int i = 0; i < count; i++) {
		user = wider(user, list[i].user);
		jdk = wider(jdk, list[i].jdk);
		main_class = wider(main_class, list[i].main_class);
	}
	printf("%7s  %-*s  %-*s  %-*s  %s\n", "PID", user, "USER", jdk, "JDK", main_class, "MAIN", "ATTACH");
	for (int i = 0; i < count; i++)
		printf("%7d  %-*s  %-*s  %-*s  %s%s\n", (int)list[i].pid, user, list[i].user, jdk,
		       list[i].jdk[0] ? list[i].jdk : "-", main_class, list[i].main_class[0] ? list[i].main_class : "-",
		       list[i].why[0] ? "no: " : "yes", list[i].why);
}

int cmd_list(int argc, char **argv)
{
	bool as_json = false;
	struct jvm_process *list;
	int count;

	common_parse_json(doc, argc, argv, &as_json);
	count = jvm_process_list(&list);
	if (count < 0) {
		log_error("cannot list processes in /proc: %s", strerror(-count));
		return EXIT_FAILURE;
	}
	if (as_json)
		print_json(list, count);
	else if (count)
		print_table(list, count);
	else
		log_warning("this user can see no running JVM%s", geteuid() == 0 ? "" : "; root sees all JVMs");
	free(list);
	return EXIT_SUCCESS;
}
