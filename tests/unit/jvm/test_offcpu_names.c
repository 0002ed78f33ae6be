// SPDX-License-Identifier: Apache-2.0
/* Tests of the text for what threads wait for and for what wakes them, including what no kernel would send. */
#include "jvm/offcpu_names.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

Suite *test_offcpu_names(void);

static bool text_of(uint32_t kind, const void *bytes, size_t size, char to[OBJECT_TEXT_MAX])
{
	char from[BRAID_TEXT_MAX] = "";

	memcpy(from, bytes, size);
	return object_text(kind, from, to);
}

#define CHECK_OBJECT(kind, bytes, wanted)                                                                              \
	do {                                                                                                           \
		char to[OBJECT_TEXT_MAX];                                                                              \
		ck_assert(text_of(kind, bytes, sizeof(bytes) - 1, to));                                                \
		ck_assert_str_eq(to, wanted);                                                                          \
	} while (0)

#define LONG_NAME "0123456789012345678901234567890123456789012345678901234567890123"

START_TEST(paths_begin_with_their_last_part)
{
	CHECK_OBJECT(BRAID_OBJECT_PATH, "app.log\0log\0var\0", "/var/log/app.log");
	CHECK_OBJECT(BRAID_OBJECT_PATH_CUT, "app.log\0log\0", ".../log/app.log");
	CHECK_OBJECT(BRAID_OBJECT_PATH, "a\x1b[31m\n\0b\0", "/b/a?[31m?");
	CHECK_OBJECT(BRAID_OBJECT_NAME, "[eventfd]\0", "[eventfd]");
	CHECK_OBJECT(BRAID_OBJECT_PIPE, "", "pipe");
}
END_TEST

/* The last part can fill the text, but the kernel side ends it. */
START_TEST(parts_without_an_end_are_left_out)
{
	char to[OBJECT_TEXT_MAX];

	ck_assert(!text_of(BRAID_OBJECT_PATH_CUT, LONG_NAME, BRAID_TEXT_MAX, to));
	ck_assert(text_of(BRAID_OBJECT_PATH_CUT, "x\0" LONG_NAME, BRAID_TEXT_MAX, to));
	ck_assert_str_eq(to, ".../x");
	ck_assert(!text_of(BRAID_OBJECT_PATH, "", 0, to));
	ck_assert(!text_of(BRAID_OBJECT_UNIX + 1, "x", 1, to));
}
END_TEST

START_TEST(addresses)
{
	CHECK_OBJECT(BRAID_OBJECT_INET, "\x7f\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\x50", "127.0.0.1:80");
	CHECK_OBJECT(BRAID_OBJECT_INET6, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x1f\x90", "[::1]:8080");
	CHECK_OBJECT(BRAID_OBJECT_INET6, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\x02\x1f\x90", "10.0.0.2:8080");
	CHECK_OBJECT(BRAID_OBJECT_UNIX, "/run/x", "unix:/run/x");
	CHECK_OBJECT(BRAID_OBJECT_UNIX, "\0bus", "unix:@bus");
}
END_TEST

static struct irq_names irqs;

START_TEST(wakers)
{
	struct braid_event_jvm_event e = {.event.detail = BRAID_IRQ_TIMER};
	char to[WAKER_TEXT_MAX];

	ck_assert(offcpu_waker(&irqs, &e, to));
	ck_assert_str_eq(to, "timer");
	e.event.detail = BRAID_IRQ_SOFT | 3;
	ck_assert(offcpu_waker(&irqs, &e, to));
	ck_assert_str_eq(to, "softirq net_rx");
	e.event.detail = BRAID_IRQ_SOFT | 0xffffff;
	ck_assert(offcpu_waker(&irqs, &e, to));
	ck_assert_str_eq(to, "softirq other");
	e.event.detail = BRAID_IRQ_DEVICE | 0xfffffe; /* no machine has so many */
	ck_assert(offcpu_waker(&irqs, &e, to));
	ck_assert_str_eq(to, "irq 16777214");
	e.event.detail = 0;
	ck_assert(!offcpu_waker(&irqs, &e, to));
	e.other_pid = e.event.other_tid = 0x7ffffffe;
	ck_assert(offcpu_waker(&irqs, &e, to));
	ck_assert_str_eq(to, "[2147483646]");
}
END_TEST

START_TEST(names_of_interrupts_are_kept_for_a_second)
{
	struct braid_event_jvm_event e = {.event.detail = BRAID_IRQ_DEVICE | 0xfffffe, .hdr.time_ns = 5000000000};
	struct irq_name *n = &irqs.at[0xfffffe % IRQ_NAMES];
	char to[WAKER_TEXT_MAX];

	*n = (struct irq_name){.number = 0xfffffe + 1, .read_ns = 4000000000, .name = "nvme0q1"};
	ck_assert(offcpu_waker(&irqs, &e, to));
	ck_assert_str_eq(to, "irq nvme0q1");
	e.event.detail -= IRQ_NAMES; /* has the same place */
	ck_assert(offcpu_waker(&irqs, &e, to));
	ck_assert_str_eq(to, "irq 16776958");
	*n = (struct irq_name){.number = 0xfffffe + 1, .read_ns = 3999999999, .name = "nvme0q1"};
	e.event.detail += IRQ_NAMES;
	ck_assert(offcpu_waker(&irqs, &e, to));
	ck_assert_str_eq(to, "irq 16777214");
	ck_assert_uint_eq(n->read_ns, 5000000000);
}
END_TEST

Suite *test_offcpu_names(void)
{
	Suite *suite = suite_create("offcpu_names");
	TCase *tc = tcase_create("offcpu_names");

	tcase_add_test(tc, paths_begin_with_their_last_part);
	tcase_add_test(tc, parts_without_an_end_are_left_out);
	tcase_add_test(tc, addresses);
	tcase_add_test(tc, wakers);
	tcase_add_test(tc, names_of_interrupts_are_kept_for_a_second);
	suite_add_tcase(suite, tc);
	return suite;
}
