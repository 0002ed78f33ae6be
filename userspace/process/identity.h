// SPDX-License-Identifier: Apache-2.0
/* What the trace says that a process is: processes.c calls this. */
#ifndef BRAID_PROCESS_IDENTITY_H
#define BRAID_PROCESS_IDENTITY_H

#include "sink/sink.h"

struct process;

/* The name of a process that is to execute the program that is recorded, and has not done so yet. */
#define BEFORE_EXEC "[before exec]"

/* Reads which program file the process executes. */
void identity_read_exe(struct process *process);
/* That of a process that has been forked. */
void identity_inherit_exe(struct process *process, const struct process *from);

/* `parent`: the process that it was forked from, or its earlier image, or NULL. */
void identity_emit(struct sink *sink, const struct process *process, const struct process *parent);

#endif
