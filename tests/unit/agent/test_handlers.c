// SPDX-License-Identifier: Apache-2.0
/* Tests of the event handlers: what each one publishes. */
#include "agent.h"
#include "fake_jvmti.h"
#include "recorder.h"
#include "core/config.h"
#include "events/handlers.h"

#include <string.h>
#include <time.h>

Suite *test_handlers(void);

static const struct braid_event_config all = {.enabled = (1U << BRAID_EVENT_TYPES) - 1,
					      .alloc_interval = 1 << 20,
					      .live_max = 8,
					      .vthread_rate = 2,
					      .exception_rate = 2};

static struct braid_event_config type(uint32_t types)
{
	struct braid_event_config c = all;

	c.enabled = types;
	return c;
}

static void begin(struct recorder *r, uint32_t types)
{
	const struct braid_event_config c = type(types);

	recorder_begin(r, &c);
}

/* Checks the record's text at *at and advances *at. */
static void text_is(const char **at, uint16_t length, const char *text)
{
	ck_assert_uint_eq(length, strlen(text));
	ck_assert_mem_eq(*at, text, length);
	*at += length;
}

/* The next JVM_EVENT record of the kind. */
static const struct braid_jvm_event *next_jvm_event(struct recorder *r, uint32_t kind)
{
	const struct braid_rec_jvm_event *d;

	while ((d = recorder_find(r, BRAID_REC_JVM_EVENT)))
		if (d->event.kind == kind)
			return &d->event;
	return NULL;
}

static void type_is(struct recorder *r, const char *name)
{
	const struct braid_rec_type *t = recorder_find(r, BRAID_REC_TYPE);
	const char *at = (const char *)(t + 1);

	ck_assert_ptr_nonnull(t);
	text_is(&at, t->name_len, name);
}

/* ---- code and methods ---- */

START_TEST(compiled_code)
{
	const struct braid_rec_code_load *l;
	const struct braid_rec_method *m;
	const struct braid_rec_lines *n;
	struct recorder r;
	const char *at;

	begin(&r, 0);
	fake.line = 42;
	fake_send_named("CompiledMethodLoad");
	m = recorder_find(&r, BRAID_REC_METHOD);
	at = (const char *)(m + 1);
	ck_assert_uint_eq(m->method, 1);
	text_is(&at, m->class_len, "LC12;");
	text_is(&at, m->name_len, "m12");
	text_is(&at, m->sig_len, "()V");
	text_is(&at, m->source_len, "C12.java");
	n = recorder_find(&r, BRAID_REC_LINES);
	ck_assert_uint_eq(n->count, 1);
	ck_assert_uint_eq(((const struct braid_line *)(const void *)(n + 1))->line, 42);
	l = recorder_find(&r, BRAID_REC_CODE_LOAD);
	ck_assert_uint_eq(l->address, (uintptr_t)fake_code);
	ck_assert_uint_eq(l->code_size, sizeof(fake_code));
	ck_assert_uint_eq(l->method, 1);
	ck_assert_uint_eq(l->doubts, BRAID_CODE_OUTER_ONLY);
	fake_send_named("CompiledMethodUnload");
	ck_assert_uint_eq(((const struct braid_rec_code_unload *)recorder_find(&r, BRAID_REC_CODE_UNLOAD))->address,
			  (uintptr_t)fake_code);
	recorder_close(&r);
}
END_TEST

/* The ids in a compiled method's load record. */
static uint32_t id_now(struct recorder *r, bool *defined)
{
	const struct braid_rec *rec;
	uint32_t id = 0;

	*defined = false;
	fake_send_named("CompiledMethodLoad");
	while ((rec = recorder_read(r)))
		if (rec->kind == BRAID_REC_METHOD)
			*defined = true;
		else if (rec->kind == BRAID_REC_CODE_LOAD)
			id = ((const struct braid_rec_code_load *)(const void *)rec)->method;
	return id;
}

/*
 * A method keeps one id until it becomes another method: by a redefinition, which its lines show, or by the end of its
 * class.
 */
START_TEST(methods_are_defined_once)
{
	struct recorder r;
	bool defined;

	begin(&r, 0);
	fake.line = 1;
	ck_assert_uint_eq(id_now(&r, &defined), 1);
	ck_assert(defined);
	ck_assert_uint_eq(id_now(&r, &defined), 1);
	ck_assert(!defined);
	fake.line = 2;
	ck_assert_uint_eq(id_now(&r, &defined), 2);
	ck_assert(defined);
	fake_send_named("ClassUnload");
	ck_assert_uint_eq(id_now(&r, &defined), 2); /* queried again, the same id */
	ck_assert(!defined);
	fake.errors[FAKE_TI(GetMethodName)] = JVMTI_ERROR_INVALID_METHODID;
	fake_send_named("ClassUnload");
	ck_assert_uint_eq(id_now(&r, &defined), 0);
	ck_assert(!defined);
	recorder_close(&r);
}
END_TEST

/* A row ends where the next one begins. Rows are in order, and impossible rows are left out. */
START_TEST(scopes_of_a_map)
{
	const jvmtiAddrLocationMap map[] = {
		{fake_code + 8, 1}, {fake_code + 4, 9}, {fake_code + 16, 2}, {(void *)((uintptr_t)fake_code + 400), 3}};
	const struct braid_scope_row *row;
	const struct braid_rec_code_scopes *s;
	const struct braid_scope *scope;
	struct recorder r;

	begin(&r, 0);
	fake_enter(FAKE_NO_JNI, 0);
	fake.callbacks.CompiledMethodLoad(&fake_env, (jmethodID)5, sizeof(fake_code), fake_code, 4, map, NULL);
	fake_leave();
	s = recorder_find(&r, BRAID_REC_CODE_SCOPES);
	ck_assert_uint_eq(s->rows, 3);
	row = (const void *)(s + 1);
	for (uint32_t i = 0; i < 3; i++) {
		scope = (const void *)(row + 1);
		ck_assert_uint_eq(row->depth, 1);
		ck_assert_uint_eq(row->pc_offset, i == 0 ? 7 : i == 1 ? 15 : sizeof(fake_code));
		ck_assert_int_eq(scope->bci, i == 0 ? -1 : (int)i);
		row = (const void *)(scope + 1);
	}
	recorder_close(&r);
}
END_TEST

START_TEST(stubs_and_binds)
{
	const struct braid_rec_named_event *e;
	const struct braid_rec_stub *s;
	struct recorder r;
	const char *at;

	begin(&r, BRAID_EVENT_TYPE(NATIVE_BIND));
	fake_send_named("DynamicCodeGenerated");
	s = recorder_find(&r, BRAID_REC_STUB);
	at = (const char *)(s + 1);
	text_is(&at, s->name_len, "stub");
	ck_assert_uint_eq(s->size, sizeof(fake_code));
	fake_send_named("NativeMethodBind");
	ck_assert_ptr_nonnull(recorder_find(&r, BRAID_REC_METHOD));
	e = recorder_find(&r, BRAID_REC_NAMED_EVENT);
	ck_assert_uint_eq(e->event, BRAID_JVM_NATIVE_BIND);
	ck_assert_uint_eq(e->method, 1);
	ck_assert_uint_eq(e->number, (uintptr_t)fake_code);
	recorder_close(&r);
}
END_TEST

/* ---- threads ---- */

START_TEST(threads)
{
	const struct braid_rec_thread_end *e;
	const struct braid_rec_thread *t;
	struct recorder r;
	const char *at;

	begin(&r, BRAID_EVENT_TYPE(THREAD));
	fake_send_named("ThreadStart");
	t = recorder_find(&r, BRAID_REC_THREAD);
	at = (const char *)(t + 1);
	text_is(&at, t->name_len, "thread-1");
	text_is(&at, t->group_len, "group-8");
	ck_assert_uint_eq(t->flags, BRAID_THREAD_DAEMON);
	ck_assert_uint_eq(t->priority, 5);
	ck_assert_uint_eq(t->thread_tid, self_tid());
	ck_assert_uint_eq(t->java_thread, 4096 + 1); /* the field's value */
	fake_send_named("ThreadEnd");
	e = recorder_find(&r, BRAID_REC_THREAD_END);
	at = (const char *)(e + 1);
	text_is(&at, e->name_len, "thread-1");
	ck_assert_uint_ge(e->cpu_ns, t->cpu_ns);
	recorder_close(&r);
}
END_TEST

/* With a rate of two a second the others are counted and published as a sum. A second may begin in between. */
START_TEST(virtual_threads_in_floods)
{
	const struct braid_rec_named_event *e;
	uint64_t reported = 0, starts = 0;
	struct recorder r;

	begin(&r, BRAID_EVENT_TYPE(VTHREAD));
	for (int i = 0; i < 50; i++)
		fake_send_named("VirtualThreadStart");
	fake_send_named("VirtualThreadEnd");
	virtual_kind.publish(&fake_jni);
	while ((e = recorder_find(&r, BRAID_REC_NAMED_EVENT))) {
		if (e->event != BRAID_JVM_VTHREAD_START)
			continue;
		reported++;
		starts += e->value;
		if (e->number) {
			ck_assert_uint_eq(e->number, 4096 + 1);
			ck_assert_uint_eq(e->name_len, 4);
			ck_assert_mem_eq(e + 1, "text", 4);
		}
	}
	ck_assert_uint_eq(starts, 50);
	ck_assert_uint_lt(reported, 10);
	recorder_close(&r);
}
END_TEST

/* ---- monitors ---- */

static void contention(struct recorder *r, bool is_virtual)
{
	const struct timespec moment = {.tv_nsec = 2000000};
	const struct braid_jvm_event *d;

	begin(r, BRAID_EVENT_TYPE(LOCK) | BRAID_EVENT_TYPE(WAIT));
	fake.virtual_threads = is_virtual;
	fake_send_named("MonitorContendedEntered"); /* it began before the recording */
	ck_assert_ptr_null(next_jvm_event(r, BRAID_JVM_LOCK));
	fake_send_named("MonitorContendedEnter");
	nanosleep(&moment, NULL);
	fake_send_named("MonitorContendedEntered");
	type_is(r, "LC11;");
	d = next_jvm_event(r, BRAID_JVM_LOCK);
	ck_assert_uint_ge(d->end_ns - d->start_ns, 2000000);
	ck_assert_uint_eq(d->number, 1011);
	fake_send_named("MonitorContendedEntered"); /* not a second time */
	ck_assert_ptr_null(next_jvm_event(r, BRAID_JVM_LOCK));

	fake_send_named("MonitorWait");
	fake_send_named("MonitorWaited");
	d = next_jvm_event(r, BRAID_JVM_WAIT);
	ck_assert_uint_eq(d->value, 20);
	ck_assert_uint_eq(d->flags, BRAID_WAIT_TIMED_OUT);
}

START_TEST(monitors)
{
	struct recorder r;

	contention(&r, false);
	recorder_close(&r);
}
END_TEST

/* From JDK 24 on the thread may continue on another OS thread. */
START_TEST(monitors_of_virtual_threads)
{
	struct recorder r;

	contention(&r, true);
	ck_assert_uint_gt(fake.jni_calls[FAKE_JNI_IS_VIRTUAL_THREAD], 0);
	recorder_close(&r);
}
END_TEST

START_TEST(short_ones_are_counted)
{
	struct braid_event_config c = type(BRAID_EVENT_TYPE(LOCK));
	const struct braid_jvm_event *d;
	struct recorder r;

	c.lock_min_ns = 3600ULL * 1000000000;
	recorder_begin(&r, &c);
	for (int i = 0; i < 7; i++) {
		fake_send_named("MonitorContendedEnter");
		fake_send_named("MonitorContendedEntered");
	}
	ck_assert_ptr_null(next_jvm_event(&r, BRAID_JVM_LOCK));
	jvm_event_publish_counted();
	d = next_jvm_event(&r, BRAID_JVM_COUNTED);
	ck_assert_uint_eq(d->value, 7);
	ck_assert_uint_eq(d->number, BRAID_JVM_LOCK);
	ck_assert_uint_gt(d->weight, 0);
	recorder_close(&r);
}
END_TEST

/* ---- objects ---- */

/* Two a second are published, all are counted. */
START_TEST(exceptions)
{
	const struct braid_jvm_event *d;
	struct recorder r;
	uint64_t thrown = 0;

	begin(&r, BRAID_EVENT_TYPE(EXCEPTION));
	for (int i = 0; i < 20; i++)
		fake_send_named("Exception");
	exceptions_kind.publish(&fake_jni);
	while ((d = next_jvm_event(&r, BRAID_JVM_EXCEPTION))) {
		ck_assert_uint_eq(d->name, 1);
		thrown += d->value;
	}
	ck_assert_uint_eq(thrown, 20);
	recorder_close(&r);
}
END_TEST

/* HotSpot sends a class's event again for each loader that finds it. */
START_TEST(classes)
{
	const struct braid_rec_class *c;
	struct recorder r;
	const char *at;

	begin(&r, BRAID_EVENT_TYPE(CLASS));
	fake_send_named("ClassLoad");
	c = recorder_find(&r, BRAID_REC_CLASS);
	at = (const char *)(c + 1);
	ck_assert_uint_eq(c->prepared, 0);
	text_is(&at, c->class_len, "LC13;");
	text_is(&at, c->loader_len, "LC7;");
	text_is(&at, c->loader_name_len, "text");
	text_is(&at, c->module_len, "");
	text_is(&at, c->source_len, "C13.java");
	fake_send_named("ClassLoad");
	ck_assert_ptr_null(recorder_find(&r, BRAID_REC_CLASS));
	fake_send_named("ClassPrepare");
	c = recorder_find(&r, BRAID_REC_CLASS);
	ck_assert_uint_eq(c->prepared, 1);
	recorder_close(&r);
}
END_TEST

/* Classes that were loaded before are known and counted. */
START_TEST(older_classes)
{
	const struct braid_rec_replayed *p;
	struct recorder r;

	fake_jvm_start();
	fake.phase = JVMTI_PHASE_LIVE;
	fake.class_count = 30;
	fake.thread_count = 4;
	recorder_open(&r);
	recorder_let_in(&r, BRAID_START_ATTACH, &all);
	ck_assert(recorder_hears(&r, BRAID_MSG_CONFIGURED, NULL));
	fake_send_named("ClassLoad");
	recorder_stop(&r);
	p = recorder_find(&r, BRAID_REC_REPLAYED);
	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(p->classes, 30);
	ck_assert_uint_eq(recorder_count(&r, BRAID_REC_CLASS), 0);
	recorder_close(&r);
}
END_TEST

START_TEST(exhaustion)
{
	const struct braid_jvm_event *d;
	struct recorder r;

	begin(&r, BRAID_EVENT_TYPE(RESOURCE));
	fake_send_named("ResourceExhausted");
	type_is(&r, "Java heap");
	d = next_jvm_event(&r, BRAID_JVM_RESOURCE);
	ck_assert_uint_eq(d->flags, JVMTI_RESOURCE_EXHAUSTED_JAVA_HEAP);
	recorder_close(&r);
}
END_TEST

/* The sum of weights is the number of bytes allocated: an object of 24 bytes is sampled once in interval / 24. */
START_TEST(allocations_weigh)
{
	const struct braid_jvm_event *d;
	struct recorder r;

	begin(&r, BRAID_EVENT_TYPE(ALLOC));
	ck_assert_int_eq(fake.interval, 1 << 20);
	for (int i = 0; i < 2; i++) {
		fake_send_named("SampledObjectAlloc");
		d = next_jvm_event(&r, BRAID_JVM_ALLOC);
		ck_assert_uint_eq(d->value, 24);
		ck_assert_uint_eq(d->number, 0);
		ck_assert(d->weight > (1 << 20) - 32 && d->weight < (1 << 20) + 32);
	}
	recorder_close(&r);
}
END_TEST

static void allocated(uintptr_t object)
{
	fake_enter(FAKE_ANYTHING, 77);
	fake.callbacks.SampledObjectAlloc(&fake_env, &fake_jni, (jthread)1, (jobject)object, (jclass)13, 24);
	fake_leave();
}

/*
 * Three of eight watched objects are collected. The first object is older than those and has survived a collection; the
 * later ones may not have seen any.
 */
START_TEST(live_objects)
{
	uint32_t found = 0, uncollected = 0, died = 0;
	const struct braid_rec_jvm_event *d;
	struct recorder r;

	begin(&r, BRAID_EVENT_TYPE(LIVE));
	for (uintptr_t i = 1; i <= 8; i++)
		allocated(i);
	ck_assert_int_eq(atomic_load(&fake.weak), 8);
	fake.gone = 1 << 2 | 1 << 3 | 1 << 4;
	live_kind.publish(&fake_jni);
	ck_assert_int_eq(atomic_load(&fake.weak), 5);
	while ((d = recorder_find(&r, BRAID_REC_JVM_EVENT))) {
		found += d->event.kind == BRAID_JVM_LIVE;
		uncollected += d->event.kind == BRAID_JVM_UNCOLLECTED;
		if (d->event.kind == BRAID_JVM_LIVE)
			ck_assert_uint_eq(d->event.number, 1);
		if (d->event.kind == BRAID_JVM_DIED) {
			died |= 1U << d->event.number;
			ck_assert_uint_eq(d->event.value, 24);
			ck_assert_uint_eq(d->event.flags, 0);
			ck_assert_uint_ge(d->event.end_ns, d->event.start_ns);
		}
	}
	ck_assert_uint_eq(died, 1 << 2 | 1 << 3 | 1 << 4);
	ck_assert_uint_eq(found, 1);
	ck_assert_uint_eq(uncollected, 4);
	for (uintptr_t i = 9; i < 40; i++) /* more than there is room for */
		allocated(i);
	ck_assert_int_le(atomic_load(&fake.weak), 8);
	live_kind.stop(&fake_jni);
	ck_assert_int_eq(atomic_load(&fake.weak), 0);
	recorder_close(&r);
}
END_TEST

/* What is found gone when there is no room is reported later; so is, at a tick, what is gone by then. */
START_TEST(deaths)
{
	const struct braid_rec_jvm_event *d;
	uint32_t died = 0;
	struct recorder r;

	begin(&r, BRAID_EVENT_TYPE(LIVE)); /* room for eight */
	for (uintptr_t i = 1; i <= 8; i++)
		allocated(i);
	fake.gone = 0xff << 1;
	allocated(9);
	recorder_skip(&r);
	ck_assert_int_eq(atomic_load(&fake.weak), 1);
	live_kind.tick(&fake_jni);
	fake.gone |= 1 << 9;
	live_kind.tick(&fake_jni);
	while ((d = recorder_find(&r, BRAID_REC_JVM_EVENT))) {
		ck_assert_uint_eq(d->event.kind, BRAID_JVM_DIED);
		ck_assert_uint_eq(died >> d->event.number & 1, 0);
		died |= 1U << d->event.number;
	}
	ck_assert_uint_eq(died, 0x1ff << 1);
	live_kind.tick(&fake_jni);
	ck_assert_ptr_null(recorder_find(&r, BRAID_REC_JVM_EVENT));
	live_kind.stop(&fake_jni);
	recorder_close(&r);
}
END_TEST

/* No memory for a weak reference: the object is not watched, and the application does not see the error. */
START_TEST(no_room_to_watch)
{
	const struct braid_jvm_event *d;
	struct recorder r;

	begin(&r, BRAID_EVENT_TYPE(LIVE));
	fake.throws[FAKE_JNI(NewWeakGlobalRef)] = true;
	allocated(1);
	d = next_jvm_event(&r, BRAID_JVM_ALLOC);
	ck_assert_uint_eq(d->number, 0);
	ck_assert_int_eq(atomic_load(&fake.weak), 0);
	fake.throws[FAKE_JNI(NewWeakGlobalRef)] = false;
	allocated(1);
	d = next_jvm_event(&r, BRAID_JVM_ALLOC);
	ck_assert_uint_ne(d->number, 0);
	recorder_close(&r);
}
END_TEST

Suite *test_handlers(void)
{
	Suite *s = suite_create("agent handlers");
	TCase *t = tcase_create("handlers");

	tcase_add_test(t, compiled_code);
	tcase_add_test(t, methods_are_defined_once);
	tcase_add_test(t, scopes_of_a_map);
	tcase_add_test(t, stubs_and_binds);
	tcase_add_test(t, threads);
	tcase_add_test(t, virtual_threads_in_floods);
	tcase_add_test(t, monitors);
	tcase_add_test(t, monitors_of_virtual_threads);
	tcase_add_test(t, short_ones_are_counted);
	tcase_add_test(t, exceptions);
	tcase_add_test(t, classes);
	tcase_add_test(t, older_classes);
	tcase_add_test(t, exhaustion);
	tcase_add_test(t, allocations_weigh);
	tcase_add_test(t, live_objects);
	tcase_add_test(t, deaths);
	tcase_add_test(t, no_room_to_watch);
	suite_add_tcase(s, t);
	return s;
}
