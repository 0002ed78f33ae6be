/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service memfd|anon: publishes OpenTelemetry's process context in such a mapping, and serves requests from the first
 * line of input to the second: each in a span of its own, whose attributes say which function serves it. From the tenth
 * request on, there is one key more, and a second attribute comes in the middle of the request.
 */
#define _GNU_SOURCE
#include "variable.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

static struct {
	char signature[8];
	uint32_t version, payload_bytes;
	volatile uint64_t published_ns;
	const uint8_t *payload;
} * header;

/* ---- the payload ---- */

struct message {
	uint8_t bytes[1000];
	size_t size;
};

static void put(struct message *m, unsigned field, const void *bytes, size_t size)
{
	m->bytes[m->size++] = (uint8_t)(field << 3 | 2);
	if (size >= 0x80)
		m->bytes[m->size++] = (uint8_t)(size | 0x80);
	m->bytes[m->size++] = (uint8_t)(size >= 0x80 ? size >> 7 : size);
	memcpy(m->bytes + m->size, bytes, size);
	m->size += size;
}

static void put_text(struct message *m, unsigned field, const char *text)
{
	put(m, field, text, strlen(text));
}

static void put_pair(struct message *m, unsigned field, const char *key, const struct message *value)
{
	struct message pair = {.size = 0};

	put_text(&pair, 1, key);
	put(&pair, 2, value->bytes, value->size);
	put(m, field, pair.bytes, pair.size);
}

static void put_attribute(struct message *m, unsigned field, const char *key, const char *text)
{
	struct message value = {.size = 0};

	put_text(&value, 1, text);
	put_pair(m, field, key, &value);
}

static void put_keys(struct message *m, const char *const *keys, size_t count)
{
	struct message array = {.size = 0}, value = {.size = 0};

	for (size_t i = 0; i < count; i++) {
		struct message key = {.size = 0};

		put_text(&key, 1, keys[i]);
		put(&array, 1, key.bytes, key.size);
	}
	put(&value, 5, array.bytes, array.size);
	put_pair(m, 2, "threadlocal.attribute_key_map", &value);
}

static void publish(const char *version, size_t keys)
{
	static const char *const names[] = {"http.route", "user\033.id"};
	struct message resource = {.size = 0}, *payload = calloc(1, sizeof(*payload));

	put_attribute(&resource, 1, "service.name", "check\033out");
	put_attribute(&resource, 1, "service.version", version);
	put(payload, 1, resource.bytes, resource.size);
	put_attribute(payload, 2, "threadlocal.schema_version", "tlsdesc_v1_dev");
	put_keys(payload, names, keys);
	header->published_ns = 0;
	header->payload = payload->bytes;
	header->payload_bytes = (uint32_t)payload->size;
	header->version = 2;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	header->published_ns = 1000 + keys;
	memcpy(header->signature, "OTEL_CTX", 8);
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, header, 4096, "OTEL_CTX");
}

static void map_header(const char *how)
{
	int fd = strcmp(how, "memfd") == 0 ? memfd_create("OTEL_CTX", MFD_CLOEXEC) : -1;

	if (fd >= 0 && ftruncate(fd, 4096))
		exit(1);
	header = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
	if (header == MAP_FAILED)
		exit(1);
	if (fd >= 0)
		close(fd);
}

/* ---- requests ---- */

#define BURN                                                                                                           \
	for (volatile int i = 0; i < 3000000; i++)                                                                     \
		;
static __attribute__((noinline)) void serve_cart(void)
{
	BURN
}
static __attribute__((noinline)) void serve_login(void)
{
	BURN
}
static __attribute__((noinline)) void end_cart(void)
{
	BURN
}
static __attribute__((noinline)) void end_login(void)
{
	BURN
}

struct record {
	struct context c;
	uint8_t attributes[64];
};

static void append(struct record *r, uint8_t key, const char *value)
{
	uint8_t *at = r->attributes + r->c.attrs_size;
	size_t length = strlen(value);

	at[0] = key;
	at[1] = (uint8_t)length;
	memcpy(at + 2, value, length);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*(volatile uint16_t *)&r->c.attrs_size = (uint16_t)(r->c.attrs_size + 2 + length);
}

static void serve(uint64_t number)
{
	int cart = number % 2;
	struct record r = {.c = {.valid = 1}};

	memset(r.c.trace, 7, sizeof(r.c.trace));
	for (int i = 0; i < 8; i++)
		r.c.span[7 - i] = (uint8_t)(number >> 8 * i);
	append(&r, 0, cart ? "/cart" : "/login\033");
	append(&r, 200, "of no key");
	context_set(&r.c);
	(cart ? serve_cart : serve_login)();
	append(&r, 1, "user-7");
	(cart ? end_cart : end_login)();
	context_set(NULL);
}

int main(int argc, char **argv)
{
	struct pollfd in = {.fd = 0, .events = POLLIN};
	char byte;

	map_header(argc > 1 ? argv[1] : "memfd");
	publish("1.0", 1);
	puts("ready");
	fflush(stdout);
	if (read(0, &byte, 1) != 1)
		return 1;
	for (uint64_t number = 1; poll(&in, 1, 0) == 0; number++) {
		if (number == 10)
			publish("1.1", 2);
		serve(number);
	}
	return 0;
}
