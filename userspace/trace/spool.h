// SPDX-License-Identifier: Apache-2.0
/* Stores a trace from a pipe in a file. reader.c uses it. */
#ifndef BRAID_TRACE_SPOOL_H
#define BRAID_TRACE_SPOOL_H

/* Copies a whole pipe into a nameless file, because readers seek. A descriptor or a negative errno. */
int trace_spool(int stream);

#endif
