// SPDX-License-Identifier: Apache-2.0
/* Tests of `record -e` and `--preset`: what they accept and what they refuse. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <config/event_config.h>

Suite *test_event_config(void);

/* Adds lists one after the other; returns the last result. */
static int add(struct event_selection *c, char why[SELECTION_WHY], const char *list)
{
	static char kept[8][512];
	static unsigned turn;
	char *copy = kept[turn++ % 8];

	ck_assert_uint_lt(strlen(list), sizeof(kept[0]));
	strcpy(copy, list);
	strcpy(why, "");
	return selection_add(c, copy, why);
}

static const struct {
	const char *list;
	const char *text;
	const char *event;
} understood[] = {
	{"cpu", "cpu", "cpu-clock"},
	{"cpu-clock", "cpu,gc,thread,jit", "cpu-clock"},
	{"cycles", "cpu,gc,thread,jit", "cycles"},
	{"sched:sched_switch", "cpu,gc,thread,jit", "sched:sched_switch"},
	{"alloc", "alloc=512k", ""},
	{"alloc=0", "alloc=0", ""},
	{"alloc=64k,gc", "alloc=64k,gc", ""},
	{"gc,alloc=2M", "alloc=2m,gc", ""},
	{"offcpu=1ms/comm~\"j:*,\"/,gc", "gc,offcpu=1ms", ""},
	{"offcpu/state==block/", "offcpu=100us", ""},
	{"live", "alloc=512k,live=4096", ""},
	{"live=10", "alloc=512k,live=10", ""},
	{"heap,gc", "gc,heap=60s", ""},
	{"heap=1500ms", "heap=1500ms", ""},
	{"malloc,gc", "gc,malloc=512k", ""},
	{"malloc=0", "malloc=0", ""},
	{"lock,wait", "lock=10us,wait=1ms", ""},
	{"lock=0ms,wait=2s", "lock=0ns,wait=2s", ""},
	{"lock=1.5us", "lock=1500ns", ""},
	{"lock=0,wait=20µs", "lock=0ns,wait=20us", ""},
	{"alloc=1MiB", "alloc=1m", ""},
	{"cpu,lock=7ns", "cpu,lock=7ns", "cpu-clock"},
	{"lock=10000ns,cpu-clock,cpu", "cpu,lock=10us", "cpu-clock"},
	{"gc,cycles", "cpu,gc", "cycles"},
	{"cache-misses", "cpu,gc,thread,jit", "cache-misses"},
	{"gc,LLC-load-misses", "cpu,gc", "LLC-load-misses"},
	{"cpu,a:b,c:d/comm~\"x,*\"/", "cpu", "cpu-clock"},
	{"a:b,c:d", "cpu,gc,thread,jit", ""},
	{"gc,a:b", "cpu,gc", "a:b"},
	{"a:b,a:b", "cpu,gc,thread,jit", "a:b"},
	{"syscall", "cpu,gc,thread,jit", ""},
	{"syscall=1ms/call==fsync/,syscall=1ms/call==fsync/", "cpu,gc,thread,jit", ""},
	{"syscall,fault", "cpu,gc,thread,jit", ""},
	{"gc,file=0,cpu", "cpu,gc", "cpu-clock"},
	{"vthread=5,exception=0", "vthread=5,exception=0", ""},
	{"jni,jni-critical", "jni=65536,jni-critical=100us", ""},
	{"dump", "dump=30s", ""},
	{"dump=1s,gc", "gc,dump=1s", ""},
	{"gc,jni=5,jni-critical=0ns", "gc,jni=5,jni-critical=0ns", ""},
	{"method=a.B.c", "method=a.B.c>1ms", ""},
	{"method=a.B.c>5ms,gc,method=x.*.<init>>0,method=a.B.c>6ms", "gc,method=a.B.c>6ms,method=x.*.<init>>0ns", ""},
	{"method=a.B.c(ILx/Y;)V>2us,cpu", "cpu,method=a.B.c(ILx/Y;)V>2us", "cpu-clock"},
	{"method=a.B.<init>", "method=a.B.<init>>1ms", ""},
	{"method=@a.b.Timed>5ms/arg1/,method=@*.GetMapping", "method=@a.b.Timed>5ms/arg1/,method=@*.GetMapping>1ms",
	 ""},
	{"method=/a,b|^c\\.D$#^(find|<init>)\\(I/>5ms/arg1/,gc", "gc,method=/a,b|^c\\.D$#^(find|<init>)\\(I/>5ms/arg1/",
	 ""},
	{"method=/B#c>1/,method=/@(Get|Post)Mapping$/>2s,cpu", "cpu,method=/B#c>1/>1ms,method=/@(Get|Post)Mapping$/>2s",
	 "cpu-clock"},
	{"method=/B#c//rate=0/", "method=/B#c/>1ms/rate=0/", ""},
	{"method=a.B.c/arg1,arg2.length(),this.x/,gc", "gc,method=a.B.c>1ms/arg1,arg2.length(),this.x/", ""},
	{"method=a.B.c>5ms/rate=10,this.x.length()/", "method=a.B.c>5ms/this.x.length(),rate=10/", ""},
	{"method=a.B.c([Lx/Y;)[Lx/Z;/rate=0/,cpu", "cpu,method=a.B.c([Lx/Y;)[Lx/Z;>1ms/rate=0/", "cpu-clock"},
	{"method=a.B.c(*>2us/arg1/,method=a.B.d(Lx/Y;*>1s", "method=a.B.c(*>2us/arg1/,method=a.B.d(Lx/Y;*>1s", ""},
	{"field=a.B.c", "field=a.B.c", ""},
	{"field=a.B$C.*/old,new,rate=5/,gc,field=*.x", "gc,field=a.B$C.*/old,new,rate=5/,field=*.x", ""},
	{"field=a.B.c/new/,field=a.B.c,method=a.B.c", "method=a.B.c>1ms,field=a.B.c/new/", ""},
	{"safepoint,thread,class,jit,native-bind,resource", "safepoint,thread,class,jit,native-bind,resource", ""},
	{"all,cycles",
	 "cpu,alloc=512k,live=4096,lock=10us,wait=1ms,gc,safepoint,thread,vthread=1000,class,jit,"
	 "exception=1000,native-bind,resource,offcpu=100us",
	 "cycles"},
};

START_TEST(lists)
{
	for (size_t i = 0; i < sizeof(understood) / sizeof(understood[0]); i++) {
		char why[SELECTION_WHY], text[256];
		struct event_selection c, again;

		selection_init(&c);
		ck_assert_msg(add(&c, why, understood[i].list) == 0, "%s: %s", understood[i].list, why);
		selection_complete(&c);
		event_config_text(&c.config, text, sizeof(text));
		ck_assert_str_eq(text, understood[i].text);
		ck_assert_str_eq(c.event, understood[i].event);
		/* the trace's text of it reads back as the same */
		selection_init(&again);
		ck_assert_int_eq(add(&again, why, text), 0);
		selection_complete(&again);
		ck_assert_mem_eq(&again.config, &c.config, sizeof(c.config));
	}
}
END_TEST

static const struct {
	const char *list;
	const char *why;
} refused[] = {
	{"", "'' is not a list of events"},
	{"cpu,", "'cpu,' is not a list of events"},
	{",cpu", "',cpu' is not a list of events"},
	{"cpu,,gc", "'cpu,,gc' is not a list of events"},
	{"allocs", "unknown event 'allocs'; `braid record --help` lists them"},
	{"a:b:c", "'a:b:c' is no event; a tracepoint is CATEGORY:NAME, others are uprobe:PATH:SYMBOL and "
		  "usdt:PATH:PROVIDER:NAME"},
	{"=5", "unknown event ''; `braid record --help` lists them"},
	{"cpu=5", "'cpu' takes no value"},
	{"heap=999ms", "'heap=999ms': the value is a time, such as 10us, 1ms or 2s, from 1 to 3600 s"},
	{"alloc=", "'alloc=': the value is a number of bytes, such as 65536, 512k or 2m, from 0 to 2147483647"},
	{"alloc=-1", "'alloc=-1': the value is a number of bytes, such as 65536, 512k or 2m, from 0 to 2147483647"},
	{"alloc=2048m",
	 "'alloc=2048m': the value is a number of bytes, such as 65536, 512k or 2m, from 0 to 2147483647"},
	{"alloc=99999999999999999999k",
	 "'alloc=99999999999999999999k': the value is a number of bytes, such as 65536, 512k or 2m, from 0 to 2147483647"},
	{"lock=fast", "'lock=fast': the value is a time, such as 10us, 1ms or 2s, from 0 to 3600 s"},
	{"lock=5", "'lock=5': a time needs its unit: lock=5ms or lock=5s"},
	{"cpu,wait=1.5", "'wait=1.5': a time needs its unit: wait=1.5ms or wait=1.5s"},
	{"wait=2h", "'wait=2h': the value is a time, such as 10us, 1ms or 2s, from 0 to 3600 s"},
	{"live=0", "'live=0': the value is a number, from 1 to 65536"},
	{"jni=0", "'jni=0': the value is a number, from 1 to 1048576"},
	{"dump=500ms", "'dump=500ms': the value is a time, such as 10us, 1ms or 2s, from 1 to 3600 s"},
	{"jni-critical=5", "'jni-critical=5': a time needs its unit: jni-critical=5ms or jni-critical=5s"},
	{"vthread=5k", "'vthread=5k': the value is a number, from 0 to 4294967295"},
	{"exception=4294967296", "'exception=4294967296': the value is a number, from 0 to 4294967295"},
	{"method", "'method' needs the methods: method=com.example.Dao.find>5ms, method=com.example.*.*"},
	{"field", "'field' needs the fields: field=com.example.Account.balance, field=com.example.*.*"},
	{"gc,field=", "'field=' lacks the class or the field: com.example.Account.balance, *.balance"},
	{"field=a.B.", "'field=a.B.' lacks the class or the field: com.example.Account.balance, *.balance"},
	{"field=balance", "'field=balance' lacks the class or the field: com.example.Account.balance, *.balance"},
	{"field=a.B.c>5ms", "'field=a.B.c>5ms' is not CLASS.FIELD: com.example.Account.balance, with * and ?"},
	{"field=a.B.c/arg1/", "'/arg1/' is none of old, new, rate=100"},
	{"field=a.B.c/new", "'field=a.B.c/new': values are between slashes: /old,new/"},
	{"field=a.A.a,field=a.B.b,field=a.C.c,field=a.D.d,field=a.E.e",
	 "'field=a.E.e' is one too many: 4 patterns can be given"},
	{"method=find>5ms", "'method=find' lacks the class or the method: com.example.Dao.find, com.example.Dao.*"},
	{"method=a.B.>5ms", "'method=a.B.' lacks the class or the method: com.example.Dao.find, com.example.Dao.*"},
	{"gc,method=a.B.c>5", "'>5': a time needs its unit: >5ms or >5s"},
	{"method=a.B.c>5x", "'>5x': a time such as 10us, 1ms or 2s is expected, at most an hour"},
	{"method=a.B.c>fast", "'method=a.B.c>fast': a time such as 5ms follows '>'"},
	{"method=a/B.c",
	 "'method=a/B.c': the name of a class has dots, as in com.example.Dao.find, and values are between "
	 "slashes: /arg1,this.name/"},
	{"method=/a#b", "'method=/a#b' lacks the slash at the end of the regular expression"},
	{"method=/", "'method=/' lacks the slash at the end of the regular expression"},
	{"method=//", "'method=//' lacks the class or the method: /Dao$#^find/"},
	{"method=/ab/", "'method=/ab/' lacks the class or the method: /Dao$#^find/"},
	{"method=/#b/", "'method=/#b/' lacks the class or the method: /Dao$#^find/"},
	{"method=/a#/", "'method=/a#/' lacks the class or the method: /Dao$#^find/"},
	{"method=/a#b#c/", "'method=/a#b#c/' lacks the class or the method: /Dao$#^find/"},
	{"method=/@/", "'method=/@/' lacks the annotation: /@(Get|Post)Mapping$/"},
	{"method=/a#b(/", "'b(' is no regular expression: Unmatched ( or \\("},
	{"method=/a{9}#b/", "'method=/a{9}#b/': a regular expression here has no {} and no \\1"},
	{"method=/a*+#b/", "'method=/a*+#b/': a regular expression here has no two of *, + and ? in a row"},
	{"method=/(a)\\1#b/", "'method=/(a)\\1#b/': a regular expression here has no {} and no \\1"},
	{"method=/(((((a+)+)+)+)+)#b/", "'method=/(((((a+)+)+)+)+)#b/': groups are in one another at most 4 deep"},
	{"method=@", "'method=@' lacks the annotation: @com.example.Timed, @*.GetMapping"},
	{"method=@a.B(I)V", "'method=@a.B(I)V' is not the name of an annotation"},
	{"method=a.B.c//", "'//': values are between two slashes, at the end: /arg1,this.name/"},
	{"method=a.B.c/arg1/x/", "'/arg1/x/': values are between two slashes, at the end: /arg1,this.name/"},
	{"method=a.B.c>5ms/arg0/",
	 "'/arg0/' is none of arg1, arg1.length(), this.field, this.field.length(), rate=100"},
	{"method=a.B.c/arg256/",
	 "'/arg256/' is none of arg1, arg1.length(), this.field, this.field.length(), rate=100"},
	{"method=a.B.c/arg1.size()/",
	 "'/arg1.size()/' is none of arg1, arg1.length(), this.field, this.field.length(), rate=100"},
	{"method=a.B.c/this.a b/",
	 "'/this.a b/' is none of arg1, arg1.length(), this.field, this.field.length(), rate=100"},
	{"method=a.B.c/rate=x/", "'rate=x': a number of calls a second is expected, 0 for all"},
	{"method=a.B.c/arg1,arg2,arg3,arg4,arg5/",
	 "'/arg5/' is one too many: a call has at most 4 values, of 124 characters together"},
	{"method=void a.B.c", "'method=void a.B.c' is not CLASS.METHOD or CLASS.METHOD(DESCRIPTOR)"},
	{"method=java.lang.String.*",
	 "'method=java.lang.String.*': classes of java.lang are never timed: what measures calls uses them"},
	{"method=jdk.internal.misc.*.*>1ms",
	 "'method=jdk.internal.misc.*.*': classes of jdk.internal are never timed: what measures calls uses them"},
	{"method=a.B.c(int", "'method=a.B.c(int': a descriptor is written as in class files: (ILjava/lang/String;)V"},
	{"method=a.*,method=b.*,method=c.*,method=d.*,method=e.*,method=f.*,method=g.*,method=h.*,method=i.*",
	 "'method=i.*' is one too many: 8 patterns can be given"},
	{"lock/pid==1/", "'lock' takes no filter; offcpu, tracepoints and probes do"},
	{"cpu-clock/pid==1/", "'cpu-clock' takes no filter; offcpu, tracepoints and probes do"},
	{"offcpu/pid==1/,offcpu/pid==2/", "offcpu has two filters: '/pid==1/' and '/pid==2/'"},
	{"offcpu//", "the filter of 'offcpu' is empty"},
	{"offcpu/pid==1", "the filter '/pid==1' has no '/' at its end"},
	{"offcpu/aggregate||pid==1/", "'aggregate' and 'each' are no conditions; join them with the others by &&"},
	{"offcpu/aggregate pid==1/", "terms of a filter are joined by && or ||, not by 'pid==1/'"},
	{"offcpu/aggregated/",
	 "'aggregated' is no field of offcpu; use comm, pid, tid, cpu, duration, state or cgroup"},
	{"offcpu/arg0==1/", "'arg0' is no field of offcpu; use comm, pid, tid, cpu, duration, state or cgroup"},
	{"offcpu/duration>5/", "'duration' is a time, which needs its unit: 5ms or 5s"},
	{"offcpu/duration>\"\"/", "'duration' is compared with a time, such as 100us or 1s, not with ''"},
	{"offcpu/duration~1s/", "'duration' is a number, and ~ compares text"},
	{"offcpu/state~x/", "'x' is no state; use runnable, futex, sleeping, poll, socket, pipe, file, block, fault, "
			    "stopped, child, call or blocked"},
	{"offcpu/state<futex/", "'state' is text, which is compared by ==, != or ~"},
	{"offcpu/cgroup<x/", "'cgroup' is compared by == or != with a path below /sys/fs/cgroup"},
	{"syscall=0,file", "'syscall=0' and 'file' would record the same things; name one of them"},
	{"instructions=5", "unknown event 'instructions'; `braid record --help` lists them"},
	{"instructions/pid==1/", "'instructions' takes no filter; offcpu, tracepoints and probes do"},
};

START_TEST(refusals)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		char why[SELECTION_WHY];
		struct event_selection c;

		selection_init(&c);
		ck_assert_msg(add(&c, why, refused[i].list) == -EINVAL, "%s", refused[i].list);
		ck_assert_str_eq(why, refused[i].why);
	}
}
END_TEST

/* The clock is a counter of time, and the others are hits. */
static const struct {
	const char *list;
	const char *clock;
	const char *others; /* in order */
} counted[] = {
	{"cpu,cycles", "cpu-clock", "cycles"},
	{"cycles,instructions,cycles", "cycles", "instructions"},
	{"instructions,page-faults,task-clock", "task-clock", "page-faults,instructions"},
	{"task-clock,cpu-clock,task-clock,cpu", "task-clock", "cpu-clock"},
	{"a:b,cycles,cpu,cycles", "cpu-clock", "a:b,cycles"},
	{"cpu-clock", "cpu-clock", ""},
};

START_TEST(counters)
{
	char why[SELECTION_WHY], others[256] = "";
	struct event_selection c;

	selection_init(&c);
	ck_assert_int_eq(add(&c, why, counted[_i].list), 0);
	selection_complete(&c);
	ck_assert_str_eq(c.event, counted[_i].clock);
	ck_assert(c.clock);
	for (uint32_t i = 0; i < c.probe_count; i++) {
		strcat(others, i ? "," : "");
		strcat(others, c.probes[i].text);
		ck_assert(c.probes[i].type == PROBE_COUNTER || strchr(c.probes[i].text, ':'));
	}
	ck_assert_str_eq(others, counted[_i].others);
}
END_TEST

START_TEST(more_hit_events_than_a_recording_takes)
{
	char why[SELECTION_WHY], one[32];
	struct event_selection c;

	selection_init(&c);
	for (int i = 0; i < BRAID_HITS; i++) {
		snprintf(one, sizeof(one), "many:e%d", i);
		ck_assert_int_eq(add(&c, why, one), 0);
	}
	ck_assert_int_eq(add(&c, why, "many:e0"), -EINVAL);
	ck_assert_str_eq(why, "'many:e0' is one too many: a recording has at most 16 tracepoints, probes and counters");
}
END_TEST

START_TEST(presets_and_lists_add_up)
{
	char why[SELECTION_WHY], text[256];
	struct event_selection c;

	selection_init(&c);
	selection_complete(&c);
	event_config_text(&c.config, text, sizeof(text));
	ck_assert_str_eq(text, "cpu,gc,thread,jit");
	ck_assert_str_eq(c.event, "cpu-clock");

	selection_init(&c);
	ck_assert_int_eq(selection_preset(&c, "memory", why), 0);
	ck_assert_int_eq(add(&c, why, "alloc=1m,lock"), 0);
	ck_assert_int_eq(add(&c, why, "a:b"), 0);
	selection_complete(&c);
	event_config_text(&c.config, text, sizeof(text));
	ck_assert_str_eq(text, "cpu,alloc=1m,live=4096,lock=10us,gc,resource");
	ck_assert_str_eq(c.event, "cpu-clock"); /* the preset has it */
	ck_assert_uint_eq(c.probe_count, 1);
	ck_assert_str_eq(c.probes[0].text, "a:b");

	ck_assert_int_eq(selection_preset(&c, "everything", why), -EINVAL);
	ck_assert_str_eq(why, "unknown preset 'everything'; use cpu, latency, memory, startup, wall or all");
}
END_TEST

static const struct {
	const char *before;
	enum config_change change;
	const char *list;
	const char *after; /* NULL: refused */
	const char *why;
} changes[] = {
	{"cpu", CONFIG_ENABLE, "lock,alloc=256k", "cpu,alloc=256k,lock=10us", NULL},
	{"cpu,lock=1ms", CONFIG_ENABLE, "lock", "cpu,lock=1ms", NULL},
	{"gc", CONFIG_ENABLE, "live", "alloc=512k,live=4096,gc", NULL},
	{"cpu,gc,lock", CONFIG_DISABLE, "gc,thread", "cpu,lock=10us", NULL},
	{"alloc,live,gc", CONFIG_DISABLE, "alloc", "gc", NULL},
	{"alloc,live,gc", CONFIG_DISABLE, "live", "alloc=512k,gc", NULL},
	{"cpu,alloc", CONFIG_DISABLE, "all", "", NULL},
	{"alloc", CONFIG_INTERVAL, "alloc=1m,lock=1ms", "alloc=1m", NULL},
	{"gc", CONFIG_ENABLE, "method=a.B.c>2ms", "gc,method=a.B.c>2ms", NULL},
	{"gc", CONFIG_ENABLE, "method", NULL,
	 "'method' needs the methods: method=com.example.Dao.find>5ms, method=com.example.*.*"},
	{"gc,method=a.B.c", CONFIG_ENABLE, "method=a.B.d", "gc,method=a.B.c>1ms,method=a.B.d>1ms", NULL},
	{"gc,method=a.B.c", CONFIG_DISABLE, "method", "gc", NULL},
	{"gc,method=a.B.c", CONFIG_DISABLE, "all", "", NULL},
	{"gc,method=a.B.c", CONFIG_INTERVAL, "method=a.B.c>9us", "gc,method=a.B.c>9us", NULL},
	{"method=a.B.c/arg1,rate=5/", CONFIG_INTERVAL, "method=a.B.c>9us", "method=a.B.c>9us/arg1,rate=5/", NULL},
	{"gc,method=a.B.c", CONFIG_INTERVAL, "method=a.B.c>9us/arg1,arg2/", "gc,method=a.B.c>9us/arg1,arg2/", NULL},
	{"gc,method=a.B.c", CONFIG_INTERVAL, "method=a.B.d>9us", NULL,
	 "'method=a.B.d>9us': that pattern is not enabled; use `enable`"},
	{"gc", CONFIG_DISABLE, "lock=1ms", NULL, "disable takes no values: 'lock=1ms'"},
	{"alloc", CONFIG_INTERVAL, "alloc", NULL, "'alloc': each interval needs a value, such as alloc=1m"},
	{"alloc", CONFIG_INTERVAL, "lock=1ms,alloc", NULL,
	 "'lock=1ms,alloc': each interval needs a value, such as alloc=1m"},
	{"gc", CONFIG_INTERVAL, "gc=1", NULL, "'gc' takes no value"},
	{"gc", CONFIG_ENABLE, "cycles", NULL, "'cycles' can only be enabled when a recording starts"},
	{"gc", CONFIG_ENABLE, "sched:sched_switch", NULL,
	 "'sched:sched_switch' can only be enabled when a recording starts"},
	{"gc", CONFIG_ENABLE, "offcpu/pid==1/", NULL,
	 "'offcpu/pid==1/': a filter can only be set when a recording starts"},
	{"gc", CONFIG_DISABLE, "nonsense", NULL, "unknown event 'nonsense'; `braid record --help` lists them"},
};

START_TEST(changes_while_recording)
{
	char before[64], list[64], why[SELECTION_WHY] = "", text[256];
	struct braid_event_config old;
	struct event_selection c;
	uint32_t named = 0;
	int err;

	strcpy(before, changes[_i].before);
	strcpy(list, changes[_i].list);
	selection_init(&c);
	ck_assert_int_eq(selection_add(&c, before, why), 0);
	old = c.config;
	err = event_config_change(&c.config, changes[_i].change, list, &named, why);
	if (!changes[_i].after) {
		ck_assert_int_eq(err, -EINVAL);
		ck_assert_str_eq(why, changes[_i].why);
		ck_assert_mem_eq(&old, &c.config, sizeof(old));
		return;
	}
	ck_assert_int_eq(err, 0);
	ck_assert_uint_ne(named, 0);
	event_config_text(&c.config, text, sizeof(text));
	ck_assert_str_eq(text, changes[_i].after);
}
END_TEST

START_TEST(text_is_cut_not_overrun)
{
	struct event_selection c;
	char text[9];

	selection_init(&c);
	c.config.enabled = UINT32_MAX; /* of a later version */
	event_config_text(&c.config, text, sizeof(text));
	ck_assert_str_eq(text, "cpu,allo");
}
END_TEST

Suite *test_event_config(void)
{
	Suite *s = suite_create("choices");
	TCase *tc = tcase_create("choices");

	tcase_add_test(tc, lists);
	tcase_add_test(tc, refusals);
	tcase_add_loop_test(tc, counters, 0, sizeof(counted) / sizeof(counted[0]));
	tcase_add_test(tc, more_hit_events_than_a_recording_takes);
	tcase_add_test(tc, presets_and_lists_add_up);
	tcase_add_loop_test(tc, changes_while_recording, 0, sizeof(changes) / sizeof(changes[0]));
	tcase_add_test(tc, text_is_cut_not_overrun);
	suite_add_tcase(s, tc);
	return s;
}
