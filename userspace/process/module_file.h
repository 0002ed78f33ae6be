// SPDX-License-Identifier: Apache-2.0
/* The file behind a mapping, and nothing else that has its name. */
#ifndef BRAID_PROCESS_MODULE_FILE_H
#define BRAID_PROCESS_MODULE_FILE_H

#include "modules.h"

#include <sys/stat.h>

struct module_file {
	int fd; /* for reading; or a negative errno */
	struct stat st;
	/*
	 * Device and inode are those of the mapping. False: it has the mapping's name and was mapped at its addresses
	 * when it was opened, which is as much as a file system says that shows mappings by other numbers.
	 */
	bool certain;
};

/* -ESTALE when what is found is another file. */
struct module_file module_open(pid_t pid, const struct mapping_fact *fact);

#endif
