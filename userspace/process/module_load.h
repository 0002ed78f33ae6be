// SPDX-License-Identifier: Apache-2.0
/*
 * Reads what takes long of the files of modules: unwind tables, for the kernel side, and symbols. While the event loop
 * runs, a thread does so (file_reader.h). The loop waits for it for a moment at most; after that a module has neither
 * until it is read. Files wait in turn: first those that processes of root and of the recording user map, then those of
 * the user whose files have taken the least time; among the processes of a user, one file of each. modules.c calls
 * this.
 */
#ifndef BRAID_PROCESS_MODULE_LOAD_H
#define BRAID_PROCESS_MODULE_LOAD_H

#include "modules.h"

struct loader;
struct sources;
struct unwind_table;

/* `keeps_files`: files stay open for names and lines at the end. */
int loader_new(struct loader **out, struct sink *sink, struct kernel_side *kernel, bool keeps_files);
void loader_free(struct loader *l);
void loader_count_for(struct loader *l, struct processes *processes);

/* From here on the thread reads. On failure files are read at once, as before. */
void loader_start(struct loader *l, struct sources *sources);
/* The loop may wait again. To be called at each tick. */
void loader_tick(struct loader *l);
/* Waits for files that are being read, as long as the loop may. */
void loader_wait(struct loader *l);
/* Whether files are being read. */
bool loader_works(const struct loader *l);
/* Another number means that some have been read since, or never will be. */
uint64_t loader_results(const struct loader *l);
/* Reads what waits, for a moment; the rest is counted as lost. From here on, files are read at once. */
void loader_finish(struct loader *l);

/* Reads the unwind table, or the symbols, if that has not been tried yet. */
void loader_table(struct loader *l, struct module *module);
void loader_symbols(struct loader *l, struct module *module);
/* Room that one user's processes did not have is tried again for that of another process that maps the file. */
void loader_again(struct loader *l, struct module *module, const struct process *process);

/* Puts a table on the kernel side, if its share has room. */
void loader_upload(struct loader *l, struct module *module, struct unwind_table *t);
/* Counts what a user's share leaves out of the recording, and reports the first of each user. */
void loader_left_out(struct loader *l, struct share *share, pid_t pid, const char *path, const char *kind);

#endif
