// SPDX-License-Identifier: Apache-2.0
/*
 * stackcost FRAMES same|changing warm|cold: makes stacks of a known depth, without frame pointers, on every CPU, until
 * it is killed. It is also the native half of java/StackCost.java. "changing": functions and return addresses change
 * from the first frame on, several times between two ticks at 999 Hz. "cold": the leaf reads more memory than fits into
 * caches.
 */
#include <jni.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define COLD_BYTES (96UL << 20)
#define STAY_NS 150000LL
#define KEEP_FRAME() __asm__ volatile("" ::: "memory") /* work after a call, so that it is no tail call */

static unsigned char *cold;
static int changing, ready;
static jclass java_class;
static jmethodID java_mixed;

static uint64_t random_next(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	return x ^ x << 17;
}

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

__attribute__((noinline)) static unsigned spin(unsigned x, uint64_t at)
{
	if (cold) {
		/* a line of another page each time */
		for (int i = 0; i < 4000; i++) {
			at = (at + 4096 + 64) % COLD_BYTES;
			x += cold[at];
		}
		return x;
	}
	for (int i = 0; i < 20000; i++)
		x = x * 2654435761U + 1;
	return x;
}

__attribute__((noinline)) static unsigned leaf(void)
{
	static __thread uint64_t at;
	long long end = now_ns() + STAY_NS;
	unsigned x = 1;

	do {
		x = spin(x, at);
		at = (at + 4000 * (4096 + 64)) % COLD_BYTES;
	} while (!changing || now_ns() < end);
	return x;
}

typedef unsigned (*function)(int depth, uint64_t path);
static const function functions[32];

#define FUNCTION(n)                                                                                                    \
	__attribute__((noinline)) static unsigned f##n(int depth, uint64_t path)                                       \
	{                                                                                                              \
		volatile char room[16 + 16 * (n % 7)];                                                                 \
		unsigned x;                                                                                            \
                                                                                                                       \
		room[0] = (char)path;                                                                                  \
		path = random_next(path);                                                                              \
		x = depth <= 0 ? leaf() : functions[path % 32](depth - 1, path);                                       \
		KEEP_FRAME();                                                                                          \
		return x * 3 + (unsigned)n + (unsigned)room[0];                                                        \
	}
#define FUNCTIONS_8(a, b, c, d, e, f, g, h)                                                                            \
	FUNCTION(a) FUNCTION(b) FUNCTION(c) FUNCTION(d) FUNCTION(e) FUNCTION(f) FUNCTION(g) FUNCTION(h)

/* clang-format off */
FUNCTIONS_8(0, 1, 2, 3, 4, 5, 6, 7)
FUNCTIONS_8(8, 9, 10, 11, 12, 13, 14, 15)
FUNCTIONS_8(16, 17, 18, 19, 20, 21, 22, 23)
FUNCTIONS_8(24, 25, 26, 27, 28, 29, 30, 31)

static const function functions[32] = {f0,  f1,	 f2,  f3,  f4,	f5,  f6,  f7,  f8,  f9,	 f10, f11, f12, f13, f14, f15,
				       f16, f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31};
/* clang-format on */

static void set_up(int is_changing, int is_cold)
{
	changing = is_changing;
	ready = 1;
	if (!is_cold)
		return;
	cold = malloc(COLD_BYTES);
	if (!cold)
		abort();
	memset(cold, 1, COLD_BYTES);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		perror("stackcost: sched_setaffinity");
}

/* ---- from Java ---- */

JNIEXPORT void JNICALL Java_StackCost_bind(JNIEnv *env, jclass class)
{
	java_class = (*env)->NewGlobalRef(env, class);
	java_mixed = (*env)->GetStaticMethodID(env, class, "mixed", "(IJ)I");
	if (!java_class || !java_mixed)
		abort();
}

/* Before that, leaf() returns at once. */
JNIEXPORT void JNICALL Java_StackCost_begin(JNIEnv *env, jclass class, jboolean is_changing, jboolean is_cold)
{
	(void)env;
	(void)class;
	set_up(is_changing, is_cold);
}

JNIEXPORT void JNICALL Java_StackCost_pin(JNIEnv *env, jclass class, jint cpu)
{
	(void)env;
	(void)class;
	pin(cpu);
}

__attribute__((noinline)) static jint call_java(JNIEnv *env, jint depth, jlong path)
{
	jint x = (*env)->CallStaticIntMethod(env, java_class, java_mixed, depth, path);

	KEEP_FRAME();
	return x;
}

JNIEXPORT jint JNICALL Java_StackCost_across(JNIEnv *env, jclass class, jint depth, jlong path)
{
	jint x = call_java(env, depth, path);

	(void)class;
	KEEP_FRAME();
	return x;
}

JNIEXPORT jint JNICALL Java_StackCost_leaf(JNIEnv *env, jclass class)
{
	(void)env;
	(void)class;
	return ready ? (jint)leaf() : 0;
}

/* ---- alone ---- */

static int depth;

static void *run(void *arg)
{
	uint64_t path = 88172645463325252ULL;
	unsigned x = 0;

	pin((int)(intptr_t)arg);
	for (;;) {
		path = random_next(path);
		x += functions[path % 32](depth, path);
	}
	return (void *)(uintptr_t)x;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread;

	if (argc != 4) {
		fprintf(stderr, "usage: stackcost FRAMES same|changing warm|cold\n");
		return EXIT_FAILURE;
	}
	depth = atoi(argv[1]);
	set_up(strcmp(argv[2], "changing") == 0, strcmp(argv[3], "cold") == 0);
	for (long i = 0; i < cpus; i++)
		if (pthread_create(&thread, NULL, run, (void *)(intptr_t)i))
			return EXIT_FAILURE;
	puts("ready");
	fflush(stdout);
	pause();
	return EXIT_SUCCESS;
}
