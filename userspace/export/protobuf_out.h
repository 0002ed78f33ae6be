/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes protobuf messages to a stream. A reader merges messages of a type that follow each other into one, so a large
 * message is written as many small ones.
 */
#ifndef BRAID_EXPORT_PROTOBUF_OUT_H
#define BRAID_EXPORT_PROTOBUF_OUT_H

#include <protobuf-c/protobuf-c.h>
#include <stdio.h>

struct protobuf_out {
	ProtobufCBuffer buffer; /* first: the library passes its address */
	FILE *out;
};

static inline void protobuf_append(ProtobufCBuffer *buffer, size_t length, const uint8_t *data)
{
	fwrite(data, 1, length, ((struct protobuf_out *)buffer)->out);
}

/* Write errors stay in the stream. */
static inline void protobuf_put(FILE *out, const ProtobufCMessage *message)
{
	struct protobuf_out to = {.buffer = {.append = protobuf_append}, .out = out};

	protobuf_c_message_pack_to_buffer(message, &to.buffer);
}

#endif
