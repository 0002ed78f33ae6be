// SPDX-License-Identifier: Apache-2.0
/* Tests of the agent's options. With no options, or without a JVM, its entry points still succeed. */
#include "core/options.h"

#include "fake_jvmti.h"

#include <braid/agent_options.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SPILL_DEFAULT (16U << 20)
#define WAIT_DEFAULT 2000

Suite *test_options(void);

jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved);
jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved);
void JNICALL Agent_OnUnload(JavaVM *vm);
jint JNICALL Agent_OnLoad_braid_agent(JavaVM *vm, char *options, void *reserved);
jint JNICALL Agent_OnAttach_braid_agent(JavaVM *vm, char *options, void *reserved);
void JNICALL Agent_OnUnload_braid_agent(JavaVM *vm);

static struct options parsed(const char *text)
{
	struct options o;

	memset(&o, 0xff, sizeof(o));
	options_parse(&o, text);
	return o;
}

static void is_default(const struct options *o)
{
	ck_assert_str_eq(o->sock, "");
	ck_assert_uint_eq(o->spill_bytes, SPILL_DEFAULT);
	ck_assert_uint_eq(o->wait_ms, WAIT_DEFAULT);
	ck_assert(!o->verbose && !o->help);
}

/* HotSpot passes NULL where the specification has an empty string. */
START_TEST(nothing_is_the_default)
{
	static const char *const none[] = {NULL, "", ",", ",,,"};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct options o = parsed(none[i]);

		is_default(&o);
		ck_assert_str_eq(o.complaint, "");
	}
}
END_TEST

START_TEST(what_is_asked_for)
{
	struct options o = parsed("sock=/run/b=1/s,spill=0,,wait_ms=60000,verbose,help");

	ck_assert_str_eq(o.sock, "/run/b=1/s");
	ck_assert_uint_eq(o.spill_bytes, 0);
	ck_assert_uint_eq(o.wait_ms, 60000);
	ck_assert(o.verbose && o.help);
	ck_assert_str_eq(o.complaint, "");
}
END_TEST

START_TEST(the_last_one_holds)
{
	ck_assert_str_eq(parsed("sock=/a,sock=/b").sock, "/b");
	ck_assert_uint_eq(parsed("spill=1,spill=x").spill_bytes, 1);
}
END_TEST

/* An unknown option is named, and its value stays the default. */
START_TEST(what_is_not_understood)
{
	static const char *const bad[] = {"nonsense",
					  "verbose=1",
					  "help=",
					  "sock",
					  "sock=",
					  "spill=",
					  "spill=-1",
					  "spill=1k",
					  "spill=1073741825",
					  "wait_ms=60001",
					  "wait_ms=99999999999999999999",
					  "=",
					  "wait_ms= 1",
					  "Verbose",
					  "sockets=/a"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct options o = parsed(bad[i]);

		is_default(&o);
		ck_assert_msg(strstr(o.complaint, bad[i]) || strchr(bad[i], '='), "%s: %s", bad[i], o.complaint);
		ck_assert_msg(o.complaint[0], "%s is taken", bad[i]);
	}
	ck_assert_str_eq(parsed("a,sock=/s,b=2").sock, "/s");
	ck_assert_str_eq(parsed("a,sock=/s,b=2").complaint, "unknown option 'a'; unknown option 'b'");
}
END_TEST

START_TEST(no_length_is_too_much)
{
	struct options o;
	char text[4000];

	/* As long as a socket's address, and longer. */
	memset(text, 'p', sizeof(text));
	memcpy(text, "sock=", 5);
	text[5 + sizeof(o.sock) - 1] = '\0';
	o = parsed(text);
	ck_assert_uint_eq(strlen(o.sock), sizeof(o.sock) - 1);
	ck_assert_str_eq(o.complaint, "");
	text[5 + sizeof(o.sock) - 1] = 'p';
	text[5 + sizeof(o.sock)] = '\0';
	o = parsed(text);
	ck_assert_str_eq(o.sock, "");
	ck_assert_str_ne(o.complaint, "");

	/* More complaints than there is room for. */
	for (size_t i = 0; i + 2 < sizeof(text); i += 2)
		memcpy(text + i, "x,", 2);
	text[sizeof(text) - 1] = '\0';
	o = parsed(text);
	ck_assert_uint_lt(strlen(o.complaint), sizeof(o.complaint));
	ck_assert_uint_gt(strlen(o.complaint), sizeof(o.complaint) / 2);
}
END_TEST

/* What `entry` writes to standard error. */
static void said(char *to, size_t size, jint (*entry)(JavaVM *, char *, void *), char *options)
{
	int before = dup(STDERR_FILENO), file = memfd_create("err", 0);
	ssize_t length;

	ck_assert_int_ge(dup2(file, STDERR_FILENO), 0);
	ck_assert_int_eq(entry(&fake_vm, options, NULL), JNI_OK);
	fflush(stderr);
	dup2(before, STDERR_FILENO);
	length = pread(file, to, size - 1, 0);
	to[length > 0 ? length : 0] = '\0';
	close(file);
	close(before);
}

/* Without a socket the agent is dormant: it does not even have an environment. */
START_TEST(without_a_socket_it_sleeps)
{
	char text[2048];

	fake_jvm_start();
	said(text, sizeof(text), Agent_OnLoad, NULL);
	ck_assert_str_eq(text, "");
	said(text, sizeof(text), Agent_OnLoad, (char[]){""});
	ck_assert_str_eq(text, "");
	said(text, sizeof(text), Agent_OnLoad_braid_agent, (char[]){"nonsense,spill=1"});
	ck_assert_str_eq(text, "");
	fake.phase = JVMTI_PHASE_LIVE;
	said(text, sizeof(text), Agent_OnAttach, NULL);
	ck_assert_str_eq(text, "");
	said(text, sizeof(text), Agent_OnAttach_braid_agent, (char[]){""});
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(atomic_load(&fake.environments), 0);
	Agent_OnUnload(&fake_vm);
	Agent_OnUnload_braid_agent(&fake_vm);
}
END_TEST

START_TEST(help_and_complaints_are_seen)
{
	char text[2048];

	fake_jvm_start();
	said(text, sizeof(text), Agent_OnLoad, (char[]){"help"});
	ck_assert_str_eq(text, options_usage);
	for (int i = 0; i < BRAID_AGENT_OPTIONS; i++)
		ck_assert_ptr_nonnull(strstr(options_usage, braid_agent_options[i].name));
	said(text, sizeof(text), Agent_OnLoad, (char[]){"nonsense,verbose"});
	ck_assert_ptr_nonnull(strstr(text, "unknown option 'nonsense'"));
}
END_TEST

/* Whatever is missing, the JVM starts: a result other than JNI_OK would end it. */
START_TEST(no_jvm_is_ended)
{
	char text[2048];

	fake_jvm_start();
	said(text, sizeof(text), Agent_OnLoad, (char[]){"sock=/nonexistent/braid,wait_ms=0,verbose"});
	ck_assert_ptr_nonnull(strstr(text, "/nonexistent/braid"));
	ck_assert_uint_eq(fake.capabilities[0], 0);
	ck_assert_uint_eq(atomic_load(&fake.events), 0);
}
END_TEST

Suite *test_options(void)
{
	Suite *s = suite_create("agent options");
	TCase *t = tcase_create("options");

	tcase_add_test(t, nothing_is_the_default);
	tcase_add_test(t, what_is_asked_for);
	tcase_add_test(t, the_last_one_holds);
	tcase_add_test(t, what_is_not_understood);
	tcase_add_test(t, no_length_is_too_much);
	tcase_add_test(t, without_a_socket_it_sleeps);
	tcase_add_test(t, help_and_complaints_are_seen);
	tcase_add_test(t, no_jvm_is_ended);
	suite_add_tcase(s, t);
	return s;
}
