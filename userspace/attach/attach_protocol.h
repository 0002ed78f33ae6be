// SPDX-License-Identifier: Apache-2.0
/*
 * HotSpot's attach protocol (attachListener.cpp), mostly version 1: formats the request and parses the answer. attach.c
 * calls it.
 */
#ifndef BRAID_ATTACH_ATTACH_PROTOCOL_H
#define BRAID_ATTACH_ATTACH_PROTOCOL_H

#include "attach.h"

#define ATTACH_ARGUMENT_MAX 1024U /* AttachOperation::arg_length_max */
#define ATTACH_REQUEST_MAX (2U * ATTACH_ARGUMENT_MAX + 32U)

/*
 * Formats "load LIBRARY OPTIONS". LIBRARY is an absolute path, or a name that the JVM turns into lib<name>.so. Returns
 * the length or -ENAMETOOLONG.
 */
ssize_t attach_request(char to[ATTACH_REQUEST_MAX], const char *library, const char *options);

/* The same with "dumpheap FILE -live" or "-all". */
ssize_t attach_dump_request(char to[ATTACH_REQUEST_MAX], const char *file, bool live);

/* The same with "threaddump". */
ssize_t attach_threads_request(char to[ATTACH_REQUEST_MAX]);

/*
 * The same in version 2, which JDK 24 brought, with the answer in one piece. Of version 1, that JDK writes each word of
 * the answer to the socket by itself, while all threads stand still.
 */
ssize_t attach_threads_request_2(char to[ATTACH_REQUEST_MAX]);
/* Whether the JVM does not know the version. */
bool attach_version_refused(const char *answer, size_t length);

/* The same with "jcmd", and "VM.native_memory detail" as its argument. */
ssize_t attach_memory_request(char to[ATTACH_REQUEST_MAX]);

/* Parse a whole answer, which is untrusted: 0, or a negative errno and a sentence. */
int attach_dump_answer(const char *answer, size_t length, char why[ATTACH_WHY_MAX]);
int attach_text_answer(const char *answer, size_t length, char why[ATTACH_WHY_MAX]);
int attach_answer(const char *answer, size_t length, char why[ATTACH_WHY_MAX]);

#endif
