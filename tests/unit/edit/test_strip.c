// SPDX-License-Identifier: Apache-2.0
/* Tests of traces without private names. */
#include "edit_files.h"

#include <edit/pseudonyms.h>
#include <trace/str.h>

Suite *test_strip(void);

static char *strip_file(char *from, const struct strip_options *options)
{
	struct trace_reader *r;
	struct edit_counts c;
	char *path, *raw;
	struct trace_writer *w = writer_new(&path);

	ck_assert_int_eq(trace_reader_open(&r, from, NULL), 0);
	ck_assert_int_eq(edit_strip(w, r, options, &c), 0);
	ck_assert_int_eq(trace_writer_close(w), 0);
	trace_reader_close(r);
	raw = raw_of(path);
	unlink(path);
	unlink(from);
	free(path);
	free(from);
	return raw;
}

#define SECRET "secret.Thing"

/* Every string of every kind, but for this program's own words and those of the VM. */
static size_t secrets(struct trace_rec *recs)
{
	static const char *const words[] = {"vm_name", "vm_version", "java_version", "hop"};
	size_t n = 0;

	for (uint32_t kind = 1; kind < TRACE_KINDS; kind++) {
		const struct trace_layout *l = trace_layout(kind);

		if (!l || kind == TRACE_STAT || kind == TRACE_LOSS || kind == TRACE_CODE)
			continue;
		recs[n] = (struct trace_rec){.kind = kind};
		for (unsigned i = 0; i < l->count; i++) {
			const struct trace_str secret = str_of(SECRET);
			const uint32_t one = 1;
			bool own = false;

			for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
				own = own || strcmp(l->fields[i].name, words[k]) == 0;
			if (l->fields[i].type == TRACE_TYPE_STR && !own)
				memcpy((char *)&recs[n] + l->fields[i].offset, &secret, sizeof(secret));
			else if (l->fields[i].size == sizeof(one) && l->fields[i].type != TRACE_TYPE_STR)
				memcpy((char *)&recs[n] + l->fields[i].offset, &one, sizeof(one));
		}
		n++;
	}
	return n;
}

START_TEST(nothing_private_is_left)
{
	const struct strip_options options = {.anonymise = true};
	struct trace_rec recs[TRACE_KINDS + BRAID_JVM_EVENTS];
	size_t n = secrets(recs);
	char *raw;

	for (uint32_t kind = 1; kind < BRAID_JVM_EVENTS; kind++) {
		bool vm = kind == BRAID_JVM_GC_PAUSE || kind == BRAID_JVM_GC_CYCLE || kind == BRAID_JVM_DEOPT;

		recs[n++] = (struct trace_rec){
			.kind = TRACE_JVM_EVENT,
			.jvm_event = {.time_ns = BASE_NS, .kind = kind, .text = str_of(vm ? "" : SECRET)}};
	}
	raw = strip_file(file_of(recs, n), &options);
	ck_assert_msg(!strstr(raw, "secret"), "%.300s", strstr(raw, "secret") - 150);
	ck_assert_ptr_nonnull(strstr(raw, "Class1"));
	free(raw);
}
END_TEST

#define PROBE "uprobe:/opt/secret/libpay.so:charge"
#define TRACEPOINT "sched:sched_switch"

/* What hit events are is in the names of samples, in facts, and in the keys of figures, which still find each other. */
START_TEST(probes_have_no_names)
{
	static const struct trace_rec recs[] = {
		REC(TRACE_INFO, info, S("record.event"), S(PROBE)),
		REC(TRACE_INFO, info, S("record.events"), S(TRACEPOINT ", " PROBE "/arg0==1/{arg0, secret}")),
		REC(TRACE_NAME, name, 1, S(PROBE)),
		REC(TRACE_NAME, name, 2, S(TRACEPOINT)),
		REC(TRACE_SAMPLE, sample, .time_ns = BASE_NS, .weight = 1, .event = 1),
		REC(TRACE_SAMPLE, sample, .time_ns = BASE_NS, .weight = 1, .event = 2),
		REC(TRACE_STAT, stat, .time_ns = BASE_NS, .key = S("hits " PROBE), .value = 7),
		REC(TRACE_STAT, stat, .time_ns = BASE_NS, .key = S("hits " TRACEPOINT), .value = 8),
	};
	const struct strip_options options = {.anonymise = true};
	char *raw = strip_file(file_of(recs, sizeof(recs) / sizeof(recs[0])), &options);

	ck_assert_msg(!strstr(raw, "secret") && !strstr(raw, "arg0"), "%s", raw);
	ck_assert_ptr_nonnull(strstr(raw, "key=\"record.event\" value=\"event1\""));
	ck_assert_ptr_nonnull(strstr(raw, "text=\"event1\""));
	ck_assert_ptr_nonnull(strstr(raw, "key=\"hits event1\" value=7"));
	ck_assert_ptr_nonnull(strstr(raw, "text=\"" TRACEPOINT "\""));
	ck_assert_ptr_nonnull(strstr(raw, "key=\"hits " TRACEPOINT "\" value=8"));
	free(raw);
}
END_TEST

/*
 * A script has the name of its file, which the path of its interpreter does not say; an imported method has no class.
 */
START_TEST(processes_and_methods)
{
	static const struct trace_rec recs[] = {
		REC(TRACE_PROCESS, process, .process = 1, .pid = 1, .comm = S("secret-bill.py"),
		    .exe = S("/usr/bin/python3")),
		REC(TRACE_PROCESS, process, .process = 2, .pid = 2, .comm = S("postgres"),
		    .exe = S("/usr/bin/postgres")),
		REC(TRACE_PROCESS, process, .process = 3, .pid = 3, .comm = S("kswapd0")),
		REC(TRACE_PROCESS, process, .process = 4, .pid = 4, .comm = S("secret"),
		    .exe = S("/home/secret/jdk/bin/java")),
		REC(TRACE_THREAD, thread, .thread = 1, .process = 3, .tid = 3, .name = S("kswapd0"),
		    .flags = TRACE_THREAD_KERNEL),
		REC(TRACE_METHOD, method, .method = 1, .name = S("secretCharge"), .source = S("Secret.java")),
	};
	const struct strip_options options = {.anonymise = true};
	char *raw = strip_file(file_of(recs, sizeof(recs) / sizeof(recs[0])), &options);

	ck_assert_msg(!strstr(raw, "secret") && !strstr(raw, "Secret"), "%s", raw);
	ck_assert_ptr_nonnull(strstr(raw, "comm=\"postgres\""));
	ck_assert_ptr_nonnull(strstr(raw, "comm=\"kswapd0\""));
	ck_assert_ptr_nonnull(strstr(raw, "exe=\"/file1/java\""));
	ck_assert_ptr_nonnull(strstr(raw, "name=\"method1\""));
	free(raw);
}
END_TEST

START_TEST(stripped_plainly)
{
	const struct strip_options options = {0};
	char *raw = strip_file(file_of(synthetic, SYNTHETIC_COUNT), &options);

	ck_assert_ptr_null(strstr(raw, "record.command"));
	ck_assert_ptr_nonnull(strstr(raw, "\"http nio 8080\""));
	free(raw);
}
END_TEST

static void becomes(struct pseudonyms *p, enum pseudonym_of of, const char *name, const char *other)
{
	struct trace_str s = pseudonym(p, of, str_of(name));

	ck_assert_msg(s.len == strlen(other) && memcmp(s.str, other, s.len) == 0, "%s: %.*s, not %s", name, (int)s.len,
		      s.str, other);
}

/* What looks like a public name at its beginning is not one. */
START_TEST(names_that_look_public)
{
	static const char *const threads[] = {"Zurich-Bank-sync", "mainframe-acme-7", "java-acme-worker",
					      "CMSImporter",	  "UnsafeDeals",      "braid-acme",
					      "GC Thread#x",	  "Finalizer-acme"};
	static const char *const paths[] = {"[2001:db8::5]:5432",
					    "pipeline.acme.Gate",
					    "timers.acme.Wheel",
					    "socketed.acme.Lock",
					    "futexes",
					    "/dev/shm/customers.db",
					    "/dev/mapper/acme-books",
					    "/sys/fs/cgroup/acme/x",
					    "[secret]"};
	static const char *const stay[] = {"pipe",	"[kernel]",  "[stack:12]", "anon_inode:[eventpoll]",
					   "/dev/null", "/dev/pts/3"};
	static const char *const vm[] = {"main",
					 "C2 CompilerThread12",
					 "C2 CompilerThre",
					 "G1 Conc#0",
					 "ForkJoinPool-1-",
					 "ForkJoinPool-1-worker-3",
					 "VM Thread",
					 "ZWorkerYoung#3",
					 "VM Periodic Task Thread",
					 "VM Periodic Tas",
					 "Gang worker#1 (Parallel GC Threads)",
					 "Gang worker#1 (",
					 "JFR Thread Sampler"};
	struct pseudonyms p = {0};

	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		struct trace_str s = pseudonym(&p, PSEUDONYM_THREAD, str_of(threads[i]));

		ck_assert_msg(str_begins(s, "thread"), "%s: %.*s", threads[i], (int)s.len, s.str);
	}
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct trace_str s = pseudonym(&p, PSEUDONYM_PATH, str_of(paths[i]));

		ck_assert_msg(str_begins(s, "/file"), "%s: %.*s", paths[i], (int)s.len, s.str);
	}
	for (size_t i = 0; i < sizeof(stay) / sizeof(stay[0]); i++)
		becomes(&p, PSEUDONYM_PATH, stay[i], stay[i]);
	for (size_t i = 0; i < sizeof(vm) / sizeof(vm[0]); i++)
		becomes(&p, PSEUDONYM_THREAD, vm[i], vm[i]);
	becomes(&p, PSEUDONYM_EVENT, "probe_libpay:charge", "event1");
	becomes(&p, PSEUDONYM_EVENT, "hotspot:gc__begin", "hotspot:gc__begin");
	becomes(&p, PSEUDONYM_EVENTS, "syscall=1ms, sched:sched_switch, probe_x:y", "syscall=1ms, sched:sched_switch");
	pseudonyms_free(&p);
}
END_TEST

/* The state of a thread in a dump is the VM's word. */
START_TEST(states_stay)
{
	static const struct trace_rec recs[] = {
		REC(TRACE_NAME, name, 1, S("in_native")),
		REC(TRACE_JVM_EVENT, jvm_event, .time_ns = BASE_NS, .kind = BRAID_JVM_DUMP, .detail = 1),
	};
	const struct strip_options options = {.anonymise = true};
	char *raw = strip_file(file_of(recs, 2), &options);

	ck_assert_ptr_nonnull(strstr(raw, "\"in_native\""));
	free(raw);
}
END_TEST

START_TEST(names)
{
	const char *const keep[] = {"org.lib."};
	struct pseudonyms p = {.keep = keep, .keep_count = 1};

	becomes(&p, PSEUDONYM_CLASS, "com.acme.Order", "Class1");
	becomes(&p, PSEUDONYM_CLASS, "com.acme.Order[][]", "Class1[][]");
	becomes(&p, PSEUDONYM_CLASS, "[Lcom.acme.Order;", "[LClass1;");
	becomes(&p, PSEUDONYM_CLASS, "java.lang.String", "java.lang.String");
	becomes(&p, PSEUDONYM_CLASS, "org.lib.Pool", "org.lib.Pool");
	becomes(&p, PSEUDONYM_CLASS, "int[]", "int[]");
	becomes(&p, PSEUDONYM_CLASS, "[other classes]", "[other classes]");
	becomes(&p, PSEUDONYM_TYPES, "(Lcom/acme/Order;IJ[Ljava/lang/String;)Lcom/acme/Bill;",
		"(LClass1;IJ[Ljava/lang/String;)LClass2;");
	becomes(&p, PSEUDONYM_METHOD, "com.acme.Bill.pay", "Class2.method1");
	becomes(&p, PSEUDONYM_MEMBER, "pay", "method1");
	becomes(&p, PSEUDONYM_METHOD, "com.acme.Bill.<init>", "Class2.<init>");
	becomes(&p, PSEUDONYM_METHOD, "java.util.List.add", "java.util.List.add");
	becomes(&p, PSEUDONYM_THREAD, "payments-12", "thread1-12");
	becomes(&p, PSEUDONYM_THREAD, "payments-7", "thread1-7");
	becomes(&p, PSEUDONYM_THREAD, "GC Thread#0", "GC Thread#0");
	becomes(&p, PSEUDONYM_PATH, "/home/joe/libpay.so.1", "/file1.so");
	becomes(&p, PSEUDONYM_PATH, "/usr/lib/libc.so.6", "/usr/lib/libc.so.6");
	becomes(&p, PSEUDONYM_CHOICES, "cpu,lock=10us,method=com.acme.*>5ms,gc", "cpu,lock=10us,gc");
	becomes(&p, PSEUDONYM_TEXT, "512m", "512m");
	becomes(&p, PSEUDONYM_TEXT, "-Dkey=value", "text1");
	ck_assert(!p.failed);
	pseudonyms_free(&p);
}
END_TEST

Suite *test_strip(void)
{
	Suite *s = suite_create("strip");
	TCase *t = tcase_create("strip");

	suite_add_tcase(s, t);
	tcase_add_test(t, nothing_private_is_left);
	tcase_add_test(t, probes_have_no_names);
	tcase_add_test(t, processes_and_methods);
	tcase_add_test(t, stripped_plainly);
	tcase_add_test(t, names_that_look_public);
	tcase_add_test(t, states_stay);
	tcase_add_test(t, names);
	return s;
}
