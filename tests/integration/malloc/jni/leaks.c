/* SPDX-License-Identifier: Apache-2.0 */
/* The native allocations of Leaks.java. */
#define _GNU_SOURCE
#include "Leaks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Work after a call, so that it is no tail call. */
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")
#define PIECE 1024
#define KEPT 64

static void *volatile lost;

__attribute__((noinline)) static void leak_large(long kib)
{
	for (long i = 0; i < kib; i++)
		lost = malloc(PIECE);
	KEEP_FRAME();
}

__attribute__((noinline)) static void leak_middle(long kib)
{
	for (long i = 0; i < kib / 64; i++)
		lost = calloc(64, PIECE);
	KEEP_FRAME();
}

/* What grows leaks once. */
__attribute__((noinline)) static void leak_small(long kib)
{
	void *p = NULL;

	for (long i = 0; i < kib; i++) {
		p = realloc(NULL, PIECE / 4);
		lost = realloc(p, PIECE);
	}
	KEEP_FRAME();
}

__attribute__((noinline)) static void make_noise(long kib)
{
	void *kept[KEPT] = {0};

	for (long i = 0; i < kib; i++) {
		free(kept[i % KEPT]);
		kept[i % KEPT] = malloc(PIECE);
	}
	for (int i = 0; i < KEPT; i++)
		free(kept[i]);
	KEEP_FRAME();
}

static void *foreign_main(void *arg)
{
	make_noise(*(long *)arg);
	KEEP_FRAME();
	return NULL;
}

void JNICALL Java_Leaks_large(JNIEnv *env, jclass class, jlong kib)
{
	(void)env;
	(void)class;
	leak_large((long)kib);
	KEEP_FRAME();
}

void JNICALL Java_Leaks_middle(JNIEnv *env, jclass class, jlong kib)
{
	(void)env;
	(void)class;
	leak_middle((long)kib);
	KEEP_FRAME();
}

void JNICALL Java_Leaks_small(JNIEnv *env, jclass class, jlong kib)
{
	(void)env;
	(void)class;
	leak_small((long)kib);
	KEEP_FRAME();
}

void JNICALL Java_Leaks_noise(JNIEnv *env, jclass class, jlong kib)
{
	(void)env;
	(void)class;
	make_noise((long)kib);
	KEEP_FRAME();
}

void JNICALL Java_Leaks_foreign(JNIEnv *env, jclass class, jlong kib)
{
	long all = (long)kib;
	pthread_t thread;

	(void)env;
	(void)class;
	if (!pthread_create(&thread, NULL, foreign_main, &all))
		pthread_join(thread, NULL);
	KEEP_FRAME();
}
