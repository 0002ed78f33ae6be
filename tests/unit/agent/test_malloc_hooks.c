// SPDX-License-Identifier: Apache-2.0
/* Tests of when the hooks of native allocations are set, and in which objects: in this program itself. */
#include "fake_jvmti.h"
#include "recorder.h"

#include "core/state.h"
#include "events/handlers.h"
#include "malloc/hooks.h"
#include "malloc/malloc.h"

#include <check.h>
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAGE 4096UL
#define TICKS 10 /* more than the agent waits for the linker */

Suite *test_malloc_hooks(void);

static const struct braid_event_config malloc_config = {.enabled = BRAID_EVENT_TYPE(MALLOC),
							.malloc_interval = 1 << 30};

/* ---- objects ---- */

/* A library that is loaded (objects/). */
struct object {
	void *handle;
	void *(*take)(size_t size);
	void (*give)(void *p);
	uintptr_t relro, end;
};

static int find_relro(struct dl_phdr_info *info, size_t size, void *data)
{
	struct object *o = data;
	struct link_map *map = o->handle;

	(void)size;
	for (size_t i = 0; info->dlpi_addr == map->l_addr && i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO) {
			o->relro = (map->l_addr + info->dlpi_phdr[i].p_vaddr) & -PAGE;
			o->end = map->l_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
		}
	return 0;
}

static struct object object_load(const char *name, int flags)
{
	struct object o = {0};
	char path[512];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

	ck_assert_int_gt(size, 0);
	path[size] = '\0';
	snprintf(strrchr(path, '/') + 1, 128, "tests/unit/agent/objects/%s.so", name);
	o.handle = dlopen(path, RTLD_NOW | flags);
	ck_assert_msg(o.handle, "%s", dlerror());
	*(void **)&o.take = dlsym(o.handle, "take");
	*(void **)&o.give = dlsym(o.handle, "give");
	dl_iterate_phdr(find_relro, &o);
	ck_assert_uint_ne(o.relro, 0);
	ck_assert_uint_eq(o.end % PAGE, 0);
	return o;
}

/* How many of its slots lead to a hook. */
static int hooks_of(const struct object *o)
{
	int count = 0;

	for (const uintptr_t *at = (const uintptr_t *)o->relro; (uintptr_t)at < o->end; at++)
		for (int i = 0; i < MALLOC_FUNCTIONS; i++)
			count += *at == malloc_functions[i].hook;
	return count;
}

/* The table is in the last page. */
static void table_protect(const struct object *o, int access)
{
	ck_assert_int_eq(mprotect((void *)(o->end - PAGE), PAGE, access), 0);
}

static bool is_writable(uintptr_t address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	uintptr_t from, to;
	char line[512], access[8];
	bool found = false;

	ck_assert_ptr_nonnull(maps);
	while (!found && fgets(line, sizeof(line), maps))
		found = sscanf(line, "%lx-%lx %7s", &from, &to, access) == 3 && address >= from && address < to;
	fclose(maps);
	ck_assert(found);
	return access[1] == 'w';
}

static void begin(struct recorder *r)
{
	recorder_begin(r, &malloc_config);
	malloc_kind.start(&malloc_config);
}

static void end(struct recorder *r)
{
	malloc_kind.stop(&fake_jni);
	recorder_close(r);
}

static void ticks(int count)
{
	for (int i = 0; i < count; i++)
		malloc_kind.tick(&fake_jni);
}

START_TEST(read_only_pages_are_so_afterwards)
{
	struct object o = object_load("calls_pages", 0);
	struct recorder r;

	ck_assert_uint_ge(o.end - o.relro, 2 * PAGE);
	begin(&r);
	ck_assert_int_eq(hooks_of(&o), 2);
	ck_assert(!is_writable(o.relro) && !is_writable(o.end - PAGE));
	end(&r);
	ck_assert_int_eq(hooks_of(&o), 0);
	ck_assert(!is_writable(o.relro) && !is_writable(o.end - PAGE));
}
END_TEST

/* Another tool stores into the page later, without a look at it. */
START_TEST(a_page_that_another_tool_writes_stays_writable)
{
	struct object o = object_load("calls_pages", 0);
	struct recorder r;

	table_protect(&o, PROT_READ | PROT_WRITE);
	begin(&r);
	ck_assert_int_eq(hooks_of(&o), 2);
	ck_assert(!is_writable(o.relro) && is_writable(o.end - PAGE));
	end(&r);
	ck_assert_int_eq(hooks_of(&o), 0);
	ck_assert(!is_writable(o.relro) && is_writable(o.end - PAGE));
}
END_TEST

/* While it is loaded, an object is all writable, and the linker will still write to it. */
START_TEST(an_object_that_stays_writable_is_not_being_loaded)
{
	struct object o = object_load("calls", 0);
	struct recorder r;

	ck_assert_uint_eq(o.end - o.relro, PAGE);
	table_protect(&o, PROT_READ | PROT_WRITE);
	begin(&r);
	ticks(1);
	ck_assert_int_eq(hooks_of(&o), 0);
	ticks(TICKS);
	ck_assert_int_eq(hooks_of(&o), 2);
	ck_assert(is_writable(o.relro));
	end(&r);
	ck_assert_int_eq(hooks_of(&o), 0);
	ck_assert(is_writable(o.relro));
}
END_TEST

START_TEST(slots_are_put_back_in_pages_that_became_writable)
{
	struct object o = object_load("calls", 0);
	struct recorder r;

	begin(&r);
	ck_assert_int_eq(hooks_of(&o), 2);
	table_protect(&o, PROT_READ | PROT_WRITE);
	end(&r);
	ck_assert_int_eq(hooks_of(&o), 0);
}
END_TEST

/* Without a descriptor, nobody knows what the pages are. */
START_TEST(slots_that_stay_changed_are_reported)
{
	struct object o = object_load("calls", 0);
	struct rlimit before, none;
	struct recorder r;

	begin(&r);
	recorder_skip(&r);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	malloc_kind.stop(&fake_jni);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_int_eq(hooks_of(&o), 2);
	ck_assert_uint_eq(recorder_notices(&r, "cannot be changed back"), 1);
	o.give(o.take(100));
	recorder_close(&r);
}
END_TEST

/* Its blocks are its own allocator's, before the recording, during it and afterwards. */
START_TEST(an_object_with_its_own_allocator_keeps_it)
{
	struct object o;
	const _Atomic int *blocks;
	void *block;
	struct recorder r;

	if (dlsym(RTLD_DEFAULT, "__asan_init")) /* it ends the program for RTLD_DEEPBIND */
		return;
	o = object_load("defines", RTLD_DEEPBIND);
	blocks = dlsym(o.handle, "blocks");
	block = o.take(100);
	ck_assert_int_eq(*blocks, 1);
	begin(&r);
	ticks(TICKS);
	ck_assert_int_eq(hooks_of(&o), 0);
	o.give(block);
	ck_assert_int_eq(*blocks, 0);
	o.give(o.take(100));
	end(&r);
	ck_assert_int_eq(*blocks, 0);
}
END_TEST

/* ---- filters ---- */

struct filtered {
	pthread_t thread;
	sem_t ready, go_on;
};

/* A filter of this thread alone. It allows everything: the agent cannot know that. */
static void *filter_itself(void *arg)
{
	struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog program = {.len = 1, .filter = allow};
	struct filtered *f = arg;

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
	sem_post(&f->ready);
	sem_wait(&f->go_on);
	return NULL;
}

static void filtered_start(struct filtered *f)
{
	sem_init(&f->ready, 0, 0);
	sem_init(&f->go_on, 0, 0);
	ck_assert_int_eq(pthread_create(&f->thread, NULL, filter_itself, f), 0);
	sem_wait(&f->ready);
}

static void filtered_end(struct filtered *f)
{
	sem_post(&f->go_on);
	pthread_join(f->thread, NULL);
}

START_TEST(no_hooks_while_a_thread_has_its_own_filter)
{
	struct object o = object_load("calls", 0);
	struct filtered f;
	struct recorder r;

	filtered_start(&f);
	begin(&r);
	ticks(1);
	ck_assert_int_eq(hooks_of(&o), 0);
	ck_assert_uint_ge(recorder_notices(&r, "seccomp filter, which may kill"), 1);
	filtered_end(&f);
	malloc_kind.start(&malloc_config);
	ck_assert_int_eq(hooks_of(&o), 2);
	end(&r);
}
END_TEST

START_TEST(hooks_are_taken_out_for_a_filter)
{
	struct object o = object_load("calls", 0);
	struct filtered f;
	struct recorder r;

	begin(&r);
	ticks(1);
	ck_assert_int_eq(hooks_of(&o), 2);
	recorder_skip(&r);
	filtered_start(&f);
	ticks(2);
	ck_assert_int_eq(hooks_of(&o), 0);
	ck_assert_uint_eq(recorder_notices(&r, "seccomp filter, which may kill"), 1);
	filtered_end(&f);
	end(&r);
}
END_TEST

/* ---- new code ---- */

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
	pthread_t threads[2];
	unsigned early = 2;
	struct recorder r;

	begin(&r);
	ck_assert(atomic_load(&natives_on_code));
	sem_init(&code_bound, 0, 0);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, bind_code, NULL), 0);
	dl_iterate_phdr(bind_under_lock, &early);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(early, 0);
	ck_assert_uint_eq(atomic_load(&looks), 2);
	end(&r);
}
END_TEST

Suite *test_malloc_hooks(void)
{
	Suite *s = suite_create("hooks of malloc");
	TCase *t = tcase_create("hooks of malloc");

	tcase_add_test(t, read_only_pages_are_so_afterwards);
	tcase_add_test(t, a_page_that_another_tool_writes_stays_writable);
	tcase_add_test(t, an_object_that_stays_writable_is_not_being_loaded);
	tcase_add_test(t, slots_are_put_back_in_pages_that_became_writable);
	tcase_add_test(t, slots_that_stay_changed_are_reported);
	tcase_add_test(t, an_object_with_its_own_allocator_keeps_it);
	tcase_add_test(t, no_hooks_while_a_thread_has_its_own_filter);
	tcase_add_test(t, hooks_are_taken_out_for_a_filter);
	tcase_add_test(t, new_code_is_not_called_before_its_slots_are_changed);
	suite_add_tcase(s, t);
	return s;
}
