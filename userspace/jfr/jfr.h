// SPDX-License-Identifier: Apache-2.0
/*
 * Files as the JDK's Flight Recorder writes them (chunks of version 2.0), with the JDK's event types where a trace has
 * what they are about, and braid's own ones for the rest.
 */
#ifndef BRAID_JFR_JFR_H
#define BRAID_JFR_JFR_H

#include <stdio.h>

#include <export/timed.h>

/*
 * Writes what the source selects. Memory does not grow with the events: a chunk is in
 * memory until it has 16 MiB. 0 or a negative errno; whether `out` took everything is its owner's to check.
 */
int jfr_write(FILE *out, struct timed_source *s);
/* The same with chunks of that size. */
int jfr_write_chunks(FILE *out, struct timed_source *s, size_t chunk_bytes);

#endif
