// SPDX-License-Identifier: Apache-2.0
/* `braid doctor`: prints the results of doctor_checks.c. */
#include "cli/cli.h"
#include "cli/common.h"
#include "doctor_checks.h"
#include "util/json.h"
#include "util/log.h"

#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>

static const char doc[] =
	"Tries every facility that braid needs, and explains how to get missing ones. The exit status is 1 "
	"if recording cannot work.\vExamples:\n"
	"  sudo braid doctor\n"
	"  sudo braid doctor --json\n";

/* Without this, libbpf would print an error for each probe that is meant to fail. */
static int libbpf_report(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	return log_verbosity > 1 ? vfprintf(stderr, fmt, ap) : 0;
}

static const char *verdict(enum doctor_need need, bool ok)
{
	if (need == DOCTOR_INFO)
		return "info";
	if (ok)
		return "ok";
	return need == DOCTOR_REQUIRED ? "MISSING" : "optional";
}

static void print_json(struct json *j, const struct doctor_check *c, bool ok, const char *text)
{
	static const char *const needs[] = {"required", "optional", "info"};

	json_open(j, NULL, '{');
	json_string(j, "name", c->name);
	json_string(j, "need", needs[c->need]);
	json_bool(j, "ok", ok);
	json_string(j, "text", text);
	json_close(j, '}');
}

int cmd_doctor(int argc, char **argv)
{
	bool as_json = false;
	struct json j = {.out = stdout};
	unsigned int missing = 0, optional = 0;

	common_parse_json(doc, argc, argv, &as_json);
	libbpf_set_print(libbpf_report);
	if (as_json) {
		json_open(&j, NULL, '{');
		json_open(&j, "checks", '[');
	}
	for (size_t i = 0; i < doctor_check_count; i++) {
		const struct doctor_check *c = &doctor_checks[i];
		char text[512] = "";
		bool ok = c->run(text, sizeof(text));

		missing += !ok && c->need == DOCTOR_REQUIRED;
		optional += !ok && c->need == DOCTOR_OPTIONAL;
		if (as_json)
			print_json(&j, c, ok, text);
		else
			printf("%-8s  %-22s  %s\n", verdict(c->need, ok), c->name, text);
	}
	if (as_json) {
		json_close(&j, ']');
		json_bool(&j, "can_record", missing == 0);
		json_close(&j, '}');
		putchar('\n');
	} else {
		puts(missing	? "\nRecording cannot work here yet: see the lines marked MISSING."
		     : optional ? "\nRecording works here. The facilities marked optional would make recordings better."
				: "\nRecording works here.");
	}
	return missing ? EXIT_FAILURE : EXIT_SUCCESS;
}
