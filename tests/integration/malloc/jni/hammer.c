/* SPDX-License-Identifier: Apache-2.0 */
/* The native part of Hammer.java. */
#define _GNU_SOURCE
#include "Hammer.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BLOCKS 256
#define SHARED 64

struct block {
	uint32_t size;
	uint32_t check;
};

/* What one thread allocates and another one frees. */
static void *_Atomic shared[SHARED];

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void *fill(void *p, uint32_t size)
{
	struct block *b = p;

	if (b) {
		*b = (struct block){size, size ^ 0xb1a1d};
		((unsigned char *)p)[size - 1] = (unsigned char)size;
	}
	return p;
}

static long check(void *p)
{
	const struct block *b = p;

	return p && (b->check != (b->size ^ 0xb1a1d) ||
		     (b->size > sizeof(*b) && ((unsigned char *)p)[b->size - 1] != (unsigned char)b->size));
}

static void *allocate(uint64_t random, uint32_t size)
{
	void *p = NULL;

	switch (random % 8) {
	case 0:
		return calloc(1, size);
	case 1:
		return posix_memalign(&p, 64, size) ? NULL : p;
	case 2:
		return aligned_alloc(64, size & ~63U ?: 64);
	case 3:
		return memalign(32, size);
	default:
		return malloc(size);
	}
}

static long step(void **blocks, uint64_t *state)
{
	uint64_t random = next(state);
	uint32_t size = 64 + (uint32_t)(random >> 40) % (random % 128 ? 1000 : 100000);
	void **at = &blocks[random >> 8 & (BLOCKS - 1)], *was = *at;
	long damaged = check(was);

	if (random % 4 == 0 && was) {
		*at = fill(realloc(was, size), size);
		return damaged;
	}
	if (random % 16 == 1)
		was = atomic_exchange(&shared[random >> 20 & (SHARED - 1)], was);
	free(was);
	*at = fill(allocate(random >> 32, (size + 63) & ~63U), size & ~63U ?: 64);
	return damaged;
}

static long work(long operations, uint64_t seed)
{
	void *blocks[BLOCKS] = {0};
	uint64_t state = seed * 0x9e3779b97f4a7c15ULL | 1;
	long damaged = 0;

	for (long i = 0; i < operations; i++)
		damaged += step(blocks, &state);
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	return damaged;
}

jlong JNICALL Java_Hammer_work(JNIEnv *env, jclass class, jlong operations, jlong seed)
{
	(void)env;
	(void)class;
	return work((long)operations, (uint64_t)seed);
}

struct part {
	long operations, damaged;
	uint64_t seed;
};

static void *part_main(void *arg)
{
	struct part *p = arg;

	p->damaged = work(p->operations, p->seed);
	return NULL;
}

/* In several threads one after the other, which begin and end. */
jlong JNICALL Java_Hammer_foreignWork(JNIEnv *env, jclass class, jlong operations, jlong seed)
{
	enum { PARTS = 4 };
	struct part p = {.operations = (long)operations / PARTS, .seed = (uint64_t)seed};
	long damaged = 0;
	pthread_t thread;

	(void)env;
	(void)class;
	for (int i = 0; i < PARTS; i++, p.seed += 1000) {
		if (pthread_create(&thread, NULL, part_main, &p) || pthread_join(thread, NULL))
			return -1;
		damaged += p.damaged;
	}
	return damaged;
}

static _Atomic int stopped;

jlong JNICALL Java_Hammer_loadAgain(JNIEnv *env, jclass class, jstring library)
{
	const char *path = (*env)->GetStringUTFChars(env, library, NULL);
	long times = 0;

	(void)class;
	for (; path && !atomic_load(&stopped); times++) {
		void *handle = dlopen(path, times % 2 ? RTLD_NOW : RTLD_LAZY);
		void *(*function)(unsigned long) =
			handle ? (void *(*)(unsigned long))dlsym(handle, "loaded_allocate") : NULL;

		if (function)
			free(function(100 + (unsigned long)times % 100));
		if (!handle || !function || dlclose(handle))
			return -1;
		usleep(500); /* recorders of other programs read each mapping, too */
	}
	(*env)->ReleaseStringUTFChars(env, library, path);
	return times;
}

void JNICALL Java_Hammer_stopLoading(JNIEnv *env, jclass class)
{
	(void)env;
	(void)class;
	atomic_store(&stopped, 1);
}

jdouble JNICALL Java_Hammer_pair(JNIEnv *env, jclass class, jlong count)
{
	struct timespec from, to;

	(void)env;
	(void)class;
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (long i = 0; i < count; i++) {
		void *p = malloc(64);

		__asm__ volatile("" : "+r"(p)::"memory");
		free(p);
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / (double)count;
}
