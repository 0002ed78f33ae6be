// SPDX-License-Identifier: Apache-2.0
/* The two messages of HotSpot's attach protocol, version 1 (attachListener.cpp): one request, one answer, end of
 * stream. */
#ifndef BRAID_ATTACH_ATTACH_PROTOCOL_H
#define BRAID_ATTACH_ATTACH_PROTOCOL_H

#include "attach.h"

#define ATTACH_ARGUMENT_MAX 1024U /* AttachOperation::arg_length_max */
#define ATTACH_REQUEST_MAX (2U * ATTACH_ARGUMENT_MAX + 32U)

/* "load LIBRARY (an absolute path, or a name that the JVM makes lib<name>.so of), with OPTIONS". Returns its length or
 * -ENAMETOOLONG. */
ssize_t attach_request(char to[ATTACH_REQUEST_MAX], const char *library, const char *options);

/* What a whole answer means: 0, or a negative errno and a sentence. Untrusted. */
int attach_answer(const char *answer, size_t length, char why[ATTACH_WHY_MAX]);

#endif
