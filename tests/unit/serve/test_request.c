// SPDX-License-Identifier: Apache-2.0
/* Tests of what a request gets by its text: token, name, method, path. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include <serve/request.h>

Suite *test_request(void);

#define TOKEN "0123456789abcdef0123456789abcdef"
#define HOST "127.0.0.1:8900"

static struct route of(const char *method, const char *host, const char *path, const char *last)
{
	return request_route(&(struct request){.method = method, .host = host, .path = path, .last = last}, TOKEN);
}

static void refused(struct route r, unsigned status)
{
	ck_assert_uint_eq(r.status, status);
	ck_assert_int_eq(r.target, TARGET_NONE);
	ck_assert_uint_gt(strlen(request_refusal(status)), 10);
}

START_TEST(targets)
{
	static const struct {
		const char *name;
		enum target target;
	} good[] = {{"", TARGET_PAGE},
		    {"state", TARGET_STATE},
		    {"data", TARGET_DATA},
		    {"page.html", TARGET_FILE},
		    {"trace.braid", TARGET_TRACE}};
	static const char *const bad[] = {"x",	   "state/", "../state",   "data/../../etc/passwd",
					  "trace", "/",	     "page.html\n"};
	char path[128];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		snprintf(path, sizeof(path), "/" TOKEN "/%s", good[i].name);
		ck_assert_int_eq(of("GET", HOST, path, NULL).target, good[i].target);
		ck_assert_uint_eq(of("HEAD", HOST, path, NULL).status, 200);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(path, sizeof(path), "/" TOKEN "/%s", bad[i]);
		refused(of("GET", HOST, path, NULL), 404);
	}
}
END_TEST

/* The token has to be there whole, at the beginning, with what ends it. */
START_TEST(tokens)
{
	static const char *const bad[] = {"",
					  "/",
					  "/state",
					  "/" TOKEN,
					  TOKEN "/",
					  "//" TOKEN "/",
					  "/x/" TOKEN "/",
					  "/" TOKEN "0/",
					  "/0123456789abcdef0123456789abcdeF/",
					  "/0123456789abcdef0123456789abcde/",
					  "/1123456789abcdef0123456789abcdef/"};
	char one[TOKEN_DIGITS + 1], other[TOKEN_DIGITS + 1], path[] = "/" TOKEN "/";

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refused(of("GET", HOST, bad[i], NULL), 403);
	refused(of("GET", HOST, NULL, NULL), 403);
	for (size_t i = 1; i <= TOKEN_DIGITS; i++) { /* each digit counts */
		path[i] ^= 1;
		refused(of("GET", HOST, path, NULL), 403);
		path[i] ^= 1;
	}
	ck_assert_uint_eq(of("GET", HOST, path, NULL).status, 200);
	ck_assert_int_eq(random_digits(one), 0);
	ck_assert_int_eq(random_digits(other), 0);
	ck_assert_uint_eq(strspn(one, "0123456789abcdef"), TOKEN_DIGITS);
	ck_assert_str_ne(one, other);
}
END_TEST

/* A page of another name that leads to 127.0.0.1 would be a stranger's. */
START_TEST(names)
{
	static const char *const good[] = {"127.0.0.1:8900", "127.0.0.1", "localhost:1", "LocalHost:65535", "[::1]:80"};
	static const char *const bad[] = {"",
					  "evil.example",
					  "evil.example:8900",
					  "127.0.0.1.evil.example",
					  "localhost.evil.example:1",
					  "127.0.0.1:",
					  "127.0.0.1:x",
					  "127.0.0.1:8900x",
					  "127.0.0.1:123456",
					  "127.0.0.2",
					  "[::1",
					  "x127.0.0.1",
					  "127.0.0.1@evil",
					  " 127.0.0.1",
					  "0.0.0.0:80"};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_msg(of("GET", good[i], "/" TOKEN "/", NULL).status == 200, "%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(of("GET", bad[i], "/" TOKEN "/", NULL).status == 403, "%s", bad[i]);
	refused(of("GET", NULL, "/" TOKEN "/", NULL), 403);
}
END_TEST

START_TEST(methods)
{
	static const char *const bad[] = {"POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "get", "GETX", ""};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refused(of(bad[i], HOST, "/" TOKEN "/", NULL), 405);
	refused(of(NULL, HOST, "/" TOKEN "/", NULL), 405);
}
END_TEST

START_TEST(parts_of_the_time)
{
	static const char *const bad[] = {"", "1", "060", "60s", "-1", "99999999999999999999"};
	char text[16];

	for (unsigned i = 0; i < PARTS; i++) {
		snprintf(text, sizeof(text), "%u", part_seconds[i]);
		ck_assert_uint_eq(of("GET", HOST, "/" TOKEN "/data", text).part, i);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refused(of("GET", HOST, "/" TOKEN "/data", bad[i]), 400);
}
END_TEST

Suite *test_request(void)
{
	Suite *s = suite_create("serve/request");
	TCase *t = tcase_create("request");

	tcase_add_test(t, targets);
	tcase_add_test(t, tokens);
	tcase_add_test(t, names);
	tcase_add_test(t, methods);
	tcase_add_test(t, parts_of_the_time);
	suite_add_tcase(s, t);
	return s;
}
