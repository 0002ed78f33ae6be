// SPDX-License-Identifier: Apache-2.0
/*
 * Fuzzes the rewriting of class files: the input is one, and all of its methods are chosen, most with values, and all
 * writes to fields. What comes out must be rewritten again in the same way. `make fuzz` builds and runs it.
 */
#include <stdint.h>

#include "rewrite/rewrite.h"

#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Small ids, and some that are constants of the pool. */
static bool choose(void *ctx, const struct rewrite_method *m, struct rewrite_choice *to)
{
	uint32_t *count = ctx;

	to->id = ++*count % 3 ? *count : 100000 + *count;
	to->count = *count % (REWRITE_VALUES + 1);
	for (uint32_t i = 0; i < to->count; i++)
		to->values[i] = i == 1 ? (struct rewrite_value){.field = m->name}
				       : (struct rewrite_value){.argument = *count % 7 + 1, .length = *count & 8};
	return true;
}

static bool may_choose_write(void *ctx, const struct rewrite_field *f)
{
	(void)ctx;
	(void)f;
	return true;
}

static bool choose_write(void *ctx, const struct rewrite_field *f, const struct rewrite_method *by,
			 struct rewrite_write *to)
{
	uint32_t *count = ctx;

	(void)f;
	(void)by;
	*to = (struct rewrite_write){.id = ++*count, .now = *count & 1, .before = *count & 2};
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t count = 0;
	struct rewrite once = {.choose = choose,
			       .may_choose_write = may_choose_write,
			       .choose_write = choose_write,
			       .ctx = &count,
			       .annotations = true},
		       twice = once;
	struct text name = rewrite_class_name(data, size);

	if (!rewrite_class(&once, data, size) || !once.out.used)
		return 0;
	count = 0;
	must(!name.size || text_equal(rewrite_class_name(once.out.bytes, once.out.used), name),
	     "the class has another name");
	must(rewrite_class(&twice, once.out.bytes, once.out.used), "the new class file is malformed");
	free(once.out.bytes);
	free(twice.out.bytes);
	return 0;
}
