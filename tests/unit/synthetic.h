// SPDX-License-Identifier: Apache-2.0
/*
 * A small hand-made trace: a JVM (pid 100) and a native program (pid 200), with inlining, interpreted code, a stub, a
 * kernel frame, incomplete stacks, GC pauses, loss, and a class whose name is HTML. Definitions come first.
 */
#ifndef TESTS_UNIT_SYNTHETIC_H
#define TESTS_UNIT_SYNTHETIC_H

#include <string.h>

#include <braid/frame.h>
#include <braid/ring.h>
#include <trace/str.h>

#define MS 1000000ULL
#define BASE_NS (10000 * MS) /* the first event */
#define START_NS (BASE_NS - MS)
#define START_REALTIME_NS (1767225600000 * MS) /* 2026-01-01T00:00:00Z */
#define LIBC_1 0x7f0000000000ULL
#define LIBC_2 0x7e0000000000ULL
#define CODE_AT 0x7d0000001000ULL

#define S(text)                                                                                                        \
	{                                                                                                              \
		text, sizeof(text) - 1                                                                                 \
	}
#define REC(k, member, ...)                                                                                            \
	{                                                                                                              \
		.kind = k, .member = { __VA_ARGS__ }                                                                   \
	}
#define EVENT(k, ns, p, t)                                                                                             \
	REC(TRACE_JVM_EVENT, jvm_event, .kind = BRAID_JVM_##k, .time_ns = ns, .process = p, .thread = t)
#define GC(k, ms, ...) REC(TRACE_JVM_EVENT, jvm_event, BASE_NS + (ms)*MS, BRAID_JVM_GC_##k, 1, __VA_ARGS__)
#define SAMPLE(ms, t, c, n) REC(TRACE_SAMPLE, sample, BASE_NS + (ms)*MS, t, c, n, 1, 0)

static const struct trace_line work_lines[] = {{0, 10}, {5, 12}};
static const struct trace_line inline_lines[] = {{0, 30}};
static const struct trace_scope main_scope[] = {{1, 7}};
static const struct trace_scope work_scopes[] = {{3, 0}, {2, 6}};
static const struct trace_scope script_scope[] = {{4, -1}};

static const struct trace_rec synthetic[] = {
	REC(TRACE_INFO, info, S("record.command"), S("java demo.Main \033[2J")),
	REC(TRACE_INFO, info, S("host.kernel"), S("6.1.0")),
	REC(TRACE_INFO, info, S("record.event"), S("cpu-clock")),
	REC(TRACE_INFO, info, S("record.frequency_hz"), S("99")),
	REC(TRACE_INFO, info, S("record.duration_ns"), S("2500000000")),
	REC(TRACE_CLOCK, clock, START_NS, 1, START_REALTIME_NS),
	REC(TRACE_PROCESS, process, 1, 100, 0, 5, S("java"), S("/usr/bin/java")),
	REC(TRACE_PROCESS, process, 2, 200, 0, 6, S("worker;x"), S("/bin/worker")),
	REC(TRACE_THREAD, thread, 1, 1, 101, 101, TRACE_THREAD_JAVA, 0, S("main"), S("main")),
	REC(TRACE_THREAD, thread, 2, 1, 102, 102, TRACE_THREAD_JAVA, 0, S("http nio 8080"), S("main")),
	REC(TRACE_THREAD, thread, 3, 2, 200, 200, 0, 0, S("worker;x"), S("")),
	REC(TRACE_MODULE, module, 1, TRACE_MODULE_KERNEL, S("[kernel]"), S("")),
	REC(TRACE_MODULE, module, 2, TRACE_MODULE_ELF, S("/usr/lib/libc.so.6"), S("abcd")),
	REC(TRACE_MAPPING, mapping, 1, 2, LIBC_1, LIBC_1 + 0x100000, 0, LIBC_1, 1),
	REC(TRACE_MAPPING, mapping, 2, 2, LIBC_2, LIBC_2 + 0x100000, 0, LIBC_2, 1),
	REC(TRACE_SYMBOL, symbol, 1, 1, 0xffffffff81000000ULL, 64, S("do_syscall_64")),
	REC(TRACE_SYMBOL, symbol, 2, 2, 0x1000, 64, S("__libc_start_main")),
	REC(TRACE_SYMBOL, symbol, 3, 2, 0x2000, 64, S("_ZN3foo3barEi")),
	REC(TRACE_JVM, jvm, 1, BRAID_START_ATTACH, 0x30110000, 3, 1ULL << 27 | 1ULL << 12, 0, 1ULL << 43, 0,
	    S("OpenJDK 64-Bit Server VM"), S("17.0.15+6"), S("17.0.15"), S("demo.Main")),
	REC(TRACE_METHOD, method, 1, 1, 9, S("demo.Main"), S("main"), S("([Ljava/lang/String;)V"), S("Main.java")),
	REC(TRACE_METHOD, method, 2, 1, 9, S("demo.Main"), S("work"), S("()V"), S("Main.java")),
	REC(TRACE_METHOD, method, 3, 1, 9, S("demo.Util"), S("inline"), S("()V"), S("Util.java")),
	REC(TRACE_METHOD, method, 4, 1, 9, S("<script>alert(1)</script>"), S("run"), S("()V"), S("")),
	REC(TRACE_LINES, lines, 2, 2, work_lines),
	REC(TRACE_LINES, lines, 3, 1, inline_lines),
	REC(TRACE_CODE, code, 1, 1, TRACE_CODE_METHOD, 2, BRAID_TIER_C2, 7, 0, CODE_AT, 256, 1, S("")),
	REC(TRACE_CODE, code, 2, 1, TRACE_CODE_METHOD, 4, 3, 8, 0, CODE_AT + 256, 256, 1, S("")),
	REC(TRACE_CODE, code, 3, 1, TRACE_CODE_STUB, 0, BRAID_TIER_UNKNOWN, 0, 0, CODE_AT + 512, 64, 1, S("arraycopy")),
	REC(TRACE_FRAME, frame, 1, BRAID_FRAME_NATIVE, 1, 0, LIBC_1 + 0x1010, 2, 2, 0, 0, NULL),
	REC(TRACE_FRAME, frame, 2, BRAID_FRAME_INTERPRETED, 1, 0, 0x800, 0, 0, 0, 1, main_scope),
	REC(TRACE_FRAME, frame, 3, BRAID_FRAME_CODE_CACHE, 1, 0, CODE_AT + 16, 0, 0, 1, 2, work_scopes),
	REC(TRACE_FRAME, frame, 4, BRAID_FRAME_CODE_CACHE, 1, 1, CODE_AT + 260, 0, 0, 2, 1, script_scope),
	REC(TRACE_FRAME, frame, 5, BRAID_FRAME_KERNEL, 0, 1, 0xffffffff81000020ULL, 1, 1, 0, 0, NULL),
	REC(TRACE_FRAME, frame, 6, BRAID_FRAME_END, 1, 0, BRAID_END_NO_CFI, 0, 0, 0, 0, NULL),
	REC(TRACE_FRAME, frame, 7, BRAID_FRAME_NATIVE, 1, 1, LIBC_1 + 0x3456, 2, 0, 0, 0, NULL),
	REC(TRACE_FRAME, frame, 8, BRAID_FRAME_CODE_CACHE, 1, 1, CODE_AT + 520, 0, 0, 3, 0, NULL),
	REC(TRACE_FRAME, frame, 9, BRAID_FRAME_NATIVE, 2, 1, LIBC_2 + 0x2004, 2, 3, 0, 0, NULL),
	REC(TRACE_FRAME, frame, 10, BRAID_FRAME_NATIVE, 2, 0, LIBC_2 + 0x1010, 2, 2, 0, 0, NULL),
	REC(TRACE_FRAME, frame, 11, BRAID_FRAME_CODE_CACHE, 1, 1, CODE_AT + 9999, 0, 0, 0, 0, NULL),
	REC(TRACE_NODE, node, 1, 0, 1),
	REC(TRACE_NODE, node, 2, 1, 2),
	REC(TRACE_NODE, node, 3, 2, 3),
	REC(TRACE_NODE, node, 4, 3, 5),
	REC(TRACE_NODE, node, 5, 2, 4),
	REC(TRACE_NODE, node, 6, 0, 6),
	REC(TRACE_NODE, node, 7, 6, 7),
	REC(TRACE_NODE, node, 8, 3, 8),
	REC(TRACE_NODE, node, 9, 0, 10),
	REC(TRACE_NODE, node, 10, 9, 9),
	REC(TRACE_NODE, node, 11, 2, 11),
	REC(TRACE_NAME, name, 1, S("G1 young")),
	REC(TRACE_NAME, name, 2, S("System.gc()")),
	SAMPLE(0, 1, 0, 3),
	EVENT(THREAD_START, BASE_NS + 5 * MS, 1, 2),
	SAMPLE(10, 1, 1, 3),
	SAMPLE(20, 1, 0, 3),
	SAMPLE(30, 1, 0, 3),
	SAMPLE(40, 1, 0, 4),
	SAMPLE(50, 1, 0, 4),
	GC(PAUSE, 51, .duration_ns = 5 * MS, .name = 1, .detail = 2, .value = 3 << 20, .weight = 1 << 20, .number = 1),
	GC(CYCLE, 51, .duration_ns = 9 * MS, .name = 1, .detail = 2, .number = 1),
	SAMPLE(60, 1, 0, 5),
	SAMPLE(70, 1, 0, 5),
	SAMPLE(80, 1, 0, 5),
	SAMPLE(90, 1, 0, 8),
	SAMPLE(100, 2, 1, 7),
	SAMPLE(110, 2, 1, 7),
	SAMPLE(120, 2, 1, 11),
	EVENT(THREAD_END, BASE_NS + 125 * MS, 1, 2),
	SAMPLE(130, 3, 0, 10),
	SAMPLE(140, 3, 0, 10),
	SAMPLE(150, 3, 0, 10),
	SAMPLE(160, 3, 0, 10),
	SAMPLE(170, 3, 0, 10),
	SAMPLE(180, 3, 0, 0),
	REC(TRACE_CODE_LOAD, code_load, BASE_NS + 181 * MS, 1, CODE_AT, 256, 4, 7, 0),
	GC(PAUSE, 182, .number = 2, .flags = BRAID_GC_NOT_ENDED),
	REC(TRACE_LOSS, loss, BASE_NS + 183 * MS, 1, S("ring"), S("code_load"), 2),
	REC(TRACE_LOSS, loss, BASE_NS + 184 * MS, 1, S("ring"), S("code_load"), 1),
	REC(TRACE_LOSS, loss, BASE_NS + 185 * MS, 0, S("bpf"), S("sample"), 2),
	REC(TRACE_NOTICE, notice, BASE_NS + 186 * MS, 1, BRAID_NOTICE_WARNING, S("sampled allocation was refused")),
	REC(TRACE_STAT, stat, BASE_NS + 187 * MS, 0, S("collector_cpu_ns"), 100),
	REC(TRACE_STAT, stat, BASE_NS + 188 * MS, 0, S("collector_cpu_ns"), 1500000000),
	REC(TRACE_STAT, stat, BASE_NS + 188 * MS, 0, S("bpf_cpu_ns"), 250000000),
	REC(TRACE_STAT, stat, BASE_NS + 188 * MS, 1, S("code_loads"), 7),
	REC(TRACE_CLOCK, clock, BASE_NS + 2000 * MS, 1, START_REALTIME_NS + 2001 * MS),
	REC(TRACE_END, end, BASE_NS + 190 * MS),
};

#define SYNTHETIC_COUNT (sizeof(synthetic) / sizeof(synthetic[0]))

#endif
