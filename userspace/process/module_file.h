// SPDX-License-Identifier: Apache-2.0
/* Opens the file behind a mapping, and never another file of the same name. modules.c and jvm/libjvm.c call this. */
#ifndef BRAID_PROCESS_MODULE_FILE_H
#define BRAID_PROCESS_MODULE_FILE_H

#include "modules.h"

#include <sys/stat.h>

struct module_file {
	int fd; /* readable, or a negative errno */
	struct stat st;
	/*
	 * Device and inode are those of the mapping. False: the file has the mapping's name and was mapped at its
	 * addresses when it was opened. No more can be known on a file system that shows mappings by other numbers.
	 */
	bool certain;
};

/* -ESTALE when another file is found there. */
struct module_file module_open(pid_t pid, const struct mapping_fact *fact);

#endif
