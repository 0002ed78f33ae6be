// SPDX-License-Identifier: Apache-2.0
/* Publishes where this VM keeps names (struct braid_names), for the collector and the kernel side. agent.c and
 * methods.c call it. */
#ifndef BRAID_AGENT_NAMES_H
#define BRAID_AGENT_NAMES_H

#include "core/jvm.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads the tables; once per process. */
void names_open(void *libjvm, jint jvmti_version);
/* Publishes a NAMES record: at the start of a connection, and again at VM start. */
void names_publish(void);
/* What is published, but for the counters. */
struct braid_names;
void names_get(struct braid_names *n);
/* A class was redefined, so the addresses of its methods may mean other versions. */
void names_redefined(void);
/* True unless calls to this nmethod have been stopped. */
bool names_in_use(uint64_t nmethod);

#endif
