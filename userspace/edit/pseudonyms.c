// SPDX-License-Identifier: Apache-2.0
#include "pseudonyms.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trace/str.h>
#include <util/comm.h>

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

/* Whether it is as the pattern, in which a '%' stands for a number; `cut`: or as its beginning. */
static bool is_like(struct trace_str s, const char *pattern, bool cut)
{
	uint32_t i = 0;

	for (; i < s.len && *pattern; pattern++) {
		uint32_t from = i;

		while (*pattern == '%' && i < s.len && isdigit((unsigned char)s.str[i]))
			i++;
		if (*pattern != '%' && s.str[i] == *pattern)
			i++;
		if (i == from)
			return false;
	}
	return i == s.len && (cut || !*pattern);
}

static bool is_like_one(struct trace_str s, const char *const *patterns, size_t count, bool cut)
{
	for (size_t i = 0; i < count; i++)
		if (is_like(s, patterns[i], cut))
			return true;
	return false;
}

#define IS_LIKE_ONE(s, patterns, cut) is_like_one(s, patterns, sizeof(patterns) / sizeof((patterns)[0]), cut)

/* Where the name of a file begins in its path. */
static size_t name_begin(struct trace_str path)
{
	const char *slash = path.len ? memrchr(path.str, '/', path.len) : NULL;

	return slash ? (size_t)(slash - path.str) + 1 : 0;
}

/* A device has no directory of its own there; those that have one are named by people, and /dev/shm is everyone's. */
static bool is_device(struct trace_str path)
{
	return str_begins(path, "/dev/pts/") || (str_begins(path, "/dev/") && name_begin(path) == strlen("/dev/"));
}

static bool place_is_public(struct trace_str path)
{
	static const char *const places[] = {"/usr/lib/",  "/usr/lib64/", "/usr/libexec/", "/usr/bin/",
					     "/usr/sbin/", "/lib/",	  "/lib64/",	   "/bin/",
					     "/sbin/",	   "/proc/",	  "/sys/",	   "anon_inode:"};
	/* what has no file */
	static const char *const words[] = {"pipe",	    "socket",	  "timer",	  "futex",	 "pipe:[%]",
					    "socket:[%]",   "[kernel]",	  "[vdso]",	  "[vsyscall]",	 "[heap]",
					    "[stack]",	    "[stack:%]",  "[anon]",	  "[anonymous]", "[eventpoll]",
					    "[eventfd]",    "[timerfd]",  "[signalfd]",	  "[pidfd]",	 "[io_uring]",
					    "[perf_event]", "[fanotify]", "[userfaultfd]"};

	return !path.len || (BEGINS_ONE(path, places) && !str_begins(path, "/sys/fs/cgroup/")) || is_device(path) ||
	       IS_LIKE_ONE(path, words, false);
}

/* Whether it is one of the JDK's files, wherever that is. */
static bool is_of_jdk(struct trace_str path)
{
	static const char *const files[] = {"/java",	  "/libjvm.so", "/libjava.so",	 "/libjli.so", "/libnio.so",
					    "/libnet.so", "/libzip.so", "/libjimage.so", "/modules",   "/classes.jsa"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (str_ends(path, files[i]) &&
		    (memmem(path.str, path.len, "jdk", 3) || memmem(path.str, path.len, "jvm", 3)))
			return true;
	return false;
}

bool pseudonyms_path_is_public(struct trace_str path)
{
	return place_is_public(path) || is_of_jdk(path);
}

bool pseudonyms_comm_is_public(struct trace_str comm, struct trace_str exe)
{
	struct trace_str name = str_part(exe, name_begin(exe), exe.len);

	return !comm.len ||
	       (pseudonyms_path_is_public(exe) && comm.len <= name.len && memcmp(comm.str, name.str, comm.len) == 0);
}

/* The names of the VM's threads and thread groups, and of braid's own threads. */
static const char *const vm_threads[] = {
	"main",
	"java",
	"ArchiveWorkerThread",
	"AsyncLog Thread",
	"Attach Listener",
	"C1 CompilerThread%",
	"C2 CompilerThread%",
	"CMS Main Thread",
	"CMS Thread#%",
	"Cleaner-%",
	"Common-Cleaner",
	"Concurrent Mark-Sweep GC Thread",
	"DestroyJavaVM",
	"Finalizer",
	"ForkJoinPool-%-worker-%",
	"ForkJoinPool.commonPool-worker-%",
	"G1 Concurrent Refinement Thread#%",
	"G1 Conc#%",
	"G1 Main Concurrent Mark GC Thread",
	"G1 Main Marker",
	"G1 Refine Control",
	"G1 Refine#%",
	"G1 Refinement Workers#%",
	"G1 Service",
	"G1 Young RemSet Sampling",
	"GC Thread#%",
	"GC task thread#% (ParallelGC)",
	"Gang worker#% (G1 Parallel Marking Threads)",
	"Gang worker#% (Parallel CMS Threads)",
	"Gang worker#% (Parallel GC Threads)",
	"InnocuousThreadGroup",
	"JFR CPU Time Thread Sampler",
	"JFR Periodic Tasks",
	"JFR Recorder Thread",
	"JFR Recording Scheduler",
	"JFR Sampler Thread",
	"JFR Thread Sampler",
	"JVMCI CompilerThread%",
	"Monitor Deflation Thread",
	"Notification Thread",
	"ParGC Thread#%",
	"Read-Poller",
	"Reference Handler",
	"RuntimeWorker#%",
	"Service Thread",
	"Shenandoah Control Thread",
	"Shenandoah GC Threads#%",
	"Shenandoah Regulator Thread",
	"Shenandoah Uncommit Thread",
	"Signal Dispatcher",
	"StringDedupProcessor",
	"StringDedupThread",
	"Surrogate Locker Thread (Concurrent GC)",
	"Sweeper thread",
	"VM Periodic Task Thread",
	"VM Thread",
	"VirtualThread-unblocker",
	"VirtualThread-unparker",
	"Write-Poller",
	"XDirector",
	"XDriver",
	"XStat",
	"XUncommitter",
	"XUnmapper",
	"XWorker#%",
	"ZDirector",
	"ZDriver",
	"ZDriverMajor",
	"ZDriverMinor",
	"ZStat",
	"ZUncommitter",
	"ZUncommitter#%",
	"ZUnmapper",
	"ZWorker#%",
	"ZWorkerOld#%",
	"ZWorkerYoung#%",
	"braid",
	"braid agent",
	"braid-attach",
	"braid-lines",
	"braid-page",
	"braid-serve",
	"process reaper",
	"process reaper (pid %)",
	"system",
};

static bool thread_is_public(struct trace_str name)
{
	return !name.len || IS_LIKE_ONE(name, vm_threads, name.len == COMM_BYTES);
}

/* A tracepoint, a probe of HotSpot, a counter: words of the kernel and of the VM. Tracepoints can be made, too. */
static bool event_is_public(struct trace_str event)
{
	static const char *const made[] = {"probe", "uprobes", "kprobes", "sdt_", "synthetic", "user_events"};
	static const char marks[] = {'_', '-', '.', ':'};
	unsigned colons = 0;

	for (uint32_t i = 0; i < event.len; i++) {
		if (!isalnum((unsigned char)event.str[i]) && !memchr(marks, event.str[i], sizeof(marks)))
			return false;
		colons += event.str[i] == ':';
	}
	return colons <= 1 && !BEGINS_ONE(event, made);
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
	/* what the recorder says of classes without a row of their own */
	static const char *const rows[] = {"[other classes]", "[classes loaded meanwhile]"};
	uint32_t length = s.len;

	if (IS_LIKE_ONE(s, rows, false))
		return add(p, s.str, s.len);
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

	if (place_is_public(s))
		return add(p, s.str, s.len);
	if (is_of_jdk(s))
		return followed(p, numbered(p, PSEUDONYM_PATH, s.str, name_begin(s) - 1, "/file", ""), "/",
				s.str + name_begin(s), s.len - name_begin(s));
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

static struct trace_str event(struct pseudonyms *p, struct trace_str s)
{
	return event_is_public(s) ? add(p, s.str, s.len) : numbered(p, PSEUDONYM_EVENT, s.str, s.len, "event", "");
}

/* Where a text begins in another, or where that ends. */
static size_t find(struct trace_str s, const char *text)
{
	const char *at = memmem(s.str, s.len, text, strlen(text));

	return at ? (size_t)(at - s.str) : s.len;
}

static struct trace_str events(struct pseudonyms *p, struct trace_str s)
{
	bool any = false;
	struct text t;

	if (!text_begin(p, &t))
		return (struct trace_str){0};
	/* Where items end is known for sure only if none has a path, a filter or braces. */
	for (bool plain = !memchr(s.str, '/', s.len) && !memchr(s.str, '{', s.len); plain && s.len;) {
		struct trace_str item = str_part(s, 0, find(s, ", "));
		struct trace_str name = str_part(item, 0, find(item, "=")),
				 value = str_part(item, name.len + 1, item.len);

		if (event_is_public(name) && (name.len == item.len || is_plain(value.str, value.len))) {
			fprintf(t.out, "%s%.*s", any ? ", " : "", (int)item.len, item.str);
			any = true;
		}
		s = str_part(s, item.len + strlen(", "), s.len);
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
	case PSEUDONYM_EVENT:
		return event(p, s);
	case PSEUDONYM_EVENTS:
		return events(p, s);
	case PSEUDONYM_TEXT:
		return is_plain(s.str, s.len) ? add(p, s.str, s.len) : numbered(p, of, s.str, s.len, "text", "");
	default:
		return add(p, s.str, s.len);
	}
}

struct trace_str pseudonym_behind(struct pseudonyms *p, const char *before, enum pseudonym_of of, struct trace_str s)
{
	struct trace_str made = pseudonym(p, of, s);

	return followed(p, add(p, before, strlen(before)), "", made.str, made.len);
}

void pseudonyms_free(struct pseudonyms *p)
{
	strpool_free(&p->texts);
	strpool_free(&p->made);
	u64map_free(&p->of);
}
