// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the unwind table or the symbols of a file, on a thread of its own: that can take long, and the event loop goes
 * on meanwhile. The thread has one job at a time, which is its own until it is done. Only module_load.c uses this.
 */
#ifndef BRAID_PROCESS_FILE_READER_H
#define BRAID_PROCESS_FILE_READER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct symbols;
struct unwind_table;

struct file_job {
	int fd;
	bool symbols;	   /* else the unwind table */
	uint64_t limit_ns; /* of CPU time; beyond it the result is -ETIME */
	char root[64];	   /* where separate debug files are; "": here */
	char path[PATH_MAX];
	/* results */
	struct unwind_table *table;
	struct symbols *found;
	int err;
	uint64_t cpu_ns;
};

/* Does the job on the calling thread. */
void file_job_run(struct file_job *job);

struct file_reader;

/* Starts the thread. */
int file_reader_new(struct file_reader **out);
/* Gives up what is under way. A thread that hangs in a file system is left with its job. */
void file_reader_free(struct file_reader *r);

/* Readable when the job is done, until file_reader_take(). */
int file_reader_fd(const struct file_reader *r);
/* Copies the job, which is done from now on. The reader has to be idle. */
void file_reader_give(struct file_reader *r, const struct file_job *job);
/* The CPU time that all jobs so far have taken, in ns. */
uint64_t file_reader_cpu_ns(const struct file_reader *r);
/* Waits for the job for at most wait_ns. True: it is done, *job has it, and the reader is idle. */
bool file_reader_take(struct file_reader *r, struct file_job *job, uint64_t wait_ns);

#endif
