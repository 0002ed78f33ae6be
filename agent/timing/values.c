// SPDX-License-Identifier: Apache-2.0
#include "values.h"

#include "core/jni.h"
#include "core/state.h"
#include "events/handlers.h"
#include "patterns.h"
#include "timed.h"

#include <inttypes.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX 1024
#define STRING_UNITS 64 /* of UTF-16, of one string */

static _Atomic uint64_t last_number;

struct out {
	char text[TEXT_MAX];
	size_t used;
};

/* What does not fit as a whole is left out. */
static void __attribute__((format(printf, 2, 3))) add(struct out *o, const char *format, ...)
{
	size_t room = sizeof(o->text) - o->used;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(o->text + o->used, room, format, args);
	va_end(args);
	if (length > 0 && (size_t)length < room)
		o->used += (size_t)length;
	o->text[o->used] = '\0';
}

/* ---- objects ---- */

static bool is_surrogate(uint32_t c, uint32_t first)
{
	return c >= first && c < first + 0x400;
}

static void add_utf8(struct out *o, uint32_t c)
{
	if (c < 0x80)
		add(o, "%c", (char)c);
	else if (c < 0x800)
		add(o, "%c%c", (char)(0xc0 | c >> 6), (char)(0x80 | (c & 0x3f)));
	else if (c < 0x10000)
		add(o, "%c%c%c", (char)(0xe0 | c >> 12), (char)(0x80 | (c >> 6 & 0x3f)), (char)(0x80 | (c & 0x3f)));
	else
		add(o, "%c%c%c%c", (char)(0xf0 | c >> 18), (char)(0x80 | (c >> 12 & 0x3f)),
		    (char)(0x80 | (c >> 6 & 0x3f)), (char)(0x80 | (c & 0x3f)));
}

/* C0 and C1 controls are escaped, and what is no character. */
static void add_character(struct out *o, uint32_t c)
{
	static const char short_ones[] = "\nn\tt\rr\"\"\\\\";
	const char *at = short_ones;

	while (*at && (uint8_t)*at != c)
		at += 2;
	if (c && *at)
		add(o, "\\%c", at[1]);
	else if (c < 0x20 || (c >= 0x7f && c < 0xa0) || is_surrogate(c, 0xd800) || is_surrogate(c, 0xdc00))
		add(o, "\\u%04x", c);
	else
		add_utf8(o, c);
}

static void add_string(JNIEnv *jni, struct out *o, jstring string)
{
	jsize length = (*jni)->GetStringLength(jni, string), taken = length < STRING_UNITS ? length : STRING_UNITS;
	jchar units[STRING_UNITS];

	(*jni)->GetStringRegion(jni, string, 0, taken, units);
	add(o, "\"");
	for (jsize i = 0; i < taken; i++) {
		uint32_t c = units[i];

		if (is_surrogate(c, 0xd800) && i + 1 < taken && is_surrogate(units[i + 1], 0xdc00))
			c = 0x10000 + ((c - 0xd800) << 10) + (units[++i] - 0xdc00U);
		add_character(o, c);
	}
	add(o, taken < length ? "\"..." : "\"");
}

/* With as many digits as it needs. A dot is one in any locale. */
static void add_double(struct out *o, double number, bool is_float)
{
	locale_t plain = newlocale(LC_ALL_MASK, "C", NULL), before = plain ? uselocale(plain) : NULL;
	char text[32];

	for (int digits = 6; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, number);
		if (is_float ? strtof(text, NULL) == (float)number : strtod(text, NULL) == number)
			break;
	}
	if (before)
		uselocale(before);
	if (plain)
		freelocale(plain);
	add(o, "%s", text);
}

/* The value of a boxed one; false: it is another object. */
static bool add_boxed(JNIEnv *jni, struct out *o, jobject object, jclass class, const char *signature)
{
	static const struct {
		const char *class, *type;
	} boxes[] = {{"Integer", "I"}, {"Long", "J"},  {"Boolean", "Z"}, {"Double", "D"},
		     {"Float", "F"},   {"Short", "S"}, {"Byte", "B"},	 {"Character", "C"}};
	const char *name = strncmp(signature, "Ljava/lang/", 11) == 0 ? signature + 11 : "";
	size_t i = 0, count = sizeof(boxes) / sizeof(boxes[0]);
	jfieldID field;

	while (i < count && (strncmp(name, boxes[i].class, strlen(boxes[i].class)) != 0 ||
			     strcmp(name + strlen(boxes[i].class), ";") != 0))
		i++;
	if (i == count)
		return false;
	field = (*jni)->GetFieldID(jni, class, "value", boxes[i].type);
	if (jni_failed(jni))
		return false;
	switch (*boxes[i].type) {
	case 'J':
		add(o, "%" PRId64, (int64_t)(*jni)->GetLongField(jni, object, field));
		break;
	case 'D':
		add_double(o, (*jni)->GetDoubleField(jni, object, field), false);
		break;
	case 'F':
		add_double(o, (double)(*jni)->GetFloatField(jni, object, field), true);
		break;
	case 'Z':
		add(o, "%s", (*jni)->GetBooleanField(jni, object, field) ? "true" : "false");
		break;
	case 'C':
		add(o, "'");
		add_character(o, (*jni)->GetCharField(jni, object, field));
		add(o, "'");
		break;
	case 'S':
		add(o, "%d", (int)(*jni)->GetShortField(jni, object, field));
		break;
	case 'B':
		add(o, "%d", (int)(*jni)->GetByteField(jni, object, field));
		break;
	default:
		add(o, "%d", (int)(*jni)->GetIntField(jni, object, field));
	}
	return true;
}

/* "com.example.Order@1f2e", "int[10]", "java.lang.String[2][]": an array has the length of its outermost dimension. */
static void add_other(JNIEnv *jni, struct out *o, jobject object, const char *signature)
{
	static const char *const primitives[] = {"Bbyte", "Cchar", "Ddouble", "Ffloat",
						 "Iint",  "Jlong", "Sshort",  "Zboolean"};
	const char *element = signature + strspn(signature, "["), *name = element + (*element == 'L');
	size_t length = strlen(name) - (*element == 'L');

	for (size_t i = 0; i < sizeof(primitives) / sizeof(primitives[0]); i++)
		if (*element == *primitives[i]) {
			name = primitives[i] + 1;
			length = strlen(name);
		}
	for (size_t i = 0; i < length && i < BRAID_STR_MAX; i++)
		add(o, "%c", name[i] == '/' ? '.' : name[i]);
	if (*signature == '[')
		add(o, "[%d]", (int)(*jni)->GetArrayLength(jni, object));
	else
		add(o, "@%x", hash_code(object));
	for (const char *at = signature + 1; at < element; at++)
		add(o, "[]");
}

static void add_object(JNIEnv *jni, struct out *o, jobject object, bool length)
{
	jclass class;
	char *signature;

	if (!object) {
		add(o, "null");
		return;
	}
	class = (*jni)->GetObjectClass(jni, object);
	if ((*agent.jvmti)->GetClassSignature(agent.jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE)
		signature = NULL;
	if (!signature)
		add(o, "?");
	else if (length && *signature == '[')
		add(o, "%d", (int)(*jni)->GetArrayLength(jni, object));
	else if (length && strcmp(signature, "Ljava/lang/String;") == 0)
		add(o, "%d", (int)(*jni)->GetStringLength(jni, object));
	else if (strcmp(signature, "Ljava/lang/String;") == 0)
		add_string(jni, o, object);
	else if (!add_boxed(jni, o, object, class, signature))
		add_other(jni, o, object, signature);
	agent_release(signature);
	(*jni)->DeleteLocalRef(jni, class);
}

/* ---- numbers ---- */

static void add_number(struct out *o, enum rewrite_kind kind, jlong number)
{
	double d;

	switch (kind) {
	case REWRITE_BOOLEAN:
		add(o, "%s", number ? "true" : "false");
		return;
	case REWRITE_CHAR:
		add(o, "'");
		add_character(o, (uint16_t)number);
		add(o, "'");
		return;
	case REWRITE_FLOAT:
	case REWRITE_DOUBLE:
		memcpy(&d, &number, sizeof(d));
		add_double(o, d, kind == REWRITE_FLOAT);
		return;
	default:
		add(o, "%" PRId64, (int64_t)number);
	}
}

/* ---- the call ---- */

static bool is_length(struct text one)
{
	return one.at[one.size - 1] == ')';
}

/* Those that the method does not have are left out. */
static void add_values(JNIEnv *jni, struct out *o, const struct java_call *call)
{
	char values[BRAID_METHOD_WORDS + 1];
	uint32_t objects = 0, numbers = 0;
	struct text rest, one;

	timed_values(call->id, values);
	rest = (struct text){values, strlen(values)};
	for (uint32_t i = 0; i < REWRITE_VALUES && patterns_value(&rest, &one); i++) {
		enum rewrite_kind kind = call->kinds >> REWRITE_KIND_BITS * i & ((1U << REWRITE_KIND_BITS) - 1);

		if (!kind)
			continue;
		add(o, "%s%.*s=", o->used ? ", " : "", (int)one.size, one.at);
		if (kind == REWRITE_OBJECT)
			add_object(jni, o, call->objects[objects++], is_length(one));
		else
			add_number(o, kind, call->numbers[numbers++]);
	}
}

static char *class_signature(JNIEnv *jni, jobject object)
{
	jclass class = (*jni)->GetObjectClass(jni, object);
	char *signature;

	if ((*agent.jvmti)->GetClassSignature(agent.jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE)
		signature = NULL;
	(*jni)->DeleteLocalRef(jni, class);
	return signature;
}

/* The record of a call or a write; 0: no room. */
static uint64_t publish(const char *exception, const struct out *o)
{
	struct braid_rec_call r = {.number = 0};

	record_init(&r.hdr, BRAID_REC_CALL, 0);
	r.number = atomic_fetch_add(&last_number, 1) + 1;
	r.exception_len = string_cut(exception, &r.hdr.flags);
	r.values_len = (uint16_t)o->used;
	return publish_event((struct iovec[]){PART(&r, sizeof(r)), PART(exception, r.exception_len),
					      PART(o->text, r.values_len)},
			     3)
		       ? r.number
		       : 0;
}

uint64_t values_publish(JNIEnv *jni, const struct java_call *call)
{
	struct out o = {.used = 0};
	char *exception = NULL;
	uint64_t number = 0;

	if (call->kinds)
		add_values(jni, &o, call);
	if (call->by)
		exception = class_signature(jni, call->by);
	if (o.used || exception)
		number = publish(exception, &o);
	agent_release(exception);
	return number;
}

/* ---- the write ---- */

static void add_field(JNIEnv *jni, struct out *o, const char *what, enum rewrite_kind kind, jobject object,
		      jlong number)
{
	add(o, "%s%s=", o->used ? ", " : "", what);
	if (kind == REWRITE_OBJECT)
		add_object(jni, o, object, false);
	else
		add_number(o, kind, number);
}

uint64_t values_publish_write(JNIEnv *jni, const struct java_write *write)
{
	enum rewrite_kind kind = rewrite_kind_of(timed_type(write->id));
	struct braid_method_pattern p = {0};
	struct rewrite_write asked = {0};
	char values[BRAID_METHOD_WORDS + 1];
	struct out o = {.used = 0};

	timed_values(write->id, values);
	memcpy(p.values, values, sizeof(p.values));
	patterns_write_values(&p, &asked);
	if (write->values > 1 && asked.before)
		add_field(jni, &o, "old", kind, write->before, write->before_number);
	if (write->values && asked.now)
		add_field(jni, &o, "new", kind, write->now, write->now_number);
	return o.used ? publish(NULL, &o) : 0;
}
