// SPDX-License-Identifier: Apache-2.0
/* Tests of hit events as text, and of the records that their filters look into. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <braid/jvm_event.h>
#include <config/probe_spec.h>
#include <kernel/tracepoint_format.h>

Suite *test_probe_spec(void);

static const struct {
	const char *text;
	enum probe_type type;
	bool in_jvms;
	const char *path, *group, *name;
	uint64_t offset;
	uint32_t terms;
} understood[] = {
	{"sched:sched_switch", PROBE_TRACEPOINT, false, "", "sched", "sched_switch", 0, 0},
	{"syscalls:sys_enter_fsync/comm~\"java*\"/", PROBE_TRACEPOINT, false, "", "syscalls", "sys_enter_fsync", 0, 1},
	{"block:block_rq_issue/ bytes >= 4096 && rwbs == \"W\" || pid == 7 /", PROBE_TRACEPOINT, false, "", "block",
	 "block_rq_issue", 0, 3},
	{"uprobe:/usr/lib/libc.so.6:malloc", PROBE_UPROBE, false, "/usr/lib/libc.so.6", "", "malloc", 0, 0},
	{"uprobe:/a,b/c:f+0x10/arg0>4096/", PROBE_UPROBE, false, "/a,b/c", "", "f", 16, 1},
	{"uprobe:/x:_ZN3foo3barEv+8", PROBE_UPROBE, false, "/x", "", "_ZN3foo3barEv", 8, 0},
	{"uretprobe:/x:f/retval<0||elapsed>1ms/{retval,elapsed}", PROBE_URETPROBE, false, "/x", "", "f", 0, 2},
	{"usdt:/usr/bin/python3:python:gc__start/arg0==2&&tid!=3/", PROBE_USDT, false, "/usr/bin/python3", "python",
	 "gc__start", 0, 2},
	{"usdt:libjvm:hotspot:gc__begin", PROBE_USDT, true, "", "hotspot", "gc__begin", 0, 0},
	{"hotspot:gc__begin", PROBE_USDT, true, "", "hotspot", "gc__begin", 0, 0},
	{"malloc:/usr/lib/a,b.so:otel_memory", PROBE_MALLOC, false, "/usr/lib/a,b.so", "otel_memory", "alloc", 0, 0},
	{"syscall", PROBE_KERNEL, false, "", "", "syscall", 0, 0},
	{"syscall=1ms/call==fsync&&ret>=0||comm~\"java*\"/", PROBE_KERNEL, false, "", "", "syscall", 0, 3},
	{"file=0", PROBE_KERNEL, false, "", "", "file", 0, 0},
	{"hs_private:safepoint__begin/pid==1/", PROBE_USDT, true, "", "hs_private", "safepoint__begin", 0, 1},
	{"uprobe:/x{1}/y:f+4{arg0, str(arg1)}", PROBE_UPROBE, false, "/x{1}/y", "", "f", 4, 0},
	{"hotspot:gc__begin/arg0==1/{}", PROBE_USDT, true, "", "hotspot", "gc__begin", 0, 1},
	{"sched:sched_switch{prev_comm,next_comm}", PROBE_TRACEPOINT, false, "", "sched", "sched_switch", 0, 0},
};

START_TEST(specs)
{
	const char *text = understood[_i].text;
	struct probe_spec spec;
	char why[PROBE_WHY] = "", list[PROBE_TEXT];

	ck_assert(probe_spec_is(text, strlen(text)));
	ck_assert_msg(!probe_spec_parse(&spec, text, strlen(text), why), "%s: %s", text, why);
	ck_assert_int_eq(spec.type, understood[_i].type);
	ck_assert_int_eq(spec.in_jvms, understood[_i].in_jvms);
	ck_assert_str_eq(spec.text, text);
	ck_assert_str_eq(spec.path, understood[_i].path);
	ck_assert_str_eq(spec.group, understood[_i].group);
	ck_assert_str_eq(spec.name, understood[_i].name);
	ck_assert_uint_eq(spec.offset, understood[_i].offset);
	ck_assert_uint_eq(spec.terms, understood[_i].terms);
	/* in a list it ends where it ends alone */
	snprintf(list, sizeof(list), "%s,gc", text);
	ck_assert_uint_eq(probe_spec_length(list), strlen(text));
	ck_assert_uint_eq(probe_spec_length(text), strlen(text));
}
END_TEST

START_TEST(terms)
{
	static const char text[] = "a:b/comm~\"j*\"&&pid==0x10||tid!=-1&&cpu<2&&x>=3&&args.pid&1&&y<=5&&z>6/";
	static const struct {
		const char *field;
		enum braid_hit_operator operator;
		bool own, or ;
		uint64_t value;
	} is[] = {{"comm", BRAID_HIT_MATCH, false, false, 0},	       {"pid", BRAID_HIT_EQUAL, false, false, 16},
		  {"tid", BRAID_HIT_UNEQUAL, false, true, UINT64_MAX}, {"cpu", BRAID_HIT_LESS, false, false, 2},
		  {"x", BRAID_HIT_GREATER_EQUAL, true, false, 3},      {"pid", BRAID_HIT_BITS, true, false, 1},
		  {"y", BRAID_HIT_LESS_EQUAL, true, false, 5},	       {"z", BRAID_HIT_GREATER, true, false, 6}};
	struct probe_spec spec;
	char why[PROBE_WHY];

	ck_assert_int_eq(probe_spec_parse(&spec, text, strlen(text), why), 0);
	ck_assert_uint_eq(spec.terms, BRAID_HIT_TERMS);
	for (int i = 0; i < BRAID_HIT_TERMS; i++) {
		ck_assert_str_eq(spec.term[i].field, is[i].field);
		ck_assert_uint_eq(spec.term[i].term.operator, is[i].operator);
		ck_assert_int_eq(spec.term[i].own, is[i].own);
		ck_assert_int_eq(spec.term[i].term.flags & BRAID_HIT_OR, is[i].or ? BRAID_HIT_OR : 0);
		if (i)
			ck_assert_uint_eq(spec.term[i].term.value, is[i].value);
	}
	ck_assert_str_eq(spec.term[0].term.pattern, "j*");
}
END_TEST

/* What a return has: a number or the address of text, and a time. */
START_TEST(returns)
{
	static const char text[] = "uretprobe:/x:f/elapsed>=1.5ms&&retval==-1/{retval,str(retval),elapsed}";
	static const uint16_t offsets[] = {BRAID_RETURN_VALUE, BRAID_RETURN_VALUE, BRAID_RETURN_ELAPSED};
	struct probe_spec spec;
	char why[PROBE_WHY] = "";

	ck_assert_msg(!probe_spec_parse(&spec, text, strlen(text), why), "%s", why);
	ck_assert_uint_eq(spec.term[0].term.value, 1500000);
	ck_assert_uint_eq(spec.term[0].term.offset, BRAID_RETURN_ELAPSED);
	ck_assert_uint_eq(spec.term[1].term.value, (uint64_t)-1);
	ck_assert_uint_eq(spec.term[1].term.offset, BRAID_RETURN_VALUE);
	ck_assert(spec.term[1].term.flags & BRAID_HIT_SIGNED);
	ck_assert_uint_eq(spec.fields, 3);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_eq(spec.field[i].term.offset, offsets[i]);
		ck_assert_uint_eq(spec.field[i].term.operand, i == 1 ? BRAID_HIT_POINTED : BRAID_HIT_ARGUMENT);
		ck_assert_uint_eq(spec.field[i].term.flags & BRAID_HIT_TIME, i == 2 ? BRAID_HIT_TIME : 0);
	}
}
END_TEST

/* Fields whose values samples have. */
START_TEST(shown)
{
	static const char text[] = "uprobe:/x:f/arg0>1/{ arg5 , str(arg1),arg2:string,arg0}";
	static const struct {
		const char *name;
		enum braid_hit_operand operand;
		uint16_t offset;
	} is[] = {{"arg5", BRAID_HIT_ARGUMENT, 5},
		  {"arg1", BRAID_HIT_POINTED, 1},
		  {"arg2", BRAID_HIT_POINTED, 2},
		  {"arg0", BRAID_HIT_ARGUMENT, 0}};
	static const char record[] = "a:b{args.pid, str(name), flags:string}";
	struct probe_spec spec;
	char why[PROBE_WHY] = "";

	ck_assert_msg(!probe_spec_parse(&spec, text, strlen(text), why), "%s", why);
	ck_assert(spec.braces);
	ck_assert_uint_eq(spec.terms, 1);
	ck_assert_uint_eq(spec.fields, 4);
	for (int i = 0; i < 4; i++) {
		ck_assert_str_eq(spec.field[i].name, is[i].name);
		ck_assert_uint_eq(spec.field[i].term.operand, is[i].operand);
		ck_assert_uint_eq(spec.field[i].term.offset, is[i].offset);
	}
	ck_assert_msg(!probe_spec_parse(&spec, record, strlen(record), why), "%s", why);
	ck_assert_uint_eq(spec.fields, 3);
	ck_assert_str_eq(spec.field[0].name, "pid");
	ck_assert(!spec.field[0].text);
	ck_assert_str_eq(spec.field[1].name, "name");
	ck_assert(spec.field[1].text && spec.field[2].text);
	ck_assert(!probe_spec_parse(&spec, "a:b{}", 5, why) && spec.braces && !spec.fields);
	ck_assert(!probe_spec_parse(&spec, "a:b", 3, why) && !spec.braces);
}
END_TEST

START_TEST(offcpu)
{
	static const char text[] =
		"/duration<1.5ms && state~\"p*\" || state!=block && cgroup==\"/a/very/long/path/of/a/cgroup\"/";
	struct probe_spec spec;
	char why[PROBE_WHY] = "";

	ck_assert_msg(!probe_spec_offcpu(&spec, text, why), "%s", why);
	ck_assert_uint_eq(spec.terms, 4);
	ck_assert_uint_eq(spec.term[0].term.operand, BRAID_HIT_DURATION);
	ck_assert_uint_eq(spec.term[0].term.operator, BRAID_HIT_LESS);
	ck_assert_uint_eq(spec.term[0].term.value, 1500000);
	/* states are a set */
	ck_assert_uint_eq(spec.term[1].term.operand, BRAID_HIT_STATE);
	ck_assert_uint_eq(spec.term[1].term.operator, BRAID_HIT_BITS);
	ck_assert_uint_eq(spec.term[1].term.value, 1U << BRAID_OFFCPU_POLL | 1U << BRAID_OFFCPU_PIPE);
	ck_assert_uint_eq(spec.term[2].term.flags & BRAID_HIT_OR, BRAID_HIT_OR);
	ck_assert_uint_eq(spec.term[2].term.operator, BRAID_HIT_BITS);
	ck_assert_uint_eq(spec.term[2].term.value, ~(1ULL << BRAID_OFFCPU_BLOCK));
	ck_assert_uint_eq(spec.term[3].term.operand, BRAID_HIT_CGROUP);
	ck_assert_uint_eq(spec.term[3].term.operator, BRAID_HIT_EQUAL);
	ck_assert_mem_eq(spec.text + spec.term[3].text_at, "/a/very/long/path/of/a/cgroup", spec.term[3].text_length);
	ck_assert_uint_eq(spec.term[3].text_length, strlen("/a/very/long/path/of/a/cgroup"));
	/* what becomes of the times */
	ck_assert_int_eq(spec.sums, BRAID_SUMS_FLOOD);
	ck_assert_msg(!probe_spec_offcpu(&spec, "/ aggregate /", why), "%s", why);
	ck_assert_uint_eq(spec.terms, 0);
	ck_assert_int_eq(spec.sums, BRAID_SUMS_ALWAYS);
	ck_assert_msg(!probe_spec_offcpu(&spec, "/pid==1 && each && tid==2/", why), "%s", why);
	ck_assert_uint_eq(spec.terms, 2);
	ck_assert_int_eq(spec.sums, BRAID_SUMS_NEVER);
	/* a colon in a filter makes no hit event */
	ck_assert(!probe_spec_is("offcpu/comm==\"a:b\"/", strlen("offcpu/comm==\"a:b\"/")));
	ck_assert(!probe_spec_is("gc,a:b", 2));
	ck_assert(probe_spec_is("../a:b", strlen("../a:b")));
}
END_TEST

/* What a kernel event's word stands for, and which of its values the filter compares. */
START_TEST(kernel_events)
{
	static const struct {
		const char *text;
		enum braid_kernel_event event;
		uint64_t min_ns;
		uint32_t flags;
		int place; /* of the filter's field; -1: there is none */
		uint64_t value;
	} is[] = {{"syscall", BRAID_KERNEL_SYSCALL, 100000, 0, -1, 0},
		  {"syscall=2s", BRAID_KERNEL_SYSCALL, 2000000000, 0, -1, 0},
		  {"syscall=0/ret==-11/", BRAID_KERNEL_SYSCALL, 0, 0, BRAID_SYSCALL_RESULT, (uint64_t)-11},
		  {"syscall/call==openat/", BRAID_KERNEL_SYSCALL, 100000, 0, BRAID_SYSCALL_CALL, 257},
		  {"syscall/call==3/", BRAID_KERNEL_SYSCALL, 100000, 0, BRAID_SYSCALL_CALL, 3},
		  {"file=5us/arg2>1/", BRAID_KERNEL_SYSCALL, 5000, BRAID_HIT_FILES, 2, 1},
		  {"fault=50us/major==1/", BRAID_KERNEL_FAULT, 50000, 0, BRAID_FAULT_MAJOR, 1},
		  {"block/op==discard/", BRAID_KERNEL_BLOCK, 0, 0, BRAID_BLOCK_OPERATION, 3},
		  {"block=1ms/bytes>=4096/", BRAID_KERNEL_BLOCK, 1000000, 0, BRAID_BLOCK_BYTES, 4096},
		  {"tcp/port==443/", BRAID_KERNEL_TCP, 0, 0, BRAID_TCP_PORT, 443}};
	struct probe_spec spec;
	char why[PROBE_WHY];

	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		ck_assert(!probe_spec_parse(&spec, is[i].text, strlen(is[i].text), why));
		ck_assert_int_eq(spec.event, is[i].event);
		ck_assert_uint_eq(spec.min_ns, is[i].min_ns);
		ck_assert_uint_eq(spec.flags, is[i].flags);
		ck_assert_uint_eq(spec.terms, is[i].place >= 0);
		ck_assert(!spec.terms || spec.term[0].term.operand == BRAID_HIT_ARGUMENT);
		ck_assert(!spec.terms || spec.term[0].term.offset == is[i].place);
		ck_assert(!spec.terms || spec.term[0].term.value == is[i].value);
	}
	ck_assert(!probe_spec_is("syscalls", 8));
	ck_assert(!probe_spec_is("sys", 3));
}
END_TEST

#define NO_EVENT "is no event; a tracepoint is CATEGORY:NAME, others are uprobe:PATH:SYMBOL and usdt:PATH:PROVIDER:NAME"

static const struct {
	const char *text, *why;
} refused[] = {
	{":", "':' " NO_EVENT},
	{":b", "':b' " NO_EVENT},
	{"a:", "'a:' " NO_EVENT},
	{"a:b:c", "'a:b:c' " NO_EVENT},
	{"../a:b", "'../a:b' " NO_EVENT},
	{"a:../b", "'a:../b' " NO_EVENT},
	{"a:b%s", "'a:b%s' " NO_EVENT},
	{"a:b\n", "an event has no control characters"},
	{"uretprobe:/bin/x", "'uretprobe:/bin/x' is no function; write uretprobe:PATH:SYMBOL"},
	{"uretprobe:/x:f+4",
	 "'uretprobe:/x:f+4' has an offset, but a function returns as a whole; write uretprobe:PATH:SYMBOL"},
	{"uretprobe:/x:f/arg0==1/", "'arg0' is no field of a return; use comm, pid, tid, cpu, retval or elapsed"},
	{"uretprobe:/x:f/elapsed>5/", "'elapsed' is a time, which needs its unit: 5ms or 5s"},
	{"uretprobe:/x:f/elapsed>x/", "'elapsed' is compared with a time, such as 100us or 1s, not with 'x'"},
	{"uretprobe:/x:f{arg0}", "'arg0' is no value of a return; these are retval and elapsed"},
	{"uretprobe:/x:f{str(elapsed)}", "'elapsed' is a time, not the address of text"},
	{"syscall=5", "'syscall=5': the value is a time with its unit, such as syscall=1ms"},
	{"syscall=1msx", "'syscall=1msx': the value is a time with its unit, such as syscall=1ms"},
	{"syscall=", "'syscall=': the value is a time with its unit, such as syscall=1ms"},
	{"file=10000000000000000000000000000000000000s",
	 "'file=1000000000000000000000000000000': the value is a time with its unit, such as file=1ms"},
	{"syscall/arg6==1/",
	 "'arg6' is no field of 'syscall'; use comm, pid, tid, cpu, call, ret, arg0, arg1, arg2, arg3, arg4, arg5"},
	{"fault/call==read/", "'call' is no field of 'fault'; use comm, pid, tid, cpu, address, major"},
	{"block/op==paint/", "'op' is a number, and 'paint' is none"},
	{"syscall/call==open_sesame/", "'call' is a number, and 'open_sesame' is none"},
	{"syscall/call~open*/", "'call' is a number, and ~ compares text"},
	{"kprobe:vfs_read", "kprobes are not offered; use a tracepoint, CATEGORY:NAME"},
	{"uprobe:/bin/x", "'uprobe:/bin/x' is no function; write uprobe:PATH:SYMBOL or uprobe:PATH:SYMBOL+OFFSET"},
	{"uprobe:/bin/x:", "'uprobe:/bin/x:' is no function; write uprobe:PATH:SYMBOL or uprobe:PATH:SYMBOL+OFFSET"},
	{"uprobe::f", "'uprobe::f' is no function; write uprobe:PATH:SYMBOL or uprobe:PATH:SYMBOL+OFFSET"},
	{"uprobe:x:f", "'x' is no absolute path; probes are set in one file, so write its full path"},
	{"uprobe:/x:f+", "'+' is no offset in a function; write a number such as +0x10"},
	{"uprobe:/x:f+-1", "'+-1' is no offset in a function; write a number such as +0x10"},
	{"uprobe:/x:f+1x", "'+1x' is no offset in a function; write a number such as +0x10"},
	{"uprobe:/x:f+99999999999999999999",
	 "'+99999999999999999999' is no offset in a function; write a number such as +0x10"},
	{"uprobe:/x:+4", "'uprobe:/x:+4' names no function; use the linker's name, as `nm` shows it"},
	{"uprobe:/x:a::b", "'uprobe:/x:a::b' names no function; use the linker's name, as `nm` shows it"},
	{"usdt:/x:p", "'usdt:/x:p' is no USDT probe; write usdt:PATH:PROVIDER:NAME, or usdt:libjvm:hotspot:NAME"},
	{"usdt:/x:p:a:b",
	 "'usdt:/x:p:a:b' is no USDT probe; write usdt:PATH:PROVIDER:NAME, or usdt:libjvm:hotspot:NAME"},
	{"malloc:/x:", "'malloc:/x:' names no probes of an allocator; write malloc:PATH:otel_memory"},
	{"malloc:/x:p:a", "'malloc:/x:p:a' names no probes of an allocator; write malloc:PATH:otel_memory"},
	{"malloc:x:p", "'x' is no absolute path; probes are set in one file, so write its full path"},
	{"malloc:/x:p/arg0>1/", "'malloc:/x' takes no filter and no fields"},
	{"malloc:/x:p{arg0}", "'malloc:/x' takes no filter and no fields"},
	{"usdt:libc:p:a", "'libc' is no absolute path; probes are set in one file, so write its full path"},
	{"a:b/", "the filter '/' has no '/' at its end"},
	{"a:b//", "the filter of 'b' is empty"},
	{"a:b/ /", "the filter of 'b' is empty"},
	{"a:b/pid==1", "the filter '/pid==1' has no '/' at its end"},
	{"a:b/f==\"x/", "the quotes around 'x/' are not closed"},
	{"a:b/pid==1/c", "'c' follows the filter; a '/' in a value needs quotes"},
	{"a:b/f==x/y/", "'y/' follows the filter; a '/' in a value needs quotes"},
	{"a:b/==1/", "a filter's term begins with a field, not with '==1/'; for example pid==4711"},
	{"a:b/pid/", "after 'pid' comes ==, !=, <, <=, >, >=, & or ~, not '/'"},
	{"a:b/pid=1/", "after 'pid' comes ==, !=, <, <=, >, >=, & or ~, not '=1/'"},
	{"a:b/pid==/", "'pid' is compared with nothing; use a number, or text in quotes"},
	{"a:b/pid==1 cpu==2/", "terms of a filter are joined by && or ||, not by 'cpu==2/'"},
	{"a:b/pid==1&cpu==2/", "terms of a filter are joined by && or ||, not by '&cpu==2/'"},
	{"a:b/pid==1&&/", "a filter's term begins with a field, not with '/'; for example pid==4711"},
	{"a:b/pid==java/", "'pid' is a number, and 'java' is none"},
	{"a:b/pid==\"1\"/", "'pid' is a number, and '1' is none"},
	{"a:b/pid~1/", "'pid' is a number, and ~ compares text"},
	{"a:b/pid==18446744073709551616/", "'pid' is a number, and '18446744073709551616' is none"},
	{"a:b/comm<java/", "'comm' is text, which is compared by ==, != or ~"},
	{"a:b/x==\"0123456789012345678901234567890123456789\"/",
	 "'0123456789012345678901234567890123456789' is too long for a filter: 31 characters are the limit"},
	{"a:b/a==1&&a==2&&a==3&&a==4&&a==5&&a==6&&a==7&&a==8&&a==9/", "a filter has at most 8 terms"},
	{"uprobe:/x:f/x==1/", "'x' is no field of a function or USDT probe; use comm, pid, tid, cpu, or arg0 to arg5"},
	{"uprobe:/x:f/arg6==1/",
	 "'arg6' is no field of a function or USDT probe; use comm, pid, tid, cpu, or arg0 to arg5"},
	{"hotspot:gc__begin/arg0~x/", "'arg0' is a number, and ~ compares text"},
	{"a:b{", "'}' ends the event, not ''"},
	{"a:b{x", "'}' ends the event, not ''"},
	{"a:b{x}y", "'}' ends the event, not '}y'"},
	{"a:b{x}/pid==1/", "'}' ends the event, not '}/pid==1/'"},
	{"a:b{x y}", "fields in braces are separated by commas, not by 'y}'"},
	{"a:b{x,}", "in braces are names of fields, not '}'; for example {arg0, str(arg1)}"},
	{"a:b{str(x}", "after 'x' comes ')', not '}'"},
	{"a:b{x:int}", "after 'x' comes 'string', not 'int}'"},
	{"uprobe:/x:f{x}", "'x' is no argument of a function or USDT probe; these are arg0 to arg5"},
	{"uprobe:/x:f{arg6}", "'arg6' is no argument of a function or USDT probe; these are arg0 to arg5"},
	{"a:b{a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q}", "'b' names more than 16 fields"},
	{"syscall/pid==1/{x}", "'syscall' takes no fields in braces; events of it have what is known of them"},
};

START_TEST(refusals)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		char why[PROBE_WHY] = "";
		struct probe_spec spec;

		ck_assert_msg(probe_spec_parse(&spec, refused[i].text, strlen(refused[i].text), why) == -EINVAL, "%s",
			      refused[i].text);
		ck_assert_str_eq(why, refused[i].why);
	}
}
END_TEST

START_TEST(length_is_limited)
{
	char text[2 * PROBE_TEXT], why[PROBE_WHY];
	struct probe_spec spec;

	memset(text, 'a', sizeof(text));
	memcpy(text, "a:", 2);
	ck_assert_int_eq(probe_spec_parse(&spec, text, PROBE_TEXT - 1, why), 0);
	ck_assert_int_eq(probe_spec_parse(&spec, text, PROBE_TEXT, why), -EINVAL);
	ck_assert_ptr_nonnull(strstr(why, "is too long: 255 characters are the limit"));
}
END_TEST

/* Anything is either understood or refused with a reason. */
START_TEST(nonsense)
{
	static const char letters[] = "ab:/\"&|=<>~!.,+* 019uprobesyscallms{}()arg";
	unsigned state = 1;

	for (int i = 0; i < 200000; i++) {
		char text[48], why[PROBE_WHY] = "";
		struct probe_spec spec;
		size_t length;

		for (size_t c = 0; c < sizeof(text); c++) {
			state = state * 1103515245 + 12345;
			text[c] = letters[state / 65536 % sizeof(letters)];
		}
		text[sizeof(text) - 1] = '\0';
		if (state & 1024)
			memcpy(text, state & 2048 ? "uprobe:/" : "usdt:/", 6);
		else if (state & 4096)
			memcpy(text, state & 2048 ? "syscall=" : "syscall/", 8);
		length = probe_spec_length(text);
		ck_assert_uint_le(length, strlen(text));
		if (probe_spec_parse(&spec, text, length, why))
			ck_assert_uint_gt(strlen(why), 0);
		else
			ck_assert(spec.terms <= BRAID_HIT_TERMS && spec.fields <= BRAID_HIT_FIELDS);
	}
}
END_TEST

static const char format[] = "name: test\nID: 7\nformat:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			     "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
			     "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
			     "\tfield:__data_loc char[] filename;\toffset:28;\tsize:4;\tsigned:0;\n"
			     "\tfield:const char * name;\toffset:32;\tsize:8;\tsigned:0;\n"
			     "\tfield:int dfd;\toffset:40;\tsize:8;\tsigned:0;\n"
			     "\tfield:unsigned long args[6];\toffset:48;\tsize:48;\tsigned:0;\n"
			     "\tfield:long prev_state;\toffset:96;\tsize:8;\tsigned:1;\n"
			     "\tfield:bool ok;\toffset:104;\tsize:1;\tsigned:0;\n"
			     "\tfield:__u32 far;\toffset:70000;\tsize:4;\tsigned:0;\n"
			     "\nprint fmt: \"field:x\", REC->pid\n";

static const struct {
	const char *name;
	bool syscall;
	int err;
	struct braid_hit_term term;
} fields[] = {
	{"comm", false, 0, {.operand = BRAID_HIT_STRING, .offset = 8, .size = 16}},
	{"pid", false, 0, {.operand = BRAID_HIT_NUMBER, .offset = 24, .size = 4, .flags = BRAID_HIT_SIGNED}},
	{"filename", false, 0, {.operand = BRAID_HIT_DYNAMIC, .offset = 28, .size = 4}},
	{"name", true, 0, {.operand = BRAID_HIT_USER, .offset = 32, .size = 8}},
	/* its address */
	{"name", false, 0, {.operand = BRAID_HIT_NUMBER, .offset = 32, .size = 8, .flags = BRAID_HIT_HEX}},
	{"dfd", true, 0, {.operand = BRAID_HIT_NUMBER, .offset = 40, .size = 4, .flags = BRAID_HIT_SIGNED}},
	{"dfd", false, 0, {.operand = BRAID_HIT_NUMBER, .offset = 40, .size = 8}},
	{"prev_state", false, 0, {.operand = BRAID_HIT_NUMBER, .offset = 96, .size = 8, .flags = BRAID_HIT_SIGNED}},
	{"ok", false, 0, {.operand = BRAID_HIT_NUMBER, .offset = 104, .size = 1}},
	{"args", false, -EDOM, {0}},
	{"far", false, -EDOM, {0}},
	{"common_pid", false, -ENOENT, {0}},
	{"none", false, -ENOENT, {0}},
	{"x", false, -ENOENT, {0}},
};

static bool join(void *ctx, const char *name, const struct braid_hit_term *field)
{
	char *names = ctx;

	ck_assert_uint_ge(field->operand, BRAID_HIT_NUMBER);
	strcat(strcat(names, name), " ");
	return strcmp(name, "prev_state") != 0;
}

START_TEST(records)
{
	struct braid_hit_term t = {0};
	char names[256];

	ck_assert_int_eq(tracepoint_field(format, fields[_i].syscall, fields[_i].name, &t), fields[_i].err);
	if (!fields[_i].err) {
		ck_assert_uint_eq(t.operand, fields[_i].term.operand);
		ck_assert_uint_eq(t.offset, fields[_i].term.offset);
		ck_assert_uint_eq(t.size, fields[_i].term.size);
		ck_assert_uint_eq(t.flags, fields[_i].term.flags);
	}
	tracepoint_fields(format, names, sizeof(names));
	ck_assert_str_eq(names, "comm, pid, filename, name, dfd, args, prev_state, ok, far");
	*names = '\0';
	tracepoint_each(format, true, join, names);
	ck_assert_str_eq(names, "comm pid filename name dfd prev_state "); /* and no more were asked for */
}
END_TEST

Suite *test_probe_spec(void)
{
	Suite *s = suite_create("probe_spec");
	TCase *tc = tcase_create("probe_spec");

	tcase_add_loop_test(tc, specs, 0, sizeof(understood) / sizeof(understood[0]));
	tcase_add_test(tc, terms);
	tcase_add_test(tc, returns);
	tcase_add_test(tc, shown);
	tcase_add_test(tc, offcpu);
	tcase_add_test(tc, kernel_events);
	tcase_add_test(tc, refusals);
	tcase_add_test(tc, length_is_limited);
	tcase_add_test(tc, nonsense);
	tcase_add_loop_test(tc, records, 0, sizeof(fields) / sizeof(fields[0]));
	suite_add_tcase(s, tc);
	return s;
}
