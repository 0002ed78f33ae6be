// SPDX-License-Identifier: Apache-2.0
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOG_BYTES (1UL << 30) /* reserved address space */
#define SEEN_METHODS (1U << 18)

struct log_method {
	struct log_head head;
	uint64_t method;
	uint32_t modifiers;
	uint32_t line_count;
	/* Lengths of class signature, name, signature; lines, as bci and line, and the strings follow. */
	uint16_t lengths[4];
};

static struct {
	atomic_size_t used;
	char *bytes;
	_Atomic(jmethodID) seen[SEEN_METHODS];
} the_log;

void die(const char *what, int error)
{
	fprintf(stderr, "oracle: %s: %d\n", what, error);
	_exit(99);
}

void log_open(void)
{
	the_log.bytes =
		mmap(NULL, LOG_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (the_log.bytes == MAP_FAILED)
		die("no memory for the log", errno);
}

void *log_reserve(size_t bytes, uint32_t type)
{
	size_t rounded = (bytes + 7) & ~7UL, at = atomic_fetch_add(&the_log.used, rounded);
	struct log_head *h = (void *)(the_log.bytes + at);

	if (at + rounded > LOG_BYTES)
		die("log is full", 0);
	h->size = (uint32_t)rounded;
	h->type = type;
	return h;
}

static bool seen_before(jmethodID m)
{
	uint32_t at = (uint32_t)(((uintptr_t)m >> 3) * 0x9e3779b9U) % SEEN_METHODS;

	for (;; at = (at + 1) % SEEN_METHODS) {
		jmethodID there = NULL;

		if (atomic_compare_exchange_strong(&the_log.seen[at], &there, m))
			return false;
		if (there == m)
			return true;
	}
}

void log_method_once(jvmtiEnv *ti, JNIEnv *jni, jmethodID m)
{
	jvmtiLineNumberEntry *lines = NULL;
	char *text[3] = {0}, *to;
	jint line_count = 0, modifiers = 0;
	struct log_method *r;
	jclass class = NULL;
	size_t bytes = 0;
	jvmtiError e;

	if (seen_before(m))
		return;
	e = (*ti)->GetMethodDeclaringClass(ti, m, &class);
	e = e ? e : (*ti)->GetClassSignature(ti, class, &text[0], NULL);
	e = e ? e : (*ti)->GetMethodName(ti, m, &text[1], &text[2], NULL);
	e = e ? e : (*ti)->GetMethodModifiers(ti, m, &modifiers);
	if (e)
		die("names of a method", (int)e);
	if ((*ti)->GetLineNumberTable(ti, m, &line_count, &lines))
		line_count = 0;
	for (int i = 0; i < 3; i++)
		bytes += strlen(text[i]);
	r = log_reserve(sizeof(*r) + (size_t)line_count * 8 + bytes, LOG_METHOD);
	r->method = (uintptr_t)m;
	r->modifiers = (uint32_t)modifiers;
	r->line_count = (uint32_t)line_count;
	to = (char *)(r + 1);
	for (jint i = 0; i < line_count; i++, to += 8)
		memcpy(to, (uint32_t[]){(uint32_t)lines[i].start_location, (uint32_t)lines[i].line_number}, 8);
	for (int i = 0; i < 3; i++) {
		r->lengths[i] = (uint16_t)strlen(text[i]);
		memcpy(to, text[i], r->lengths[i]);
		to += r->lengths[i];
		(*ti)->Deallocate(ti, (unsigned char *)text[i]);
	}
	if (lines)
		(*ti)->Deallocate(ti, (unsigned char *)lines);
	(*jni)->DeleteLocalRef(jni, class);
}

void log_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	size_t used = atomic_load(&the_log.used), done = 0;

	while (fd >= 0 && done < used) {
		ssize_t n = write(fd, the_log.bytes + done, used - done);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	if (fd < 0 || close(fd) || done < used)
		die("cannot write the log", 0);
}
