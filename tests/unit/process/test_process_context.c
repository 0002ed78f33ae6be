// SPDX-License-Identifier: Apache-2.0
/* Tests of the reader of OpenTelemetry's process context: what it finds, and payloads that are none. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <process/process_context.h>

Suite *test_process_context(void);

static char found[4096];

static void note(const char *what, struct context_text key, struct context_text value)
{
	size_t used = strlen(found);

	snprintf(found + used, sizeof(found) - used, "%s%.*s=%.*s;", what, (int)key.bytes, key.at, (int)value.bytes,
		 value.at);
}

static void on_attribute(void *ctx, struct context_text key, struct context_text value)
{
	(void)ctx;
	note("", key, value);
}

static void on_key(void *ctx, unsigned index, struct context_text name)
{
	char text[16];

	(void)ctx;
	snprintf(text, sizeof(text), "%u", index);
	note("key ", (struct context_text){text, strlen(text)}, name);
}

static int parse(const void *bytes, size_t size)
{
	static const struct process_context_reader reader = {.attribute = on_attribute, .key = on_key};
	char *copy = malloc(size ?: 1);
	int err;

	memcpy(copy, bytes, size); /* so that a read beyond its end is noticed */
	found[0] = '\0';
	err = process_context_parse(copy, size, &reader);
	free(copy);
	return err;
}

/* ---- payloads ---- */

struct message {
	uint8_t bytes[1024];
	size_t size;
};

static void put_byte(struct message *m, unsigned byte)
{
	m->bytes[m->size++] = (uint8_t)byte;
}

static void put(struct message *m, unsigned field, const void *bytes, size_t size)
{
	put_byte(m, field << 3 | 2);
	put_byte(m, ((unsigned)size & 0x7f) | 0x80);
	put_byte(m, (unsigned)(size >> 7));
	memcpy(m->bytes + m->size, bytes, size);
	m->size += size;
}

static void put_message(struct message *m, unsigned field, const struct message *part)
{
	put(m, field, part->bytes, part->size);
}

static void put_text(struct message *m, unsigned field, const char *text)
{
	put(m, field, text, strlen(text));
}

static void put_pair(struct message *m, unsigned field, const char *key, const struct message *value)
{
	struct message pair = {.size = 0};

	put_text(&pair, 1, key);
	put_message(&pair, 2, value);
	put_message(m, field, &pair);
}

static void put_list(struct message *m, const char *key)
{
	struct message r = {.size = 0}, u = {.size = 0}, array = {.size = 0}, value = {.size = 0};

	put_text(&r, 1, "route");
	put_text(&u, 1, "user");
	put_message(&array, 1, &r);
	put_message(&array, 1, &u);
	put_message(&value, 5, &array);
	put_pair(m, 2, key, &value);
}

/* Attributes of the resource and beside it, of each type; the names of keys; and what is left out. */
static struct message whole(void)
{
	struct message m = {.size = 0}, resource = {.size = 0}, text = {.size = 0};
	const double half = 0.5;

	put_text(&text, 1, "web");
	put_pair(&resource, 1, "service.name", &text);
	put_pair(&resource, 1, "", &text);
	put_pair(&resource, 1, "number", &(struct message){{0x18, 0xac, 0x02}, 3});
	put_byte(&resource, 2 << 3); /* dropped_attributes_count */
	put_byte(&resource, 9);
	put_message(&m, 1, &resource);
	put_pair(&m, 2, "flag", &(struct message){{0x10, 1}, 2});
	text.size = 0;
	put_byte(&text, 4 << 3 | 1);
	memcpy(text.bytes + 1, &half, sizeof(half));
	text.size += sizeof(half);
	put_pair(&m, 2, "half", &text);
	put_list(&m, "threadlocal.attribute_key_map");
	put_list(&m, "a.list");
	put_pair(&m, 2, "threadlocal.schema_version", &(struct message){{0x0a, 1, 'x'}, 3});
	put_text(&m, 3, "of the future");
	put_byte(&m, 9 << 3 | 5);
	for (int i = 0; i < 4; i++)
		put_byte(&m, 0);
	return m;
}

START_TEST(what_a_payload_says)
{
	struct message m = whole();

	ck_assert_int_eq(parse(m.bytes, m.size), 0);
	ck_assert_str_eq(found, "service.name=web;number=300;flag=true;half=0.5;key 0=route;key 1=user;");
	ck_assert_int_eq(parse("", 0), 0);
	ck_assert_str_eq(found, "");
}
END_TEST

/* A payload that is cut, or in which any byte is another one, is read within its bounds, and wholly or not at all. */
START_TEST(damaged_payloads)
{
	struct message m = whole();
	unsigned refused = 0;

	for (size_t size = 1; size < m.size; size++)
		if (parse(m.bytes, size)) {
			refused++;
			ck_assert_str_eq(found, "");
		}
	ck_assert_uint_gt(refused, m.size / 2);
	for (size_t at = 0; at < m.size; at++) {
		uint8_t was = m.bytes[at];

		for (unsigned byte = 0; byte < 256; byte++) {
			m.bytes[at] = (uint8_t)byte;
			if (parse(m.bytes, m.size))
				ck_assert_str_eq(found, "");
		}
		m.bytes[at] = was;
	}
}
END_TEST

/* A field whose length is larger than the message, of a type that is not used any more, and with the number 0. */
START_TEST(refused_fields)
{
	static const struct message refused[] = {
		{{0x0a, 0x02, 0x00}, 3},
		{{0x0b}, 1},
		{{0x0c}, 1},
		{{0x02, 0x00}, 2},
		{{0x0a}, 1},
		{{0x09, 0, 0}, 3},
		{{0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}, 12},
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		ck_assert_int_eq(parse(refused[i].bytes, refused[i].size), -EINVAL);
}
END_TEST

START_TEST(headers)
{
	struct braid_process_context h = {.version = BRAID_PROCESS_CONTEXT_VERSION};

	ck_assert(!process_context_is(&h));
	memcpy(h.signature, BRAID_PROCESS_CONTEXT, sizeof(h.signature));
	ck_assert(process_context_is(&h));
	h.version++;
	ck_assert(!process_context_is(&h));
}
END_TEST

Suite *test_process_context(void)
{
	Suite *s = suite_create("process_context");
	TCase *t = tcase_create("payloads");

	tcase_add_test(t, what_a_payload_says);
	tcase_add_test(t, damaged_payloads);
	tcase_add_test(t, refused_fields);
	tcase_add_test(t, headers);
	suite_add_tcase(s, t);
	return s;
}
