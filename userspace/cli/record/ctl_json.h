// SPDX-License-Identifier: Apache-2.0
/* Event configurations in the JSON of `braid ctl`, as members of the object that is open. ctl.c calls it. */
#ifndef BRAID_CLI_CTL_JSON_H
#define BRAID_CLI_CTL_JSON_H

#include "util/json.h"

#include <braid/event_config.h>

/* The names of event types, by the bits of enum braid_event_type. */
void ctl_json_types(struct json *j, const char *key, uint32_t bits);
void ctl_json_figures(struct json *j, const struct braid_event_config *c);
void ctl_json_methods(struct json *j, const struct braid_event_config *c);
void ctl_json_fields(struct json *j, const struct braid_event_config *c);
/* Threads that have types of their own. */
void ctl_json_threads(struct json *j, const struct braid_event_config *c);

#endif
