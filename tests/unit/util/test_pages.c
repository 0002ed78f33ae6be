// SPDX-License-Identifier: Apache-2.0
/* Tests of memory in large pages. */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <util/pages.h>

Suite *test_pages(void);

/* Whatever the size, all of it can be written, and realloc() and free() know it. */
START_TEST(as_malloc)
{
	size_t sizes[] = {1, 4096, 1UL << 20, (1UL << 20) + 1, (2UL << 20) - 1, 2UL << 20, (3UL << 20) + 4097};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		unsigned char *p = pages_alloc(sizes[i]), *less;

		ck_assert_ptr_nonnull(p);
		memset(p, 0x5a, sizes[i]);
		less = realloc(p, sizes[i] / 2 + 1);
		ck_assert_ptr_nonnull(less);
		ck_assert_uint_eq(less[0], 0x5a);
		ck_assert_uint_eq(less[sizes[i] / 2], 0x5a);
		free(less);
	}
	free(pages_alloc(0));
}
END_TEST

START_TEST(sizes_that_nobody_has)
{
	ck_assert_ptr_null(pages_alloc(SIZE_MAX));
	ck_assert_ptr_null(pages_alloc(SIZE_MAX - (2UL << 20)));
	ck_assert_ptr_null(pages_alloc(PTRDIFF_MAX));
}
END_TEST

Suite *test_pages(void)
{
	Suite *s = suite_create("pages");
	TCase *tc = tcase_create("pages");

	tcase_add_test(tc, as_malloc);
	tcase_add_test(tc, sizes_that_nobody_has);
	suite_add_tcase(s, tc);
	return s;
}
