// SPDX-License-Identifier: Apache-2.0
/* Tests of work in a process of its own: it can be ended by its time, whatever the recorder does with that signal. */
#include "util/apart.h"

#include <check.h>
#include <signal.h>
#include <unistd.h>

Suite *test_apart(void);

struct seen {
	pid_t pid;
	sigset_t blocked;
	struct sigaction action;
	unsigned int left;
};

static void look(void *ctx)
{
	struct seen *s = ctx;

	s->pid = getpid();
	(void)sigprocmask(SIG_BLOCK, NULL, &s->blocked);
	(void)sigaction(SIGALRM, NULL, &s->action);
	s->left = alarm(0);
}

START_TEST(has_an_end)
{
	struct sigaction action;
	struct seen s = {0};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigaddset(&set, SIGTERM);
	ck_assert_int_eq(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	signal(SIGALRM, SIG_IGN);
	apart_run(look, &s);
	ck_assert_int_gt(s.pid, 0);
	ck_assert_int_ne(s.pid, getpid());
	ck_assert_uint_gt(s.left, 0);
	ck_assert(!sigismember(&s.blocked, SIGALRM));
	ck_assert(sigismember(&s.blocked, SIGTERM)); /* work is brought to its end */
	ck_assert_ptr_eq(s.action.sa_handler, SIG_DFL);

	ck_assert_int_eq(sigprocmask(SIG_BLOCK, NULL, &set), 0); /* here nothing has changed */
	ck_assert(sigismember(&set, SIGALRM));
	ck_assert_int_eq(sigaction(SIGALRM, NULL, &action), 0);
	ck_assert_ptr_eq(action.sa_handler, SIG_IGN);
}
END_TEST

Suite *test_apart(void)
{
	Suite *s = suite_create("apart");
	TCase *t = tcase_create("apart");

	tcase_add_test(t, has_an_end);
	suite_add_tcase(s, t);
	return s;
}
