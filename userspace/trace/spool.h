// SPDX-License-Identifier: Apache-2.0
/* A trace that comes from a pipe. reader.c uses it. */
#ifndef BRAID_TRACE_SPOOL_H
#define BRAID_TRACE_SPOOL_H

/* All of a pipe as a file without a name, since readers go back and forth. A descriptor or a negative errno. */
int trace_spool(int stream);

#endif
