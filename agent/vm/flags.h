// SPDX-License-Identifier: Apache-2.0
/* Reads HotSpot's flags (-XX options) where the VM keeps them, for settings.c. */
#ifndef BRAID_AGENT_FLAGS_H
#define BRAID_AGENT_FLAGS_H

#include <stdint.h>

#define FLAG_NAME_MAX 128U   /* with its end; JDK 25 has names of up to 46 characters */
#define FLAG_VALUE_MAX 1024U /* with its end; longer texts are cut */

struct vm_flag {
	char name[FLAG_NAME_MAX];
	char value[FLAG_VALUE_MAX]; /* as -XX:+PrintFlagsFinal prints it */
	uint32_t origin;	    /* enum braid_setting_origin, of a flag */
};

/* Finds the table of flags, at the first call. */
void flags_open(void *libjvm);

/* Calls `each` for every flag, also for those that -XX:+PrintFlagsFinal shows only with UnlockDiagnosticVMOptions. */
void flags_each(void (*each)(const struct vm_flag *f));

#endif
