// SPDX-License-Identifier: Apache-2.0
/* A recording with events of all kinds, for tests of reports: the synthetic trace and events that are added to it. */
#ifndef BRAID_TESTS_EVENTS_FIXTURE_H
#define BRAID_TESTS_EVENTS_FIXTURE_H

#include "synthetic.h"

enum { C_BYTES = 1, C_HTML, C_QUEUE, C_LOCK, M_WORK, M_OTHER, R_NULL, N_PHASE, N_INIT, H_CODE, N_LOADER, N_OP };

/*
 * Nodes of the synthetic trace: 3 is Main.work with Util.inline on it, 5 the class whose name is HTML, 11 unknown code.
 */
enum {
	ON_INLINE = 3,
	ON_KERNEL = 4,
	ON_SCRIPT = 5,
	ON_NATIVE = 7,
	PARKED = 20,
	SLEEPING = 21,
	MONITOR = 23,
	WAITING = 24
};

#define NAME(id, text) REC(TRACE_NAME, name, id, S(text))
#define JVM_OF(pid, ...)                                                                                               \
	{                                                                                                              \
		.kind = TRACE_JVM_EVENT, .jvm_event = {.process = pid, __VA_ARGS__ }                                   \
	}
#define JVM(...) JVM_OF(1, __VA_ARGS__)
#define AT(ms) .time_ns = BASE_NS + (ms)*MS

static const struct trace_scope park_scope[] = {{20, 1}}, sleep_scope[] = {{21, 1}}, wait_scope[] = {{22, 1}};

static const struct trace_rec more[] = {
	REC(TRACE_INFO, info, S("record.alloc_interval"), S("524288")),
	NAME(C_BYTES, "byte[]"),
	NAME(C_HTML, "<b>\033[2J;x"),
	NAME(C_QUEUE, "demo.Queue"),
	NAME(C_LOCK, "demo.Lock"),
	NAME(M_WORK, "demo.Main.work"),
	NAME(M_OTHER, "demo.Main.other"),
	NAME(R_NULL, "null_check"),
	NAME(N_PHASE, "start"),
	NAME(N_INIT, "init"),
	NAME(H_CODE, "non-nmethods"),
	NAME(N_LOADER, "app"),
	NAME(N_OP, "Cleanup"),
	REC(TRACE_METHOD, method, 20, 1, 9, S("jdk.internal.misc.Unsafe"), S("park"), S("(ZJ)V"), S("")),
	REC(TRACE_METHOD, method, 21, 1, 9, S("java.lang.Thread"), S("sleep0"), S("(J)V"), S("")),
	REC(TRACE_METHOD, method, 22, 1, 9, S("java.lang.Object"), S("wait0"), S("(J)V"), S("")),
	REC(TRACE_SYMBOL, symbol, 20, 2, 0x5000, 64, S("_ZN13ObjectMonitor5enterEP10JavaThread")),
	REC(TRACE_FRAME, frame, 20, BRAID_FRAME_INTERPRETED, 1, 0, 0x900, 0, 0, 0, 1, park_scope),
	REC(TRACE_FRAME, frame, 21, BRAID_FRAME_INTERPRETED, 1, 0, 0x910, 0, 0, 0, 1, sleep_scope),
	REC(TRACE_FRAME, frame, 22, BRAID_FRAME_INTERPRETED, 1, 0, 0x920, 0, 0, 0, 1, wait_scope),
	REC(TRACE_FRAME, frame, 23, BRAID_FRAME_NATIVE, 1, 0, LIBC_1 + 0x5010, 2, 20, 0, 0, NULL),
	REC(TRACE_NODE, node, PARKED, 3, 20),
	REC(TRACE_NODE, node, SLEEPING, 3, 21),
	REC(TRACE_NODE, node, 22, 3, 22),
	REC(TRACE_NODE, node, MONITOR, 3, 23),
	REC(TRACE_NODE, node, WAITING, 22, 23),
};

static const struct trace_rec events[] = {
	/* An object of 1 MiB counts little more than itself, one of 16 bytes as much as the interval. */
	JVM(AT(1), .kind = BRAID_JVM_ALLOC, .thread = 1, .node = ON_INLINE, .name = C_BYTES, .value = 1 << 20,
	    .number = 1),
	JVM(AT(2), .kind = BRAID_JVM_ALLOC, .thread = 1, .node = ON_INLINE, .name = C_BYTES, .value = 16, .number = 2),
	JVM(AT(3), .kind = BRAID_JVM_ALLOC, .thread = 2, .node = ON_SCRIPT, .name = C_HTML, .value = 100,
	    .weight = 1000),
	JVM(AT(4), .kind = BRAID_JVM_ALLOC, .thread = 2, .node = ON_SCRIPT, .name = C_HTML, .value = 100,
	    .weight = 1000, .number = 2),
	/* Number 1 was emitted before; 2 is the later one with that number, and one of two. 7 was never emitted, and
	   8 was emitted without its stack. */
	JVM(AT(1), .kind = BRAID_JVM_LIVE, .number = 1, .duration_ns = 20 * MS),
	JVM(AT(190), .kind = BRAID_JVM_LIVE, .number = 1, .flags = 3),
	JVM(AT(190), .kind = BRAID_JVM_LIVE, .number = 2, .weight = 2000, .flags = 1),
	JVM(AT(190), .kind = BRAID_JVM_LIVE, .number = 7, .flags = 1),
	JVM(AT(100), .kind = BRAID_JVM_LIVE, .number = 8, .name = C_QUEUE, .value = 8, .weight = 10,
	    .duration_ns = 90 * MS),
	/* No collection has run since number 9 was allocated. */
	JVM(AT(120), .kind = BRAID_JVM_UNCOLLECTED, .number = 9, .name = C_QUEUE, .value = 8, .weight = 500,
	    .duration_ns = 70 * MS),
	JVM(AT(10), .kind = BRAID_JVM_LOCK, .thread = 2, .node = ON_INLINE, .name = C_LOCK, .duration_ns = 5 * MS,
	    .number = 9, .other = 1, .other_node = ON_SCRIPT),
	JVM(AT(20), .kind = BRAID_JVM_LOCK, .thread = 2, .node = ON_INLINE, .name = C_LOCK, .duration_ns = 15 * MS,
	    .number = 9, .other = 1, .other_node = ON_SCRIPT),
	JVM(AT(30), .kind = BRAID_JVM_LOCK, .thread = 1, .node = ON_INLINE, .name = C_QUEUE, .duration_ns = 1 * MS),
	JVM(AT(31), .kind = BRAID_JVM_COUNTED, .value = 40, .weight = 2 * MS, .number = BRAID_JVM_LOCK),
	JVM(AT(40), .kind = BRAID_JVM_OFFCPU, .thread = 1, .node = PARKED, .duration_ns = 30 * MS, .flags = 202),
	JVM(AT(71), .kind = BRAID_JVM_OFFCPU, .thread = 1, .node = SLEEPING, .duration_ns = 10 * MS, .flags = 202),
	JVM(AT(82), .kind = BRAID_JVM_OFFCPU, .thread = 1, .node = MONITOR, .duration_ns = 10 * MS, .flags = 202),
	JVM(AT(93), .kind = BRAID_JVM_OFFCPU, .thread = 1, .node = WAITING, .duration_ns = 10 * MS, .flags = 202),
	JVM_OF(2, AT(94), .kind = BRAID_JVM_OFFCPU, .thread = 3, .node = 10, .duration_ns = 4 * MS, .flags = 0),
	JVM(AT(60), .kind = BRAID_JVM_COMPILE, .name = M_WORK, .duration_ns = 3 * MS, .value = 512, .flags = 4),
	JVM(AT(61), .kind = BRAID_JVM_COMPILE, .name = M_WORK, .duration_ns = 1 * MS, .value = 256, .flags = 3),
	JVM(AT(62), .kind = BRAID_JVM_COMPILE, .name = M_WORK, .duration_ns = 1 * MS, .value = 256, .flags = 3 | 8),
	JVM(AT(63), .kind = BRAID_JVM_COMPILE, .name = M_WORK, .duration_ns = 1 * MS, .flags = 4 | 16),
	JVM(AT(64), .kind = BRAID_JVM_COMPILE, .name = M_OTHER, .duration_ns = 9 * MS, .value = 1024, .flags = 4),
	JVM(AT(65), .kind = BRAID_JVM_DEOPT, .thread = 1, .node = ON_INLINE, .name = M_WORK, .detail = R_NULL),
	JVM(AT(66), .kind = BRAID_JVM_CODE_CACHE, .name = H_CODE, .value = 1 << 20, .weight = 5 << 20),
	JVM(AT(67), .kind = BRAID_JVM_CODE_CACHE, .name = H_CODE, .value = 3 << 20, .weight = 5 << 20),
	JVM(AT(68), .kind = BRAID_JVM_CODE_CACHE, .name = H_CODE, .value = 2 << 20, .weight = 5 << 20),
	JVM(AT(70), .kind = BRAID_JVM_PHASE, .name = N_PHASE),
	JVM(AT(80), .kind = BRAID_JVM_PHASE, .name = N_INIT),
	JVM(AT(81), .kind = BRAID_JVM_CLASS_LOAD, .thread = 1, .name = C_QUEUE, .detail = N_LOADER,
	    .text = S("Q.java")),
	JVM(AT(82), .kind = BRAID_JVM_CLASS_LOAD, .thread = 1, .name = C_LOCK, .detail = N_LOADER),
	JVM(AT(90), .kind = BRAID_JVM_CLASS_UNLOAD, .name = C_LOCK, .value = 3),
	JVM(AT(95), .kind = BRAID_JVM_EXCEPTION, .thread = 1, .node = ON_INLINE, .name = C_HTML, .value = 5),
	JVM(AT(96), .kind = BRAID_JVM_SAFEPOINT, .name = N_OP, .value = 2 * MS, .duration_ns = 6 * MS, .number = 1),
	JVM(AT(97), .kind = BRAID_JVM_SAFEPOINT_STOP, .thread = 2, .node = ON_SCRIPT, .value = 2 * MS, .number = 1),
	JVM(AT(125), .kind = BRAID_JVM_THREAD_END, .thread = 2, .name = C_LOCK, .value = 70 * MS, .weight = 20 * MS),
};

#endif
