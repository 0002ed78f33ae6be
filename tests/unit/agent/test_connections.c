// SPDX-License-Identifier: Apache-2.0
/* Tests of the agent's consecutive connections, with the fake JVM and a fake recorder. */
#include "class_fixture.h"
#include "fake_jvmti.h"
#include "recorder.h"

#include "core/state.h"

#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <stdio.h>

Suite *test_connections(void);

static const struct braid_event_config exceptions = {.enabled = BRAID_EVENT_TYPE(EXCEPTION), .exception_rate = 1};

static void attach(struct recorder *r)
{
	recorder_let_in(r, BRAID_START_ATTACH, &exceptions);
}

static void live_jvm(void)
{
	fake_jvm_start();
	fake.phase = JVMTI_PHASE_LIVE;
}

static void compiled(uintptr_t method)
{
	static uint8_t code[64];

	fake.callbacks.CompiledMethodLoad(&fake_env, (jmethodID)method, sizeof(code), code, 0, NULL, NULL);
}

static void thrown(uintptr_t class)
{
	fake.callbacks.Exception(&fake_env, &fake_jni, NULL, (jmethodID) class, 0, (jobject) class, NULL, 0);
}

/* In each recording the ids of methods begin at 1, whatever recordings came before. */
START_TEST(ids_begin_with_a_connection)
{
	live_jvm();
	for (uint32_t n = 0; n < 3; n++) {
		const struct braid_rec *rec;
		struct recorder r;
		uint32_t methods = 0;

		recorder_open(&r);
		attach(&r);
		for (uint32_t i = 0; i < 10; i++)
			compiled(1 + n + i);
		recorder_stop(&r);
		while ((rec = recorder_read(&r)))
			if (rec->kind == BRAID_REC_METHOD)
				ck_assert_uint_eq(((const struct braid_rec_method *)(const void *)rec)->method,
						  ++methods);
		ck_assert_uint_eq(methods, 10);
		recorder_close(&r);
	}
}
END_TEST

/* Each connection has its own environment, which is gone when the recorder receives that the agent has stopped. */
START_TEST(an_environment_for_each)
{
	live_jvm();
	for (int i = 0; i < 3; i++) {
		struct recorder r;

		recorder_open(&r);
		attach(&r);
		ck_assert_int_eq(atomic_load(&fake.environments), 1);
		recorder_stop(&r);
		ck_assert_int_eq(atomic_load(&fake.environments), 0);
		recorder_close(&r);
	}
}
END_TEST

/* The properties come once, without the command, which is in the HELLO record. */
START_TEST(properties_come_once)
{
	const struct braid_rec_setting *s;
	struct recorder r;

	live_jvm();
	recorder_open(&r);
	attach(&r);
	recorder_stop(&r);
	s = recorder_find(&r, BRAID_REC_SETTING);
	ck_assert_ptr_nonnull(s);
	ck_assert_uint_eq(s->origin, BRAID_SETTING_PROPERTY);
	ck_assert_uint_eq(s->value_len, strlen("a JVM that is none"));
	ck_assert_mem_eq(s + 1, "java.vm.namea JVM that is none", (size_t)s->name_len + s->value_len);
	ck_assert_uint_eq(recorder_count(&r, BRAID_REC_SETTING), 0);
	recorder_close(&r);
}
END_TEST

/* No recorder listens at the socket that the options name: the agent calls nothing of the JVM. */
START_TEST(no_environment_without_a_recorder)
{
	struct recorder r;
	struct load l;

	live_jvm();
	recorder_open(&r);
	recorder_close(&r);
	load_begin(&l, BRAID_START_ATTACH, &r);
	load_end(&l);
	ck_assert_int_eq(atomic_load(&fake.environments), 0);
	ck_assert_uint_eq(atomic_load(&fake.ti_calls[FAKE_TI(DisposeEnvironment)]), 0);
}
END_TEST

/* In a JVM without JVM TI the agent releases the ring that it was granted, and the JVM lives. */
START_TEST(without_jvm_ti_nothing_is_kept)
{
	struct recorder first, second;
	struct load l;

	live_jvm();
	recorder_open(&first);
	recorder_open(&second);
	fake.no_environment = true;
	load_begin(&l, BRAID_START_ATTACH, &first);
	recorder_grant(&first, &exceptions);
	load_end(&l);
	ck_assert(!recorder_hears(&first, 0, NULL));
	fake.no_environment = false;
	attach(&second);
	recorder_stop(&second);
	recorder_close(&first);
	recorder_close(&second);
}
END_TEST

/* The environment cannot be disposed of: the next connection uses the same one. */
START_TEST(an_environment_that_stays_is_used_again)
{
	live_jvm();
	fake.errors[FAKE_TI(DisposeEnvironment)] = JVMTI_ERROR_INTERNAL;
	for (int i = 0; i < 3; i++) {
		struct recorder r;

		recorder_open(&r);
		attach(&r);
		recorder_stop(&r);
		ck_assert_int_eq(atomic_load(&fake.environments), 1);
		recorder_close(&r);
	}
}
END_TEST

/* A thread was about to publish an event when its recording ended: the next recording does not get it. */
START_TEST(an_event_of_a_former_environment_comes_late)
{
	const struct braid_rec *rec;
	jvmtiEnv former;
	struct recorder r;

	live_jvm();
	recorder_open(&r);
	attach(&r);
	former = fake_env;
	fake.callbacks.CompiledMethodUnload(&former, (jmethodID)1, (const void *)64);
	fake.callbacks.CompiledMethodUnload(&fake_env, (jmethodID)1, (const void *)128);
	recorder_stop(&r);
	while ((rec = recorder_read(&r)))
		if (rec->kind == BRAID_REC_CODE_UNLOAD)
			ck_assert_uint_eq(((const struct braid_rec_code_unload *)(const void *)rec)->address, 128);
	recorder_close(&r);
}
END_TEST

#define CLASSES 300U
#define THROWN 3U

/* Each class is counted as often as it was thrown, under its name, without the counts of the recording before. */
static void exceptions_are(struct recorder *r, uintptr_t first)
{
	unsigned class_of[CLASSES + 64] = {0}, counts[CLASSES] = {0};
	const struct braid_rec *rec;

	while ((rec = recorder_read(r))) {
		const struct braid_rec_jvm_event *d = (const void *)rec;
		const struct braid_rec_type *t = (const void *)rec;
		char name[32] = "";
		unsigned class;

		if (rec->kind == BRAID_REC_TYPE) {
			ck_assert_uint_lt(t->type, CLASSES + 64);
			ck_assert_uint_lt(t->name_len, sizeof(name));
			memcpy(name, t + 1, t->name_len);
			if (sscanf(name, "LC%u;", &class) == 1)
				class_of[t->type] = class;
		} else if (rec->kind == BRAID_REC_JVM_EVENT && d->event.kind == BRAID_JVM_EXCEPTION) {
			ck_assert_uint_lt(d->event.name, CLASSES + 64);
			class = class_of[d->event.name];
			ck_assert_msg(class >= first && class < first + CLASSES, "class %u", class);
			counts[class - first] += (unsigned)d->event.value;
		}
	}
	for (unsigned i = 0; i < CLASSES; i++)
		ck_assert_uint_eq(counts[i], THROWN);
}

START_TEST(every_class_is_counted)
{
	live_jvm();
	for (uintptr_t first = 1; first < 3000; first += 1000) {
		struct recorder r;

		recorder_open(&r);
		attach(&r);
		for (uint32_t i = 0; i < THROWN * CLASSES; i++)
			thrown(first + i % CLASSES);
		recorder_stop(&r);
		exceptions_are(&r, first);
		recorder_close(&r);
	}
}
END_TEST

/* The recorder has gone while the agent's helper thread is still inside the JVM; the ring stays mapped for it. */
START_TEST(a_helper_ends_its_own_connection)
{
	struct recorder first, second;
	struct load l;

	live_jvm();
	fake.held = true;
	recorder_open(&first);
	recorder_open(&second);
	attach(&first);
	sem_wait(&fake.holding);
	recorder_leave(&first);
	load_begin(&l, BRAID_START_ATTACH, &second);
	ck_assert_msg(!recorder_has_visitor(&second, 300), "the ring of a helper that lives was closed");
	fake.held = false;
	sem_post(&fake.go_on);
	recorder_grant(&second, &exceptions);
	load_end(&l);
	recorder_stop(&second);
	recorder_close(&first);
	recorder_close(&second);
}
END_TEST

static bool is_dormant(void)
{
	bool dormant;

	pthread_mutex_lock(&agent.lock);
	dormant = agent.state == AGENT_DORMANT;
	pthread_mutex_unlock(&agent.lock);
	return dormant;
}

/*
 * A debugger, say, has stopped a thread in a handler when the recorder goes: what it has changed in the JVM is put back
 * later.
 */
START_TEST(what_a_handler_has_kept_is_ended_by_the_next_load)
{
	static const struct braid_event_config methods = {.enabled = BRAID_EVENT_TYPE(METHOD),
							  .methods = {{.text = "C*.m"}}};
	static const uint8_t code[] = {0x03, 0xac}; /* iconst_0, ireturn */
	struct recorder first, second;
	struct writer file = {0};

	live_jvm();
	class_make(&file, &(struct class_file){0, 52, code, sizeof(code)});
	fake.class_file = (struct fake_bytes){file.bytes, (jint)file.used};
	fake.class_count = 1;
	recorder_open(&first);
	recorder_open(&second);
	recorder_let_in(&first, BRAID_START_ATTACH, &methods);
	while (!atomic_load(&fake.ti_calls[FAKE_TI(RetransformClasses)]))
		usleep(1000);
	ck_assert(agent_enter());
	recorder_leave(&first);
	while (!is_dormant())
		usleep(1000);
	ck_assert_uint_eq(fake.rewritten, 1 << 1);
	agent_leave();
	attach(&second);
	ck_assert_uint_eq(fake.rewritten, 0);
	ck_assert_uint_ne(atomic_load(&fake.events), 0);
	recorder_stop(&second);
	ck_assert_int_eq(atomic_load(&fake.environments), 0);
	recorder_close(&first);
	recorder_close(&second);
	free(file.bytes);
}
END_TEST

/* A running recorder keeps the agent; a second load does not wait. */
START_TEST(one_recorder_at_a_time)
{
	struct recorder first, second;
	struct load l;

	live_jvm();
	recorder_open(&first);
	recorder_open(&second);
	attach(&first);
	load_begin(&l, BRAID_START_ATTACH, &second);
	load_end(&l);
	ck_assert(!recorder_has_visitor(&second, 0));
	recorder_stop(&first);
	attach(&second);
	recorder_stop(&second);
	recorder_close(&first);
	recorder_close(&second);
}
END_TEST

static void *go_live(void *ctx)
{
	(void)ctx;
	usleep(50000);
	fake.phase = JVMTI_PHASE_LIVE;
	return NULL;
}

/* A JVM before 21 loads the agent before it is live, when it has no environment for it. */
START_TEST(loaded_in_the_start_phase)
{
	struct recorder r;
	pthread_t thread;

	fake_jvm_start();
	fake.phase = JVMTI_PHASE_START;
	recorder_open(&r);
	ck_assert_int_eq(pthread_create(&thread, NULL, go_live, NULL), 0);
	attach(&r);
	pthread_join(thread, NULL);
	ck_assert_uint_ne(atomic_load(&fake.events), 0);
	recorder_stop(&r);
	recorder_close(&r);
}
END_TEST

START_TEST(without_a_thread_nothing_is_kept)
{
	struct recorder first, second;

	live_jvm();
	fake.no_threads = true;
	recorder_open(&first);
	recorder_open(&second);
	fake.phase = JVMTI_PHASE_ONLOAD;
	recorder_let_in(&first, BRAID_START_ONLOAD, &exceptions);
	ck_assert_uint_ne(atomic_load(&fake.events), 0);
	ck_assert_uint_ne(fake.capabilities[0], 0);
	fake.phase = JVMTI_PHASE_LIVE;
	fake.callbacks.VMInit(&fake_env, &fake_jni, (jthread)1);
	ck_assert_uint_eq(atomic_load(&fake.events), 0);
	ck_assert_uint_eq(fake.capabilities[0], 0);
	ck_assert(!recorder_hears(&first, 0, NULL));
	fake.no_threads = false;
	attach(&second);
	recorder_stop(&second);
	recorder_close(&first);
	recorder_close(&second);
}
END_TEST

static void wait_taken(const struct recorder *r)
{
	int bytes = 0;

	do
		poll(NULL, 0, 1);
	while (!ioctl(r->fd, SIOCOUTQ, &bytes) && bytes);
}

/* Attaches to a JVM with a thread, and waits for what is older. */
static void attach_replayed(struct recorder *r)
{
	const struct braid_event_config c = {.enabled = BRAID_EVENT_TYPE(THREAD)};

	live_jvm();
	fake.thread_count = 1;
	recorder_open(r);
	recorder_let_in(r, BRAID_START_ATTACH, &c);
	ck_assert(recorder_hears(r, BRAID_MSG_CONFIGURED, NULL));
	while (!recorder_find(r, BRAID_REC_REPLAYED))
		poll(NULL, 0, 1);
}

/* A report waits for room in the ring; the command that comes meanwhile is carried out, too. */
START_TEST(a_command_comes_during_another)
{
	struct recorder r;

	attach_replayed(&r);
	for (uintptr_t method = 1; method < 10000; method++)
		compiled(method);
	recorder_command(&r, BRAID_COMMAND_DUMP);
	wait_taken(&r);
	recorder_command(&r, BRAID_COMMAND_GC);
	wait_taken(&r);
	recorder_skip(&r);
	for (int ms = 0; ms < 10000 && !fake.ti_calls[FAKE_TI(ForceGarbageCollection)]; ms++) {
		recorder_skip(&r);
		poll(NULL, 0, 1);
	}
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(ForceGarbageCollection)], 1);
	recorder_stop(&r);
	recorder_close(&r);
}
END_TEST

/* Attaches, and holds the helper in a command; returns how often threads were listed before. */
static uint32_t hold_in_command(struct recorder *r)
{
	attach_replayed(r);
	fake.held = true;
	recorder_command(r, BRAID_COMMAND_GC);
	sem_wait(&fake.holding);
	fake.held = false;
	return fake.ti_calls[FAKE_TI(GetAllThreads)];
}

/* Lets the helper go on a while after the JVM's end has begun; says how often threads were listed until then. */
static void *let_go_when_ending(void *listed)
{
	while (!atomic_load(&agent.ending))
		poll(NULL, 0, 1);
	poll(NULL, 0, 50);
	*(uint32_t *)listed = fake.ti_calls[FAKE_TI(GetAllThreads)];
	sem_post(&fake.go_on);
	return NULL;
}

/* What is reported at the end is reported by one thread at a time: the one that ends the JVM waits for the helper. */
START_TEST(the_jvm_ends_during_a_command)
{
	struct recorder r;
	pthread_t other;
	uint32_t listed = hold_in_command(&r), listed_before;

	ck_assert_int_eq(pthread_create(&other, NULL, let_go_when_ending, &listed_before), 0);
	fake.callbacks.VMDeath(&fake_env, &fake_jni);
	pthread_join(other, NULL);
	ck_assert_uint_eq(listed_before, listed);
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(GetAllThreads)], listed + 1);
	ck_assert_uint_eq(recorder_notices(&r, "the JVM ended while the agent was at work"), 0);
	recorder_close(&r);
}
END_TEST

/* It does not wait for ever, and says what is missing. */
START_TEST(the_jvm_ends_during_an_endless_command)
{
	struct recorder r;
	uint32_t listed = hold_in_command(&r);

	fake.callbacks.VMDeath(&fake_env, &fake_jni);
	ck_assert_uint_eq(fake.ti_calls[FAKE_TI(GetAllThreads)], listed);
	ck_assert_uint_eq(recorder_notices(&r, "the JVM ended while the agent was at work"), 1);
	sem_post(&fake.go_on);
	recorder_close(&r);
}
END_TEST

Suite *test_connections(void)
{
	Suite *s = suite_create("agent connections");
	TCase *t = tcase_create("connections");

	tcase_set_timeout(t, 20);
	tcase_add_test(t, ids_begin_with_a_connection);
	tcase_add_test(t, an_environment_for_each);
	tcase_add_test(t, properties_come_once);
	tcase_add_test(t, no_environment_without_a_recorder);
	tcase_add_test(t, without_jvm_ti_nothing_is_kept);
	tcase_add_test(t, an_environment_that_stays_is_used_again);
	tcase_add_test(t, an_event_of_a_former_environment_comes_late);
	tcase_add_test(t, every_class_is_counted);
	tcase_add_test(t, a_helper_ends_its_own_connection);
	tcase_add_test(t, what_a_handler_has_kept_is_ended_by_the_next_load);
	tcase_add_test(t, one_recorder_at_a_time);
	tcase_add_test(t, a_command_comes_during_another);
	tcase_add_test(t, the_jvm_ends_during_a_command);
	tcase_add_test(t, the_jvm_ends_during_an_endless_command);
	tcase_add_test(t, loaded_in_the_start_phase);
	tcase_add_test(t, without_a_thread_nothing_is_kept);
	suite_add_tcase(s, t);
	return s;
}
