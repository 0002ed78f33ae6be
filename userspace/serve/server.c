// SPDX-License-Identifier: Apache-2.0
#include "server.h"

#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <util/json.h>
#include <util/log.h>

#define CONNECTIONS 32U
#define CONNECTION_BYTES (16UL << 10) /* for the head of a request */
#define IDLE_SECONDS 20U
#define BACKLOG 16
#define POLICY_MAX 512

static const struct http *http; /* as long as there is a server */

struct server {
	struct MHD_Daemon *daemon;
	struct parts *parts;
	char token[TOKEN_DIGITS + 1];
	char page_policy[POLICY_MAX], file_policy[POLICY_MAX];
};

/* What everything but a page may load: nothing. */
#define NO_POLICY "default-src 'none'; frame-ancestors 'none'"

/* ---- responses ---- */

/* `r`, which it takes over, may be NULL: there was no memory for it. */
static enum MHD_Result send_response(struct MHD_Connection *c, unsigned status, struct MHD_Response *r,
				     const char *type, const char *policy)
{
	const char *const heads[][2] = {
		{MHD_HTTP_HEADER_CONTENT_TYPE, type},
		{MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
		{"Content-Security-Policy", policy},
		{"Cross-Origin-Opener-Policy", "same-origin"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Referrer-Policy", "no-referrer"},
		{"X-Content-Type-Options", "nosniff"},
	};
	enum MHD_Result result = MHD_YES;

	if (!r)
		return MHD_NO;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]) && result == MHD_YES; i++)
		result = http->add_response_header(r, heads[i][0], heads[i][1]);
	if (result == MHD_YES && status == MHD_HTTP_METHOD_NOT_ALLOWED)
		result = http->add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	if (result == MHD_YES)
		result = http->queue_response(c, status, r);
	http->destroy_response(r);
	return result;
}

static enum MHD_Result refuse(struct MHD_Connection *c, unsigned status)
{
	const char *text = request_refusal(status);

	return send_response(
		c, status,
		http->create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT),
		"text/plain; charset=utf-8", NO_POLICY);
}

/* A response that browsers save as a file. NULL: no memory; `r` is destroyed, unless it is NULL itself. */
static struct MHD_Response *as_file(struct MHD_Response *r)
{
	if (!r || http->add_response_header(r, MHD_HTTP_HEADER_CONTENT_DISPOSITION, "attachment") == MHD_YES)
		return r;
	http->destroy_response(r);
	return NULL;
}

/* ---- state ---- */

static void put_part(struct json *j, const struct parts *p, unsigned number)
{
	const struct part *part = &p->list[number];

	json_number(j, "generation", part->data ? part->generation : 0);
	json_seconds(j, "last_s", part->facts.last_ns);
	json_seconds(j, "most_s", parts_last_ns(p, 0));
	json_string(j, "error",
		    part->err == -ENOMEM || part->err == -EFBIG
			    ? "the recording is too large to be shown; begin with a shorter --window"
		    : part->err ? strerror(-part->err)
				: "");
}

static enum MHD_Result send_state(struct server *s, struct MHD_Connection *c, unsigned part)
{
	char *text = NULL;
	size_t size = 0;
	struct json j = {.out = open_memstream(&text, &size)};

	if (!j.out)
		return MHD_NO;
	json_open(&j, NULL, '{');
	json_bool(&j, "growing", !s->parts->over);
	json_number(&j, "bytes", s->parts->bytes);
	put_part(&j, s->parts, part);
	json_close(&j, '}');
	if (fclose(j.out))
		return MHD_NO;
	return send_response(c, MHD_HTTP_OK, http->create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE),
			     "application/json", NO_POLICY);
}

/* ---- data and pages ---- */

static void release(void *data)
{
	shared_data_release(data);
}

static enum MHD_Result send_data(struct server *s, struct MHD_Connection *c, unsigned part)
{
	struct shared_data *d = s->parts->list[part].data;
	struct MHD_IoVec all;

	if (!d)
		return refuse(c, MHD_HTTP_SERVICE_UNAVAILABLE);
	all = (struct MHD_IoVec){d->at, d->bytes};
	return send_response(c, MHD_HTTP_OK, http->create_response_from_iovec(&all, 1, release, shared_data_hold(d)),
			     "application/json", NO_POLICY);
}

/* The page with the data in it: as it asks for newer ones, or as one file. */
static enum MHD_Result send_page(struct server *s, struct MHD_Connection *c, unsigned part, bool file)
{
	const struct page_frame frame = page_frame(!file);
	struct shared_data *d = s->parts->list[part].data;
	struct MHD_Response *r;
	struct MHD_IoVec pieces[3];

	if (!d)
		return refuse(c, MHD_HTTP_SERVICE_UNAVAILABLE);
	pieces[0] = (struct MHD_IoVec){frame.before, frame.before_bytes};
	pieces[1] = (struct MHD_IoVec){d->at, d->bytes};
	pieces[2] = (struct MHD_IoVec){frame.after, frame.after_bytes};
	r = http->create_response_from_iovec(pieces, 3, release, shared_data_hold(d));
	return send_response(c, MHD_HTTP_OK, file ? as_file(r) : r, "text/html; charset=utf-8",
			     file ? s->file_policy : s->page_policy);
}

/* As far as it has been written. */
static enum MHD_Result send_trace(const struct server *s, struct MHD_Connection *c)
{
	int fd = fcntl(s->parts->options->trace_fd, F_DUPFD_CLOEXEC, 3);
	struct MHD_Response *r = fd < 0 ? NULL : http->create_response_from_fd64(s->parts->bytes, fd);

	if (!r && fd >= 0)
		close(fd);
	return send_response(c, MHD_HTTP_OK, as_file(r), "application/octet-stream", NO_POLICY);
}

/* ---- requests ---- */

static enum MHD_Result answer(void *ctx, struct MHD_Connection *c, const char *url, const char *method,
			      const char *version, const char *upload, size_t *upload_size, void **state)
{
	struct server *s = ctx;
	const struct request r = {.method = method,
				  .path = url,
				  .host = http->lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST),
				  .last = http->lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "last")};
	const struct route to = request_route(&r, s->token);

	(void)version, (void)upload, (void)upload_size, (void)state;
	if (to.target != TARGET_NONE)
		parts_want(s->parts, to.part);
	switch (to.target) {
	case TARGET_PAGE:
	case TARGET_FILE:
		return send_page(s, c, to.part, to.target == TARGET_FILE);
	case TARGET_STATE:
		return send_state(s, c, to.part);
	case TARGET_DATA:
		return send_data(s, c, to.part);
	case TARGET_TRACE:
		return send_trace(s, c);
	default:
		return refuse(c, to.status);
	}
}

/* ---- the daemon ---- */

static void log_message(void *ctx, const char *format, va_list args)
{
	char text[256];

	(void)ctx;
	vsnprintf(text, sizeof(text), format, args);
	text[strcspn(text, "\n")] = '\0';
	log_debug("HTTP: %s", text);
}

/* The policy that a page has in itself, which a header can say more of. */
static int policy_of(char to[POLICY_MAX], bool live)
{
	static const char head[] = "\"Content-Security-Policy\" content=\"";
	const struct page_frame frame = page_frame(live);
	const char *at = memmem(frame.before, frame.before_bytes, head, strlen(head)), *end;

	if (!at)
		return -EINVAL;
	at += strlen(head);
	end = memchr(at, '"', frame.before_bytes - (size_t)(at - frame.before));
	if (!end || snprintf(to, POLICY_MAX, "%.*s; frame-ancestors 'none'", (int)(end - at), at) >= POLICY_MAX)
		return -EINVAL;
	return 0;
}

int server_open(struct server **out, int listen_fd, const char token[TOKEN_DIGITS + 1], struct parts *parts)
{
	struct server *s;

	*out = NULL;
	http = http_load();
	if (!http)
		return -ELIBACC;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->parts = parts;
	memcpy(s->token, token, TOKEN_DIGITS + 1);
	if (policy_of(s->page_policy, true) || policy_of(s->file_policy, false)) {
		free(s);
		return -EINVAL;
	}
	s->daemon =
		http->start_daemon(MHD_USE_ERROR_LOG, 0, NULL, NULL, answer, s, MHD_OPTION_EXTERNAL_LOGGER, log_message,
				   NULL, MHD_OPTION_LISTEN_SOCKET, listen_fd, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
				   MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
				   IDLE_SECONDS, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
	if (!s->daemon) {
		free(s);
		return -EIO;
	}
	*out = s;
	return 0;
}

void server_close(struct server *s)
{
	if (!s)
		return;
	http->stop_daemon(s->daemon);
	free(s);
}

void server_wait(struct server *s, int other_fd, int most_ms)
{
	fd_set to_read, to_write, failed;
	MHD_socket last = other_fd;
	MHD_UNSIGNED_LONG_LONG ms;
	struct timeval most;

	FD_ZERO(&to_read);
	FD_ZERO(&to_write);
	FD_ZERO(&failed);
	if (http->get_fdset(s->daemon, &to_read, &to_write, &failed, &last) != MHD_YES)
		return;
	if (other_fd >= 0)
		FD_SET(other_fd, &to_read);
	if (http->get_timeout(s->daemon, &ms) == MHD_YES && ms < (unsigned)most_ms)
		most_ms = (int)ms;
	most = (struct timeval){.tv_sec = most_ms / 1000, .tv_usec = most_ms % 1000 * 1000L};
	if (select(last + 1, &to_read, &to_write, &failed, &most) >= 0)
		http->run_from_select(s->daemon, &to_read, &to_write, &failed);
}

int server_listen(uint16_t *port)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_port = htons(*port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1, err;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) || bind(fd, (struct sockaddr *)&at, size) ||
	    listen(fd, BACKLOG) || getsockname(fd, (struct sockaddr *)&at, &size)) {
		err = -errno;
		close(fd);
		return err;
	}
	*port = ntohs(at.sin_port);
	return fd;
}
