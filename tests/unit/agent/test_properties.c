// SPDX-License-Identifier: Apache-2.0
/*
 * Tests of the reader of system properties. An application can replace them by a class of its own, whose methods throw,
 * return what nobody expects, and change it meanwhile.
 */
#include "fake_parts.h"
#include "recorder.h"
#include "vm/properties.h"

#include <braid/ring.h>
#include <stdarg.h>

Suite *test_properties(void);

/* Numbers of objects and methods. From STRINGS on, property N has the strings STRINGS + 2 N and the next one. */
enum { SYSTEM = 200, PROPERTIES, SET, STRING, NAMES, GET_ALL, GET, STRING_NAMES, TO_ARRAY, FOR_NAME, STRINGS };

enum trouble { NO_TROUBLE, NULL_NAME, NO_STRING, REMOVED, THROWS, NO_ELEMENT };

/* Text is in the JVM's form: characters of up to three bytes. */
static struct property {
	const char *name, *value;
	enum trouble trouble;
} properties[2 * PROPERTIES_MAX];
static jsize property_count;

static const struct property *property_of(const void *string)
{
	return &properties[((uintptr_t)string - STRINGS) / 2];
}

static const char *text_of(const void *string)
{
	const struct property *p = property_of(string);

	ck_assert_msg(p->trouble != NO_STRING && p->trouble != NULL_NAME, "the text of what is no string");
	return ((uintptr_t)string - STRINGS) % 2 ? p->value : p->name;
}

static jobject class_for_name(void)
{
	return fake_reference(strcmp(fake_string(), "java.lang.System") == 0	   ? SYSTEM
			      : strcmp(fake_string(), "java.util.Properties") == 0 ? PROPERTIES
			      : strcmp(fake_string(), "java.util.Set") == 0	   ? SET
			      : strcmp(fake_string(), "java.lang.String") == 0	   ? STRING
										   : 0);
}

static jmethodID JNICALL get_static_method(JNIEnv *jni, jclass class, const char *name, const char *signature)
{
	JNI(GetStaticMethodID, NULL);
	(void)class;
	(void)signature;
	return (jmethodID)(uintptr_t)(strcmp(name, "forName") == 0 ? FOR_NAME : GET_ALL);
}

static jmethodID JNICALL get_method(JNIEnv *jni, jclass class, const char *name, const char *signature)
{
	JNI(GetMethodID, NULL);
	(void)class;
	(void)signature;
	return (jmethodID)(uintptr_t)(strcmp(name, "getProperty") == 0		 ? GET
				      : strcmp(name, "stringPropertyNames") == 0 ? STRING_NAMES
										 : TO_ARRAY);
}

static jobject JNICALL call_static(JNIEnv *jni, jclass class, jmethodID method, ...)
{
	JNI(CallStaticObjectMethod, NULL);
	(void)class;
	if ((uintptr_t)method == FOR_NAME)
		return class_for_name();
	ck_assert_uint_eq((uintptr_t)method, GET_ALL);
	return fake_reference(PROPERTIES);
}

static jobject get_property(const char *name)
{
	const struct property *p = property_of(name);

	if (p->trouble == THROWS)
		fake_pending = FAKE_OUT_OF_MEMORY;
	return p->trouble == THROWS || p->trouble == REMOVED ? NULL : fake_reference((uintptr_t)name + 1);
}

static jobject JNICALL call_object(JNIEnv *jni, jobject object, jmethodID method, ...)
{
	const char *name;
	va_list arguments;

	JNI(CallObjectMethod, NULL);
	(void)object;
	if ((uintptr_t)method != GET)
		return fake_reference((uintptr_t)method == TO_ARRAY ? NAMES : SET);
	va_start(arguments, method);
	name = va_arg(arguments, const char *);
	va_end(arguments);
	return get_property(name);
}

static jsize JNICALL array_length(JNIEnv *jni, jarray array)
{
	JNI(GetArrayLength, 0);
	ck_assert_uint_eq((uintptr_t)array, NAMES);
	return property_count;
}

static jobject JNICALL array_element(JNIEnv *jni, jobjectArray array, jsize at)
{
	JNI(GetObjectArrayElement, NULL);
	(void)array;
	ck_assert(at >= 0 && at < property_count);
	if (properties[at].trouble == NO_ELEMENT)
		fake_pending = FAKE_OUT_OF_MEMORY;
	if (properties[at].trouble == NO_ELEMENT || properties[at].trouble == NULL_NAME)
		return NULL;
	return fake_reference(STRINGS + 2 * (uintptr_t)at);
}

static jboolean JNICALL is_instance(JNIEnv *jni, jobject object, jclass class)
{
	JNI(IsInstanceOf, JNI_FALSE);
	ck_assert_uint_eq((uintptr_t) class, STRING);
	return property_of(object)->trouble != NO_STRING;
}

static bool is_first_byte(char c)
{
	return ((uint8_t)c & 0xc0) != 0x80;
}

static jsize JNICALL string_length(JNIEnv *jni, jstring string)
{
	jsize length = 0;

	JNI(GetStringLength, 0);
	for (const char *at = text_of(string); *at; at++)
		length += is_first_byte(*at);
	return length;
}

/* Without a zero behind it, as some JVMs do it. */
static void JNICALL string_region(JNIEnv *jni, jstring string, jsize start, jsize length, char *to)
{
	jsize at = -1;

	JNI(GetStringUTFRegion, );
	for (const char *from = text_of(string); *from; from++) {
		at += is_first_byte(*from);
		if (at >= start && at < start + length)
			*to++ = *from;
	}
}

/* ---- the reader ---- */

static struct {
	char name[BRAID_STR_MAX + 1], value[BRAID_STR_MAX + 1];
	bool cut;
} seen[8];
static uint32_t seen_count;

static void see(const char *name, const char *value, bool cut)
{
	if (seen_count < 8) {
		strcpy(seen[seen_count].name, name);
		strcpy(seen[seen_count].value, value);
		seen[seen_count].cut = cut;
	}
	seen_count++;
}

static void saw(uint32_t at, const char *name, const char *value)
{
	ck_assert_uint_lt(at, seen_count);
	ck_assert_str_eq(seen[at].name, name);
	ck_assert_str_eq(seen[at].value, value);
	ck_assert(!seen[at].cut);
}

static void begin(const struct property *of, jsize count)
{
	static const struct braid_event_config config = {.enabled = BRAID_EVENT_TYPE(CPU)};
	static struct recorder r;
	static union {
		struct JNINativeInterface_ table;
		void (*slots[FAKE_JNI_SLOTS])(void);
	} functions;

	recorder_begin(&r, &config);
	recorder_close(&r);
	memcpy(&functions, fake_jni_table(), sizeof(functions));
	functions.table.GetStaticMethodID = get_static_method;
	functions.table.GetMethodID = get_method;
	functions.table.CallStaticObjectMethod = call_static;
	functions.table.CallObjectMethod = call_object;
	functions.table.GetArrayLength = array_length;
	functions.table.GetObjectArrayElement = array_element;
	functions.table.IsInstanceOf = is_instance;
	functions.table.GetStringLength = string_length;
	functions.table.GetStringUTFRegion = string_region;
	fake_jni_set(&functions.table);
	memcpy(properties, of, (size_t)count * sizeof(*of));
	property_count = count;
}

static uint32_t read_all(void)
{
	uint32_t left_out;

	seen_count = 0;
	fake_enter(FAKE_ANYTHING, 0);
	left_out = properties_each(&fake_jni, see);
	fake_leave();
	return left_out;
}

/* A character that takes three bytes, so often; the zero of the JVM's form takes two, and none ends the text. */
#define THREE "\xe2\x82\xac"
static char many[3 * BRAID_STR_MAX + 1];

static void fill_many(void)
{
	for (size_t i = 0; i < BRAID_STR_MAX; i++)
		memcpy(many + 3 * i, THREE, 3);
}

START_TEST(what_is_no_text_is_left_out)
{
	const struct property hostile[] = {
		{"a", "1", NO_TROUBLE}, {"b", "2", NULL_NAME},
		{"c", "3", NO_STRING},	{"d", "4", REMOVED},
		{"e", "5", THROWS},	{"f", "6", NO_ELEMENT},
		{"", "", NO_TROUBLE},	{"g\nh=i", "\x1b[2J\xc0\x80z", NO_TROUBLE},
	};

	begin(hostile, 8);
	ck_assert_uint_eq(read_all(), 0);
	ck_assert_uint_eq(seen_count, 3);
	saw(0, "a", "1");
	saw(1, "", "");
	saw(2, "g\nh=i", "\x1b[2J\xc0\x80z");
}
END_TEST

/* Neither is cut inside of a character. */
START_TEST(long_text_is_cut)
{
	const struct property hostile[] = {{many, "1", NO_TROUBLE}, {"a", many, NO_TROUBLE}, {"b", "2", NO_TROUBLE}};

	fill_many();
	begin(hostile, 3);
	ck_assert_uint_eq(read_all(), 0);
	ck_assert_uint_eq(seen_count, 3);
	ck_assert(seen[0].cut && seen[1].cut);
	ck_assert_uint_eq(strlen(seen[0].name), BRAID_STR_MAX / 3 * 3);
	ck_assert_uint_eq(strlen(seen[1].value), BRAID_STR_MAX / 3 * 3);
	ck_assert_mem_eq(seen[1].value, many, BRAID_STR_MAX / 3 * 3);
	saw(2, "b", "2");
}
END_TEST

START_TEST(there_may_be_too_many)
{
	static struct property hostile[PROPERTIES_MAX + 7];

	for (uint32_t i = 0; i < PROPERTIES_MAX + 7; i++)
		hostile[i] = (struct property){"a", "1", NO_TROUBLE};
	begin(hostile, PROPERTIES_MAX + 7);
	ck_assert_uint_eq(read_all(), 7);
	ck_assert_uint_eq(seen_count, PROPERTIES_MAX);
}
END_TEST

/* Then the properties are those that the VM began with. */
START_TEST(java_may_not_answer)
{
	static const size_t slots[] = {
		FAKE_JNI(NewStringUTF),	    FAKE_JNI(GetStaticMethodID),      FAKE_JNI(GetMethodID),
		FAKE_JNI(CallObjectMethod), FAKE_JNI(CallStaticObjectMethod), FAKE_JNI(PushLocalFrame)};
	const struct property one[] = {{"a", "1", NO_TROUBLE}};

	begin(one, 1);
	fake.throws[slots[_i]] = true;
	ck_assert_uint_eq(read_all(), 0);
	ck_assert_uint_eq(seen_count, 1);
	saw(0, "java.vm.name", "a JVM that is none");
	fake.throws[slots[_i]] = false;
	ck_assert_uint_eq(read_all(), 0);
	ck_assert_uint_eq(seen_count, 1);
	saw(0, "a", "1");
}
END_TEST

Suite *test_properties(void)
{
	Suite *s = suite_create("properties");
	TCase *t = tcase_create("properties");

	tcase_add_test(t, what_is_no_text_is_left_out);
	tcase_add_test(t, long_text_is_cut);
	tcase_add_test(t, there_may_be_too_many);
	tcase_add_loop_test(t, java_may_not_answer, 0, 6);
	suite_add_tcase(s, t);
	return s;
}
