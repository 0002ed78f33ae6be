// SPDX-License-Identifier: Apache-2.0
/* Tests of the server over real sockets, with a trace that grows. */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <serve/server.h>

#include "unit/synthetic.h"

Suite *test_server(void);

#define TOKEN "0123456789abcdef0123456789abcdef"
#define ANSWER_MAX (2U << 20)
#define TURNS 2000

/* A recording that is being written, and its server. */
struct served {
	char path[32];
	struct trace_writer *writer;
	struct parts_options options;
	struct parts parts;
	struct server *server;
	uint16_t port;
	char *answer;
};

static void put(struct served *s, const struct trace_rec *recs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (recs[i].kind != TRACE_END || count == 1) /* the synthetic recording goes on */
			ck_assert_int_eq(trace_writer_put(s->writer, &recs[i]), 0);
	ck_assert_int_eq(trace_writer_flush(s->writer), 0);
}

static void begin(struct served *s)
{
	int fd;

	*s = (struct served){.path = "/tmp/braid-test-serve-XXXXXX", .answer = malloc(ANSWER_MAX)};
	fd = mkstemp(s->path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(trace_writer_open(&s->writer, s->path), 0);
	put(s, synthetic, SYNTHETIC_COUNT);
	s->options = (struct parts_options){.trace_fd = open(s->path, O_RDONLY), .title = "grows.trace"};
	ck_assert_int_eq(trace_reader_open(&s->options.reader, s->path, NULL), 0);
	trace_reader_follow(s->options.reader);
	ck_assert_int_eq(parts_open(&s->parts, &s->options), 0);
	fd = server_listen(&s->port);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(server_open(&s->server, fd, TOKEN, &s->parts), 0);
}

static void end(struct served *s)
{
	server_close(s->server);
	parts_close(&s->parts);
	trace_reader_close(s->options.reader);
	close(s->options.trace_fd);
	trace_writer_close(s->writer);
	unlink(s->path);
	free(s->answer);
}

/* Until the part has data of a later generation. */
static void wait_newer(struct served *s, unsigned part, uint64_t than)
{
	while (s->parts.list[part].generation <= than) {
		s->parts.pause_until_ns = 0;
		parts_want(&s->parts, part);
		parts_tick(&s->parts);
		ck_assert_int_eq(s->parts.list[part].err, 0);
		poll(NULL, 0, 5);
	}
}

/*
 * Sends bytes and reads what the server answers; the connection's other half is closed. Returns the status, 0: no
 * answer.
 */
static unsigned exchange(struct served *s, const char *bytes, size_t count)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_port = htons(s->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	size_t used = 0;
	unsigned status = 0;

	ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(send(fd, bytes, count, MSG_NOSIGNAL), count);
	shutdown(fd, SHUT_WR);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	for (int idle = 0; idle < TURNS; idle++) { /* what is no whole request may be waited for */
		ssize_t n;

		server_wait(s->server, -1, 0);
		n = recv(fd, s->answer + used, ANSWER_MAX - 1 - used, 0);
		if (n == 0 || (n < 0 && errno != EAGAIN))
			break;
		used += n > 0 ? (size_t)n : 0;
		idle = n > 0 ? 0 : idle;
	}
	close(fd);
	s->answer[used] = '\0';
	sscanf(s->answer, "HTTP/1.1 %u", &status);
	return status;
}

static unsigned get(struct served *s, const char *name)
{
	char text[256];
	int length = snprintf(text, sizeof(text), "GET /" TOKEN "/%s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", name);

	return exchange(s, text, (size_t)length);
}

static bool says(const struct served *s, const char *text)
{
	return strstr(s->answer, text);
}

START_TEST(a_recording_that_grows)
{
	static const struct trace_rec more[] = {SAMPLE(3000, 1, 0, 1), SAMPLE(3001, 1, 0, 1)};
	static const struct trace_rec last = {.kind = TRACE_END, .end.time_ns = BASE_NS + 3002 * MS};
	struct served s;
	uint64_t first;

	begin(&s);
	ck_assert_uint_eq(get(&s, ""), 503); /* nothing is made yet */
	wait_newer(&s, 0, 0);
	first = s.parts.list[0].generation;
	ck_assert_uint_eq(get(&s, "data"), 200);
	ck_assert(says(&s, "\"live\":{\"generation\":1,\"growing\":true}") && says(&s, "\"title\":\"grows.trace\""));
	ck_assert_uint_eq(get(&s, "state"), 200);
	ck_assert(says(&s, "{\"growing\":true,") && says(&s, "\"generation\":1,"));
	for (int i = 0; i < 50; i++) { /* nothing has come */
		parts_want(&s.parts, 0);
		parts_tick(&s.parts);
	}
	ck_assert_int_eq(s.parts.maker.pid, 0);
	put(&s, more, 2);
	wait_newer(&s, 0, first);
	ck_assert_uint_eq(get(&s, "data"), 200);
	ck_assert(says(&s, "\"growing\":true}"));
	put(&s, &last, 1);
	wait_newer(&s, 0, first + 1);
	while (s.parts.list[0].growing) /* the data said so before the end was known */
		wait_newer(&s, 0, s.parts.list[0].generation);
	ck_assert_uint_eq(get(&s, "data"), 200);
	ck_assert(says(&s, "\"growing\":false}") && says(&s, "\"ended\":true"));
	end(&s);
}
END_TEST

/* A part has its end only, and is of its own generation. Only who looks has data made. */
START_TEST(the_last_seconds)
{
	static const struct trace_rec far[] = {SAMPLE(60000, 1, 0, 1)};
	struct served s;

	begin(&s);
	put(&s, far, 1);
	wait_newer(&s, 0, 0);
	ck_assert_ptr_null(s.parts.list[1].data);
	ck_assert_uint_eq(get(&s, "data"), 200);
	ck_assert(says(&s, "\"filter\":null"));
	wait_newer(&s, 1, 0);
	ck_assert_uint_eq(get(&s, "data?last=10"), 200);
	ck_assert(says(&s, "\"filter\":\"from ") && says(&s, "\"total\":1,"));
	ck_assert_uint_eq(get(&s, "state?last=10"), 200);
	ck_assert(says(&s, "\"last_s\":10,"));
	ck_assert_uint_eq(get(&s, "data?last=11"), 400);
	end(&s);
}
END_TEST

/* The data of a response live as long as it is sent, even when there are newer ones. */
START_TEST(shared)
{
	static const struct trace_rec more[] = {SAMPLE(3000, 1, 0, 1)};
	struct shared_data *held;
	struct served s;

	begin(&s);
	wait_newer(&s, 0, 0);
	held = shared_data_hold(s.parts.list[0].data);
	put(&s, more, 1);
	wait_newer(&s, 0, s.parts.list[0].generation);
	ck_assert_ptr_ne(s.parts.list[0].data, held);
	ck_assert_uint_eq(held->refs, 1);
	ck_assert_ptr_nonnull(memmem(held->at, held->bytes, "\"generation\":1,", 15));
	shared_data_release(held);
	ck_assert_uint_eq(get(&s, "data"), 200);
	ck_assert_uint_eq(s.parts.list[0].data->refs, 1);
	end(&s);
}
END_TEST

START_TEST(heads)
{
	static const char *const all[] = {"Cache-Control: no-store\r\n", "Referrer-Policy: no-referrer\r\n",
					  "X-Content-Type-Options: nosniff\r\n", "frame-ancestors 'none'\r\n",
					  "Content-Security-Policy: default-src 'none'; "};
	static const char *const names[] = {"", "state", "data", "page.html", "trace.braid", "nothing"};
	struct served s;

	begin(&s);
	wait_newer(&s, 0, 0);
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		ck_assert_uint_eq(get(&s, names[n]), n == 5 ? 404 : 200);
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
			ck_assert_msg(says(&s, all[i]), "%s: no %s", names[n], all[i]);
	}
	ck_assert_uint_eq(get(&s, ""), 200);
	ck_assert(says(&s, "connect-src 'self'") && !says(&s, "Content-Disposition"));
	ck_assert_uint_eq(get(&s, "page.html"), 200);
	ck_assert(!says(&s, "connect-src") && !says(&s, "fetch(") && says(&s, "Content-Disposition: attachment\r\n"));
	ck_assert_uint_eq(get(&s, "trace.braid"), 200);
	ck_assert(says(&s, "Content-Disposition: attachment\r\n") && says(&s, "\r\n\r\n" BRAID_BLOCK_MAGIC));
	end(&s);
}
END_TEST

/* Bytes that are nearly a request: the server answers what is one, and never with what needs the token. */
START_TEST(garbage)
{
	static const char good[] = "GET /" TOKEN "/state HTTP/1.1\r\nHost: localhost\r\nX: y\r\n\r\n";
	char bytes[40000];
	unsigned seed = 7;
	struct served s;

	begin(&s);
	wait_newer(&s, 0, 0);
	for (int round = 0; round < 600; round++) {
		size_t count = sizeof(good) - 1;

		memcpy(bytes, good, count);
		for (int changes = rand_r(&seed) % 4 + 1; changes; changes--)
			bytes[(size_t)rand_r(&seed) % count] = (char)rand_r(&seed);
		if (round % 3 == 0)
			count = (size_t)rand_r(&seed) % count;
		if (exchange(&s, bytes, count) == 200)
			ck_assert_ptr_nonnull(memmem(bytes, count, "/" TOKEN "/", TOKEN_DIGITS + 2));
	}
	memset(bytes, 'a', sizeof(bytes)); /* a head without an end */
	memcpy(bytes, "GET /", 5);
	ck_assert_uint_ne(exchange(&s, bytes, sizeof(bytes)), 200);
	ck_assert_uint_eq(get(&s, "state"), 200);
	end(&s);
}
END_TEST

Suite *test_server(void)
{
	Suite *s = suite_create("serve/server");
	TCase *t = tcase_create("server");

	tcase_add_test(t, a_recording_that_grows);
	tcase_add_test(t, the_last_seconds);
	tcase_add_test(t, shared);
	tcase_add_test(t, heads);
	tcase_add_test(t, garbage);
	suite_add_tcase(s, t);
	return s;
}
