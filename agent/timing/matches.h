// SPDX-License-Identifier: Apache-2.0
/* Reports to the collector which patterns are looked for, and which of them match, each once. */
#ifndef BRAID_AGENT_MATCHES_H
#define BRAID_AGENT_MATCHES_H

#include "patterns.h"

#include <braid/event_config.h>

/* Before all classes are looked at. */
void matches_begin(const struct braid_event_config *c, bool methods, bool fields);
/* `first` is the first pattern that matches; later ones that do, too, are no mistakes. */
void matches_method(const struct braid_event_config *c, const struct subject *s, int first);
void matches_field(const struct braid_event_config *c, struct text class, struct text name, int first);

#endif
