// SPDX-License-Identifier: Apache-2.0
/* Tests of the names of interpreted methods whose memory could not be read at the sample. This process is the JVM. */
#include "unit/jvm_fixture.h"
#include "jvm/jvm_state.h"
#include "unit/names_layout.h"

Suite *test_interpreted(void);

enum { CONST = 0x100, POOL = 0x200, KLASS = 0x300, SYMBOL = 0x400 };

static unsigned char memory[0x500];
static uint64_t unloads;

static void put(uint32_t at, uint64_t value, size_t size)
{
	memcpy(memory + at, &value, size);
}

static uint64_t address(uint32_t at)
{
	return (uintptr_t)memory + at;
}

/* A Method at the beginning, whose class, name and signature are all "()V". */
static void begin(void)
{
	setup();
	memset(memory, 0, sizeof(memory));
	unloads = 0;
	jvm->layout = (struct braid_layout){
		.flags = BRAID_LAYOUT_NAMES,
		NAMES_LAYOUT,
	};
	jvm->names.class_unloads = (uintptr_t)&unloads;
	put(8, address(CONST), 8);
	put(CONST + 8, address(POOL), 8);
	put(CONST + 36, 1, 2);
	put(CONST + 38, 1, 2);
	put(POOL + 24, address(KLASS), 8);
	put(POOL + 72 + 8, address(SYMBOL), 8);
	put(KLASS + 24, address(SYMBOL), 8);
	put(SYMBOL + 4, 3, 2);
	memcpy(memory + SYMBOL + 6, "()V", 3);
}

static bool has_name(void)
{
	struct trace_frame f = {0};

	jvm_resolve_interpreted(jvm, address(0), 7, &f);
	ck_assert_uint_eq(f.scope_count, 1);
	return f.scopes[0].method != 0;
}

START_TEST(read_later)
{
	const struct braid_event_method unreadable = {.method = address(0)};

	jvm_method_seen(jvm, &unreadable);
	ck_assert(has_name());
	jvm_method_seen(jvm, &unreadable);
	ck_assert(has_name());
}
END_TEST

/* The memory may be another method's when a class has been unloaded, or nobody knows whether one was. */
START_TEST(not_read_when_unloaded)
{
	const struct braid_event_method unreadable = {.method = address(0)};

	unloads = 1;
	jvm_method_seen(jvm, &unreadable);
	ck_assert(!has_name());
	unloads = 0;
	jvm->names.class_unloads = 0;
	jvm_method_seen(jvm, &unreadable);
	ck_assert(!has_name());
}
END_TEST

Suite *test_interpreted(void)
{
	Suite *s = suite_create("interpreted");
	TCase *t = tcase_create("names");

	tcase_add_checked_fixture(t, begin, teardown);
	tcase_add_test(t, read_later);
	tcase_add_test(t, not_read_when_unloaded);
	suite_add_tcase(s, t);
	return s;
}
