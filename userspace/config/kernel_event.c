// SPDX-License-Identifier: Apache-2.0
#include "kernel_event.h"

#include "util/quantity.h"
#include "util/syscalls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define REFUSE(...) (snprintf(why, PROBE_WHY, __VA_ARGS__), -EINVAL)

#define FIELDS 9

/* A value that filters compare, by its place among those of the event. */
struct value {
	const char *name;
	uint16_t place;
	bool is_signed;
};

static const struct word {
	const char *name;
	enum braid_kernel_event event;
	uint32_t flags;
	uint64_t min_ns; /* without a time */
	const char *example, *help;
	struct value values[FIELDS];
} words[] = {
#define CALL_VALUES                                                                                                    \
	{                                                                                                              \
		{"call", BRAID_SYSCALL_CALL, false}, {"ret", BRAID_SYSCALL_RESULT, true}, {"arg0", 0, true},           \
			{"arg1", 1, true}, {"arg2", 2, true}, {"arg3", 3, true}, {"arg4", 4, true}, {"arg5", 5, true}, \
		{                                                                                                      \
			NULL, 0, false                                                                                 \
		}                                                                                                      \
	}
	{.name = "syscall",
	 .event = BRAID_KERNEL_SYSCALL,
	 .min_ns = 100000,
	 .example = "syscall=100us",
	 .help = "system calls, with file or socket and result; shortest time",
	 .values = CALL_VALUES},
	{.name = "file",
	 .event = BRAID_KERNEL_SYSCALL,
	 .flags = BRAID_HIT_FILES,
	 .example = "file=0",
	 .help = "those of them that read, write or sync files; shortest time",
	 .values = CALL_VALUES},
#undef CALL_VALUES
	{.name = "fault",
	 .event = BRAID_KERNEL_FAULT,
	 .example = "fault=0",
	 .help = "page faults, with their mapping; shortest time",
	 .values = {{"address", BRAID_FAULT_ADDRESS, false}, {"major", BRAID_FAULT_MAJOR, false}, {NULL, 0, false}}},
	{.name = "block",
	 .event = BRAID_KERNEL_BLOCK,
	 .example = "block=0",
	 .help = "block I/O requests, by device; shortest time",
	 .values = {{"sector", BRAID_BLOCK_SECTOR, false},
		    {"bytes", BRAID_BLOCK_BYTES, false},
		    {"op", BRAID_BLOCK_OPERATION, false},
		    {NULL, 0, false}}},
	{.name = "tcp",
	 .event = BRAID_KERNEL_TCP,
	 .example = "tcp=0",
	 .help = "connects and retransmissions, by peer; shortest time",
	 .values = {{"port", BRAID_TCP_PORT, false}, {NULL, 0, false}}},
};

#define WORDS (sizeof(words) / sizeof(words[0]))

static const struct word *word_of(const char *text, size_t length)
{
	size_t name = 0;

	while (name < length && text[name] != '=' && text[name] != '/')
		name++;
	for (size_t i = 0; i < WORDS; i++)
		if (strlen(words[i].name) == name && strncmp(words[i].name, text, name) == 0)
			return &words[i];
	return NULL;
}

bool kernel_event_is(const char *text, size_t length)
{
	return word_of(text, length) != NULL;
}

static int take_time(const struct word *w, const char **at, uint64_t *ns, char *why)
{
	size_t length = strcspn(++*at, "/");
	char text[32];

	snprintf(text, sizeof(text), "%.*s", (int)(length < 31 ? length : 31), *at);
	if (length >= sizeof(text) || duration_parse_unit(text, ns))
		return REFUSE("'%s=%s': the value is a time with its unit, such as %s=1ms", w->name, text, w->name);
	*at += length;
	return 0;
}

int kernel_event_parse(struct probe_spec *to, const char **at, char why[PROBE_WHY])
{
	const struct word *w = word_of(*at, strlen(*at));

	to->type = PROBE_KERNEL;
	to->event = w->event;
	to->flags = w->flags;
	to->min_ns = w->min_ns;
	snprintf(to->name, sizeof(to->name), "%s", w->name);
	*at += strlen(w->name);
	return **at == '=' ? take_time(w, at, &to->min_ns, why) : 0;
}

int kernel_event_field(const struct probe_spec *spec, struct probe_term *t, char why[PROBE_WHY])
{
	const struct word *w = word_of(spec->name, strlen(spec->name));
	char names[96];
	size_t used = 0;

	for (const struct value *v = w->values; v->name; v++) {
		if (strcmp(v->name, t->field) == 0) {
			t->term.operand = BRAID_HIT_ARGUMENT;
			t->term.offset = v->place;
			t->term.size = sizeof(uint64_t);
			t->term.flags |= v->is_signed ? BRAID_HIT_SIGNED : 0;
			return 0;
		}
		used += (size_t)snprintf(names + used, sizeof(names) - used, ", %s", v->name);
	}
	return REFUSE("'%.40s' is no field of '%s'; use comm, pid, tid, cpu%s", t->field, w->name, names);
}

/* include/linux/blk_types.h */
static const char *const operations[] = {
	[0] = "read", [1] = "write", [2] = "flush", [3] = "discard", [5] = "secure_erase", [9] = "write_zeroes",
};

#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

const char *kernel_event_operation(uint64_t number)
{
	return number < OPERATIONS ? operations[number] : NULL;
}

static int operation_number(const char *name)
{
	for (size_t i = 0; i < OPERATIONS; i++)
		if (operations[i] && strcmp(operations[i], name) == 0)
			return (int)i;
	return -1;
}

void kernel_event_value(struct probe_term *t)
{
	int number = strcmp(t->field, "call") == 0 ? syscall_number(t->term.pattern)
		     : strcmp(t->field, "op") == 0 ? operation_number(t->term.pattern)
						   : -1;

	if (number < 0 || t->number)
		return;
	t->term.value = (uint64_t)number;
	t->number = true;
}

const char *kernel_event_example(size_t i)
{
	return i < WORDS ? words[i].example : NULL;
}

const char *kernel_event_help(size_t i)
{
	return i < WORDS ? words[i].help : NULL;
}
