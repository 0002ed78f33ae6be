// SPDX-License-Identifier: Apache-2.0
/* Lists of event types, for people. */
#include "event_config.h"

#include <stdio.h>

const char *event_types_text(uint32_t types, char *to, size_t size)
{
	const char *before = "";
	size_t used = 0;

	*to = '\0';
	for (int type = 0; types && used < size; types &= ~(1U << type++))
		if (types >> type & 1) {
			used += (size_t)snprintf(to + used, size - used, "%s%s",
						 *before && types == 1U << type ? " and " : before,
						 event_type_name(type));
			before = ", ";
		}
	return to;
}
