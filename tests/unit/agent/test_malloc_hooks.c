// SPDX-License-Identifier: Apache-2.0
/* Tests of when the hooks of native allocations are set: in this program itself. */
#include "fake_jvmti.h"
#include "recorder.h"

#include "events/handlers.h"
#include "malloc/malloc.h"

#include <check.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

Suite *test_malloc_hooks(void);

static sem_t code_bound;
static atomic_uint looks;

/* A thread on which a native method is bound. */
static void *bind_code(void *arg)
{
	(void)arg;
	sem_wait(&code_bound);
	atomic_load (&natives_on_code)();
	atomic_fetch_add(&looks, 1);
	return NULL;
}

/* Under the linker's lock, without which nobody can look at the objects. */
static int bind_under_lock(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info;
	(void)size;
	sem_post(&code_bound);
	sem_post(&code_bound);
	usleep(50000);
	*(unsigned *)data = atomic_load(&looks);
	return 1;
}

/* Neither of two threads goes on to its new code before the slots are changed, by itself or by the other one. */
START_TEST(new_code_is_not_called_before_its_slots_are_changed)
{
	static const struct braid_event_config c = {.enabled = BRAID_EVENT_TYPE(MALLOC), .malloc_interval = 1 << 30};
	pthread_t threads[2];
	unsigned early = 2;
	struct recorder r;

	recorder_begin(&r, &c);
	malloc_kind.start(&c);
	ck_assert(atomic_load(&natives_on_code));
	sem_init(&code_bound, 0, 0);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, bind_code, NULL), 0);
	dl_iterate_phdr(bind_under_lock, &early);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(early, 0);
	ck_assert_uint_eq(atomic_load(&looks), 2);
	malloc_kind.stop(&fake_jni);
	recorder_close(&r);
}
END_TEST

Suite *test_malloc_hooks(void)
{
	Suite *s = suite_create("hooks of malloc");
	TCase *t = tcase_create("hooks of malloc");

	tcase_add_test(t, new_code_is_not_called_before_its_slots_are_changed);
	suite_add_tcase(s, t);
	return s;
}
