/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle's log: stacks, methods and names of moments. It stays in memory until the end; compare.py reads it. */
#ifndef TESTS_ORACLE_LOG_H
#define TESTS_ORACLE_LOG_H

#include <jni.h>
#include <jvmti.h>

#include <stddef.h>
#include <stdint.h>

enum { LOG_STACK = 1, LOG_METHOD = 2, LOG_MOMENT = 3 };

struct log_head {
	uint32_t size; /* in bytes, with this head */
	uint32_t type; /* LOG_* */
};

struct log_stack {
	struct log_head head;
	uint32_t moment;
	uint32_t tid;
	uint64_t before_ns;
	uint64_t after_ns;
	uint32_t count;
	uint32_t number;
	struct {
		uint64_t method;
		int64_t location;
	} frames[];
};

_Noreturn void die(const char *what, int error);

void log_open(void);
/* Room for a record of `bytes` bytes with its head filled in. Any thread may call it. */
void *log_reserve(size_t bytes, uint32_t type);
/* The names are read while the method has a frame. */
void log_method_once(jvmtiEnv *ti, JNIEnv *jni, jmethodID m);
void log_write(const char *path);

#endif
