// SPDX-License-Identifier: Apache-2.0
/* The checks of `braid doctor`. doctor.c runs them and prints their results. */
#ifndef BRAID_CLI_DOCTOR_CHECKS_H
#define BRAID_CLI_DOCTOR_CHECKS_H

#include <stdbool.h>
#include <stddef.h>

enum doctor_need {
	DOCTOR_REQUIRED, /* recording needs it */
	DOCTOR_OPTIONAL, /* some data needs it */
	DOCTOR_INFO,	 /* for information */
};

struct doctor_check {
	const char *name;
	enum doctor_need need;
	/* Returns whether it is available; *text gets the finding or the remedy, in one line. */
	bool (*run)(char *text, size_t size);
};

extern const struct doctor_check doctor_checks[];
extern const size_t doctor_check_count;

#endif
