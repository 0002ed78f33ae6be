// SPDX-License-Identifier: Apache-2.0
#include "pseudonyms.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trace/str.h>

/* ---- what is public ---- */

static bool begins_one(struct trace_str s, const char *const *with, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_begins(s, with[i]))
			return true;
	return false;
}

#define BEGINS_ONE(s, with) begins_one(s, with, sizeof(with) / sizeof((with)[0]))

bool pseudonyms_class_is_public(const struct pseudonyms *p, struct trace_str name)
{
	static const char *const packages[] = {"java.",	   "javax.",   "jdk.",
					       "sun.",	   "com.sun.", "org.ietf.",
					       "org.w3c.", "org.xml.", "netscape.javascript."};
	static const char *const primitive[] = {"boolean", "byte", "char",  "double", "float",
						"int",	   "long", "short", "void"};

	for (size_t i = 0; i < sizeof(primitive) / sizeof(primitive[0]); i++)
		if (str_equals(name, primitive[i]))
			return true;
	return !name.len || BEGINS_ONE(name, packages) || begins_one(name, p->keep, p->keep_count);
}

bool pseudonyms_path_is_public(struct trace_str path)
{
	static const char *const places[] = {"[",	   "/usr/lib/", "/usr/lib64/", "/usr/libexec/", "/usr/bin/",
					     "/usr/sbin/", "/lib/",	"/lib64/",     "/bin/",		"/sbin/",
					     "/proc/",	   "/sys/",	"/dev/",       "anon_inode",	"pipe",
					     "socket",	   "futex",	"timer"};
	static const char *const files[] = {"/java",	  "/libjvm.so", "/libjava.so",	 "/libjli.so", "/libnio.so",
					    "/libnet.so", "/libzip.so", "/libjimage.so", "/modules",   "/classes.jsa"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (str_ends(path, files[i]) &&
		    (memmem(path.str, path.len, "jdk", 3) || memmem(path.str, path.len, "jvm", 3)))
			return true;
	return !path.len || BEGINS_ONE(path, places);
}

static bool thread_is_public(struct trace_str name)
{
	static const char *const vm[] = {"main",
					 "java",
					 "GC Thread",
					 "G1 ",
					 "C1 Compiler",
					 "C2 Compiler",
					 "VM Thread",
					 "VM Periodic",
					 "Reference Hand",
					 "Finalizer",
					 "Signal Disp",
					 "Common-Clean",
					 "Notification",
					 "ForkJoinPool",
					 "Attach Listen",
					 "Service Thread",
					 "Monitor Defl",
					 "Sweeper",
					 "Z",
					 "Shenandoah",
					 "ParGC",
					 "CMS",
					 "DestroyJavaVM",
					 "DestroyJavaVM",
					 "Unsafe",
					 "process reaper",
					 "braid"};

	return !name.len || BEGINS_ONE(name, vm);
}

/* ---- the table ---- */

static struct trace_str text_of(const struct pseudonyms *p, uint32_t id)
{
	return str_of(strpool_get(&p->made, id));
}

static uint32_t add_id(struct pseudonyms *p, const char *text, size_t length)
{
	uint32_t id = strpool_add(&p->made, text, length);

	p->failed = p->failed || id == STRPOOL_FAILED;
	return id == STRPOOL_FAILED ? 0 : id;
}

static struct trace_str add(struct pseudonyms *p, const char *text, size_t length)
{
	return text_of(p, add_id(p, text, length));
}

/* The numbered name of a text, with a prefix and a suffix that its kind has. */
static struct trace_str numbered(struct pseudonyms *p, enum pseudonym_of of, const char *s, size_t length,
				 const char *prefix, const char *suffix)
{
	uint32_t text = strpool_add(&p->texts, s, length);
	uint32_t *at = text == STRPOOL_FAILED ? NULL : u64map_put(&p->of, (uint64_t)of << 32 | text);
	char name[64];

	if (!at) {
		p->failed = true;
		return (struct trace_str){0};
	}
	if (*at)
		return text_of(p, *at - 1);
	snprintf(name, sizeof(name), "%s%u%s", prefix, ++p->next[of], suffix);
	*at = add_id(p, name, strlen(name)) + 1;
	return text_of(p, *at - 1);
}

/* ---- kinds of names ---- */

static struct trace_str class_plain(struct pseudonyms *p, const char *s, size_t length)
{
	const struct trace_str name = {s, (uint32_t)length};

	return pseudonyms_class_is_public(p, name) ? add(p, s, length)
						   : numbered(p, PSEUDONYM_CLASS, s, length, "Class", "");
}

/* A piece of text that is being put together. */
struct text {
	FILE *out;
	char *at;
	size_t size;
};

static bool text_begin(struct pseudonyms *p, struct text *t)
{
	*t = (struct text){0};
	t->out = open_memstream(&t->at, &t->size);
	p->failed = p->failed || !t->out;
	return t->out != NULL;
}

static struct trace_str text_end(struct pseudonyms *p, struct text *t)
{
	struct trace_str made = {0};

	if (fclose(t->out))
		p->failed = true;
	else
		made = add(p, t->at, t->size);
	free(t->at);
	return made;
}

/* A pseudonym with what stays behind it. */
static struct trace_str followed(struct pseudonyms *p, struct trace_str made, const char *between, const char *rest,
				 size_t length)
{
	struct text t;

	if (!length || !text_begin(p, &t))
		return made;
	fprintf(t.out, "%.*s%s%.*s", (int)made.len, made.str, between, (int)length, rest);
	return text_end(p, &t);
}

/* A class inside of a descriptor, whose parts are separated by slashes. */
static void put_slashed(struct pseudonyms *p, FILE *out, const char *s, size_t length)
{
	char *dotted = strndup(s, length);
	struct trace_str made = {0};

	if (!dotted) {
		p->failed = true;
		return;
	}
	for (char *c = dotted; *c; c++)
		*c = *c == '/' ? '.' : *c;
	made = class_plain(p, dotted, strlen(dotted));
	for (uint32_t i = 0; i < made.len; i++)
		putc(made.str[i] == '.' ? '/' : made.str[i], out);
	free(dotted);
}

static struct trace_str types(struct pseudonyms *p, struct trace_str s)
{
	struct text t;

	if (!text_begin(p, &t))
		return (struct trace_str){0};
	for (uint32_t i = 0; i < s.len; i++) {
		const char *end;

		/* what is no descriptor has no meaning that could be kept */
		putc(strchr("()[;BCDFIJLSVZ", s.str[i]) ? s.str[i] : '?', t.out);
		if (s.str[i] != 'L')
			continue;
		end = memchr(s.str + i, ';', s.len - i);
		if (!end)
			end = s.str + s.len;
		put_slashed(p, t.out, s.str + i + 1, (size_t)(end - s.str) - i - 1);
		i = (uint32_t)(end - s.str) - 1;
	}
	return text_end(p, &t);
}

/* "com.acme.Order", "com.acme.Order[][]", "[Lcom.acme.Order;": what is around the class stays. */
static struct trace_str class_name(struct pseudonyms *p, struct trace_str s)
{
	uint32_t length = s.len;

	if (s.len && s.str[0] == '[')
		return types(p, s);
	while (length > 1 && s.str[length - 1] == ']' && s.str[length - 2] == '[')
		length -= 2;
	return followed(p, class_plain(p, s.str, length), "", s.str + length, s.len - length);
}

static struct trace_str member(struct pseudonyms *p, struct trace_str s)
{
	return s.len && s.str[0] == '<' ? add(p, s.str, s.len)
					: numbered(p, PSEUDONYM_MEMBER, s.str, s.len, "method", "");
}

static struct trace_str method(struct pseudonyms *p, struct trace_str s)
{
	const char *end = memchr(s.str, '(', s.len), *dot;
	uint32_t length = end ? (uint32_t)(end - s.str) : s.len;
	struct trace_str made, part;

	dot = memrchr(s.str, '.', length);
	if (!dot)
		return numbered(p, PSEUDONYM_METHOD, s.str, s.len, "method", "");
	if (pseudonyms_class_is_public(p, str_part(s, 0, (size_t)(dot - s.str))))
		return add(p, s.str, s.len);
	made = class_plain(p, s.str, (size_t)(dot - s.str));
	part = member(p, (struct trace_str){dot + 1, (uint32_t)(s.str + length - dot - 1)});
	made = followed(p, made, ".", part.str, part.len);
	if (!end)
		return made;
	part = types(p, (struct trace_str){end, s.len - length});
	return followed(p, made, "", part.str, part.len);
}

static struct trace_str thread(struct pseudonyms *p, struct trace_str s)
{
	uint32_t stem = s.len;

	if (thread_is_public(s))
		return add(p, s.str, s.len);
	while (stem && isdigit((unsigned char)s.str[stem - 1]))
		stem--;
	return followed(p, numbered(p, PSEUDONYM_THREAD, s.str, stem, "thread", ""), "-", s.str + stem, s.len - stem);
}

static struct trace_str path(struct pseudonyms *p, struct trace_str s)
{
	static const char *const known[] = {".so", ".jar", ".class", ".jsa"};
	const char *suffix = "";

	if (pseudonyms_path_is_public(s))
		return add(p, s.str, s.len);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (memmem(s.str, s.len, known[i], strlen(known[i])))
			suffix = known[i];
	return numbered(p, PSEUDONYM_PATH, s.str, s.len, "/file", suffix);
}

/* Numbers, sizes and truth values. */
static bool is_plain(const char *s, size_t length)
{
	size_t digits = 0;

	if ((length == 4 && memcmp(s, "true", 4) == 0) || (length == 5 && memcmp(s, "false", 5) == 0))
		return true;
	while (digits < length && (isdigit((unsigned char)s[digits]) || s[digits] == '.' || s[digits] == '-'))
		digits++;
	return digits && length - digits <= 2;
}

static struct trace_str choices(struct pseudonyms *p, struct trace_str s)
{
	bool any = false;
	struct text t;

	if (!text_begin(p, &t))
		return (struct trace_str){0};
	for (uint32_t i = 0, n; i < s.len; i += n + 1) {
		const char *item = s.str + i, *value;

		for (n = 0; i + n < s.len && item[n] != ',';)
			n++;
		value = memchr(item, '=', n);
		if (value ? is_plain(value + 1, n - (size_t)(value + 1 - item)) : !memchr(item, ':', n)) {
			fprintf(t.out, "%s%.*s", any ? "," : "", (int)n, item);
			any = true;
		}
	}
	return text_end(p, &t);
}

struct trace_str pseudonym(struct pseudonyms *p, enum pseudonym_of of, struct trace_str s)
{
	if (!s.len)
		return s;
	switch (of) {
	case PSEUDONYM_CLASS:
		return class_name(p, s);
	case PSEUDONYM_METHOD:
		return method(p, s);
	case PSEUDONYM_MEMBER:
		return member(p, s);
	case PSEUDONYM_TYPES:
		return types(p, s);
	case PSEUDONYM_SOURCE:
		return numbered(p, of, s.str, s.len, "Source", ".java");
	case PSEUDONYM_THREAD:
		return thread(p, s);
	case PSEUDONYM_PATH:
		return path(p, s);
	case PSEUDONYM_FUNCTION:
		return numbered(p, of, s.str, s.len, "function", "");
	case PSEUDONYM_CHOICES:
		return choices(p, s);
	case PSEUDONYM_TEXT:
		return is_plain(s.str, s.len) ? add(p, s.str, s.len) : numbered(p, of, s.str, s.len, "text", "");
	default:
		return add(p, s.str, s.len);
	}
}

void pseudonyms_free(struct pseudonyms *p)
{
	strpool_free(&p->texts);
	strpool_free(&p->made);
	u64map_free(&p->of);
}
