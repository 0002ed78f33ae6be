// SPDX-License-Identifier: Apache-2.0
/* What `braid doctor` looks at. */
#ifndef BRAID_CLI_DOCTOR_CHECKS_H
#define BRAID_CLI_DOCTOR_CHECKS_H

#include <stdbool.h>
#include <stddef.h>

enum doctor_need {
	DOCTOR_REQUIRED, /* recording cannot work without */
	DOCTOR_OPTIONAL, /* something is missing without */
	DOCTOR_INFO,	 /* good to know */
};

struct doctor_check {
	const char *name;
	enum doctor_need need;
	/* Whether it is there; *text gets what was found or how to get it, one line. */
	bool (*run)(char *text, size_t size);
};

extern const struct doctor_check doctor_checks[];
extern const size_t doctor_check_count;

#endif
