// SPDX-License-Identifier: Apache-2.0
/*
 * spancost [LIBRARY [empty]]: on every CPU a thread that burns CPU time, until it is killed, in a span by the variable
 * of LIBRARY; or, with "empty", without a span. LIBRARY is this file, too.
 */
#include <braid/context.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct braid_context_record **variable(void);

#ifdef LIBRARY
extern __thread struct braid_context_record *otel_thread_ctx_v1;
__thread struct braid_context_record *otel_thread_ctx_v1;
__thread char more[LIBRARY]; /* a large block is never at a fixed place */
variable spancost_variable;

struct braid_context_record **spancost_variable(void)
{
	more[0] = 1;
	return &otel_thread_ctx_v1;
}
#else

static variable *find;

static void *burn(void *arg)
{
	struct braid_context_record r = {.valid = 1};

	memset(r.trace, 1, sizeof(r.trace));
	r.span[7] = (unsigned char)(size_t)arg;
	if (find)
		*find() = arg ? &r : NULL;
	__asm__ volatile("" ::: "memory"); /* the record is read, although not by this program */
	for (volatile unsigned x = 1;; x = x * 2654435761U + 1)
		;
	return NULL;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	pthread_t t;

	if (argc > 1 && (!library || !(find = (variable *)dlsym(library, "spancost_variable")))) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	for (long i = 1; i <= cpus; i++)
		pthread_create(&t, NULL, burn, argc == 2 ? (void *)i : NULL);
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
#endif
