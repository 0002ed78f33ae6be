// SPDX-License-Identifier: Apache-2.0
/* Which patterns of methods and fields match in one of the recorded JVMs. */
#ifndef BRAID_JVM_PATTERNS_H
#define BRAID_JVM_PATTERNS_H

struct jvms;

/* Warns, at the end, of the patterns of the configuration that agents have looked for and no JVM has a match of. */
void patterns_end(struct jvms *jvms);

#endif
