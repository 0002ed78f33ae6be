/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of libmicrohttpd. It is loaded when a server begins, because with what it depends on it would add
 * megabytes to the memory of every recording.
 */
#ifndef BRAID_SERVE_HTTP_H
#define BRAID_SERVE_HTTP_H

#include <microhttpd.h>

#define HTTP_LIBRARY "libmicrohttpd.so.12"

#define HTTP_FUNCTIONS(F)                                                                                              \
	F(add_response_header)                                                                                         \
	F(create_response_from_buffer)                                                                                 \
	F(create_response_from_fd64)                                                                                   \
	F(create_response_from_iovec)                                                                                  \
	F(destroy_response)                                                                                            \
	F(get_fdset)                                                                                                   \
	F(get_timeout)                                                                                                 \
	F(lookup_connection_value)                                                                                     \
	F(queue_response)                                                                                              \
	F(run_from_select)                                                                                             \
	F(start_daemon)                                                                                                \
	F(stop_daemon)

struct http {
#define HTTP_FUNCTION(name) __typeof__(MHD_##name) *name;
	HTTP_FUNCTIONS(HTTP_FUNCTION)
#undef HTTP_FUNCTION
};

/* Loads the library, once. NULL: it cannot be loaded, and the reason is logged. */
const struct http *http_load(void);

#endif
