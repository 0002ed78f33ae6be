// SPDX-License-Identifier: Apache-2.0
#include "pools.h"

#include <errno.h>
#include <string.h>

#include <analyze/vthreads.h>
#include <util/text.h>

#include "names.h"

/* A function of which nothing but the name is known: no parameters, and a result without a type. */
#define NO_DESCRIPTOR "()L;"

#define FRAME_BYTES 8 /* in a stack, roughly */

/* ---- keys ---- */

static uint64_t use(struct pools *p, enum jfr_type type, uint64_t key)
{
	struct pool *pool = &p->used[type];
	int added = key ? u64map_add(&pool->of, key) : 0;

	if (added < 0 || (added && VEC_PUSH(&pool->keys, key)))
		p->failed = true;
	return added < 0 ? 0 : key;
}

static uint32_t intern(struct pools *p, const char *s, size_t length)
{
	uint32_t id = strpool_add(&p->strings, s, length);

	p->failed = p->failed || id == STRPOOL_FAILED;
	return p->failed ? 0 : id;
}

static uint32_t intern_class(struct pools *p, const char *name, size_t length)
{
	char *internal = length ? jfr_class_name(name, length) : NULL;
	uint32_t id = internal ? intern(p, internal, strlen(internal)) : 0;

	p->failed = p->failed || (length && !internal);
	free(internal);
	return id;
}

uint64_t pools_string(struct pools *p, const char *s, size_t length)
{
	return use(p, JFR_STRING, intern(p, s, length));
}

uint64_t pools_thread_state(struct pools *p, const char *name)
{
	return use(p, JFR_THREAD_STATE, intern(p, name, strlen(name)));
}

uint64_t pools_class(struct pools *p, const char *name)
{
	return use(p, JFR_CLASS, intern_class(p, name, strlen(name)));
}

uint64_t pools_class_loader(struct pools *p, const char *name)
{
	return use(p, JFR_CLASS_LOADER, intern(p, name, strlen(name)));
}

/* Odd numbers are OS threads and groups of virtual ones, even ones are virtual threads. */
uint64_t pools_thread(struct pools *p, uint32_t thread, uint32_t vthread)
{
	if (vthread)
		return use(p, JFR_THREAD, 2 * (uint64_t)vthread);
	return thread == ROW_NONE ? 0 : use(p, JFR_THREAD, 2 * (uint64_t)thread + 1);
}

/* Behind the stacks' keys are those of stacks that consist of one frame, which says what is missing. */
uint64_t pools_stack(struct pools *p, uint32_t stack, uint32_t xframe)
{
	size_t before = p->used[JFR_STACK_TRACE].keys.count;

	if (stack != ROW_NONE) {
		use(p, JFR_STACK_TRACE, (uint64_t)stack + 1);
		if (p->used[JFR_STACK_TRACE].keys.count != before)
			p->bytes += (size_t)p->an->stacks[stack].depth * FRAME_BYTES;
		return (uint64_t)stack + 1;
	}
	return xframe == XFRAME_ROOT ? 0 : use(p, JFR_STACK_TRACE, p->an->a->nodes.count + 1 + (uint64_t)xframe);
}

/* ---- methods ---- */

/* The index + 1 of the method with this identity, see identity_of(); 0 without memory. */
static uint32_t put_method(struct pools *p, uint64_t identity, const struct jfr_method *m)
{
	uint32_t *at = u64map_put(&p->method_of, identity);

	if (at && !*at && p->methods.count < UINT32_MAX - 1 && !VEC_PUSH(&p->methods, *m))
		*at = (uint32_t)p->methods.count;
	p->failed = p->failed || !at || !*at;
	return p->failed ? 0 : *at;
}

/* What the other part of an identity is. */
enum { OF_DESCRIPTOR, OF_MODULE, OF_KIND, OF_NAME };

static uint64_t identity_of(uint32_t name, unsigned what, uint32_t other)
{
	return (uint64_t)name << 32 | what << 30 | (other & 0x3fffffff);
}

/* "demo.Main.work" */
static struct jfr_method method_named(struct pools *p, const char *full, const char *descriptor)
{
	size_t length = jfr_class_length(full);
	const char *name = full + length + (length > 0);

	return (struct jfr_method){.class_name = intern_class(p, full, length),
				   .name = intern(p, name, strlen(name)),
				   .descriptor = intern(p, descriptor, strlen(descriptor))};
}

static uint32_t java_method(struct pools *p, const struct xframe *x, const char *full, uint32_t name)
{
	const struct analyzer *a = p->an->a;
	const struct method_row *m = x->method ? table_get(&a->methods, x->method) : NULL;
	const char *descriptor = m && m->signature ? strpool_get(&a->strings, m->signature) : NO_DESCRIPTOR;
	struct jfr_method method = method_named(p, full, descriptor);

	method.modifiers = m ? m->modifiers : 0;
	return put_method(p, identity_of(name, OF_DESCRIPTOR, m ? m->signature : 0), &method);
}

/*
 * The class of a function that is none of Java is named after the file that has it. A class whose name begins with '['
 * would be an array, so "[kernel]" is "kernel".
 */
static uint32_t other_method(struct pools *p, const char *class, const char *method, uint64_t identity)
{
	size_t length = strlen(class);
	bool brackets = length > 2 && class[0] == '[' && class[length - 1] == ']';
	const struct jfr_method m = {.class_name = intern(p, class + brackets, length - 2 * (size_t)brackets),
				     .name = intern(p, method, strlen(method)),
				     .descriptor = intern(p, NO_DESCRIPTOR, sizeof(NO_DESCRIPTOR) - 1)};

	return put_method(p, identity, &m);
}

static uint32_t method_of(struct pools *p, const struct frame_row *f, const struct xframe *x)
{
	const struct sym *sym = &p->an->syms.at[x->sym];
	const char *name = analysis_sym_name(p->an, x->sym), *path;
	enum stack_domain domain = kind_domain((enum stack_kind)sym->kind);

	switch (domain) {
	case DOMAIN_JAVA:
		return java_method(p, x, name, sym->name);
	case DOMAIN_NATIVE:
	case DOMAIN_KERNEL:
		path = f ? analysis_module_path(p->an, f->module) : "";
		return other_method(p, *path ? text_base_name(path) : "unknown", name,
				    identity_of(sym->name, OF_MODULE, f ? f->module : 0));
	case DOMAIN_INCOMPLETE:
		return other_method(p, "incomplete", name, identity_of(sym->name, OF_KIND, domain));
	default:
		return other_method(p, "stub", name, identity_of(sym->name, OF_KIND, domain));
	}
}

uint64_t pools_method(struct pools *p, const char *name)
{
	const struct jfr_method m = method_named(p, name, NO_DESCRIPTOR);

	return *name ? use(p, JFR_METHOD, put_method(p, identity_of(intern(p, name, strlen(name)), OF_NAME, 0), &m))
		     : 0;
}

/* ---- stacks ---- */

static const char *frame_type(enum stack_kind kind)
{
	switch (kind) {
	case KIND_INTERPRETED:
		return "Interpreted";
	case KIND_C1:
	case KIND_C2:
	case KIND_COMPILED:
		return "JIT compiled";
	case KIND_INLINED:
		return "Inlined";
	case KIND_KERNEL:
		return "Kernel";
	default:
		return "Native";
	}
}

static void put_frame(struct pools *p, struct bytes *to, const struct frame_row *f, size_t xframe)
{
	const struct xframe *x = &p->an->xframes.at[xframe];
	const char *type = frame_type((enum stack_kind)p->an->syms.at[x->sym].kind);

	if (!p->of_xframe[xframe])
		p->of_xframe[xframe] = method_of(p, f, x);
	bytes_put_number(to, use(p, JFR_METHOD, p->of_xframe[xframe]));
	bytes_put_number(to, x->line ? x->line : UINT32_MAX); /* -1: not known */
	bytes_put_number(to, (uint32_t)x->bci);
	bytes_put_number(to, use(p, JFR_FRAME_TYPE, intern(p, type, strlen(type))));
}

/* The frames of a stack from its leaf; returns their number. */
static uint64_t put_frames(struct pools *p, struct bytes *to, uint32_t stack)
{
	const struct analysis *an = p->an;
	uint64_t count = 0;

	for (uint32_t at = stack; at != ROW_NONE; at = an->stacks[at].parent) {
		const struct stack *s = &an->stacks[at];
		const struct frame_row *f = s->frame == ROW_NONE ? NULL : table_row(&an->a->frames, s->frame);

		for (uint32_t i = f ? an->expansions[s->frame].count : 0; i-- > 0; count++)
			put_frame(p, to, f, an->expansions[s->frame].first + i);
		if (s->detached || !f) {
			put_frame(p, to, NULL, XFRAME_DAMAGED);
			count++;
		}
	}
	return count;
}

bool pools_stack_is_java(const struct pools *p, uint32_t stack)
{
	const struct place *place = place_of(p->an, stack);

	return place && place->java != ROW_NONE;
}

static void put_stack(struct pools *p, struct bytes *to, uint64_t key)
{
	uint64_t missing = key - 1 - p->an->a->nodes.count;
	struct bytes frames = {0};
	bool whole = key <= p->an->a->nodes.count;
	uint64_t count = 1;

	if (whole)
		count = put_frames(p, &frames, (uint32_t)key - 1);
	else
		put_frame(p, &frames, NULL, (size_t)missing);
	bytes_put_byte(to, !whole || p->an->stacks[key - 1].cause != CAUSE_COMPLETE);
	bytes_put_number(to, count);
	bytes_put(to, frames.at, frames.count);
	to->failed = to->failed || frames.failed;
	bytes_free(&frames);
}

/* ---- the other pools ---- */

static uint64_t group_key(struct pools *p, uint32_t process)
{
	return use(p, JFR_THREAD_GROUP, (uint64_t)process + 1);
}

static void put_vthread(struct pools *p, struct bytes *to, uint32_t id)
{
	const struct vthread_row *v = vthreads_get(p->an->a, id);

	bytes_put_byte(to, STRING_NULL);
	bytes_put_number(to, 0);
	bytes_put_string(to, v ? strpool_get(&p->an->a->strings, v->name) : "");
	bytes_put_number(to, v ? v->number : 0);
	bytes_put_number(to, v ? group_key(p, v->process) : 0);
	bytes_put_byte(to, true);
}

static void put_thread(struct pools *p, struct bytes *to, uint64_t key)
{
	const struct thread_row *t;
	const char *name;

	if (key % 2 == 0) {
		put_vthread(p, to, (uint32_t)(key / 2));
		return;
	}
	t = table_row(&p->an->a->threads, key / 2);
	name = analysis_thread_name(p->an, (uint32_t)(key / 2));
	bytes_put_string(to, name); /* the VM gives an OS thread the Java thread's name */
	bytes_put_number(to, t->tid);
	if (t->flags & TRACE_THREAD_JAVA)
		bytes_put_string(to, name);
	else
		bytes_put_byte(to, STRING_NULL);
	bytes_put_number(to, 0); /* no id is known */
	bytes_put_number(to, group_key(p, t->process));
	bytes_put_byte(to, t->virtual);
}

/* A process is a group: a trace may have several JVMs. */
static void put_group(struct pools *p, struct bytes *to, uint64_t key)
{
	uint32_t process = (uint32_t)(key - 1);
	char label[PROCESS_LABEL_MAX], name[PROCESS_LABEL_MAX + 16];

	analysis_label(p->an, process, label);
	snprintf(name, sizeof(name), "%s (pid %u)", label, analysis_process(p->an, process)->pid);
	bytes_put_number(to, 0);
	bytes_put_string(to, name);
}

static void put_method_entry(struct pools *p, struct bytes *to, uint64_t key)
{
	const struct jfr_method *m = &p->methods.at[key - 1];

	bytes_put_number(to, use(p, JFR_CLASS, m->class_name));
	bytes_put_number(to, use(p, JFR_SYMBOL, m->name));
	bytes_put_number(to, use(p, JFR_SYMBOL, m->descriptor));
	bytes_put_number(to, m->modifiers);
	bytes_put_byte(to, false);
}

static void put_class(struct pools *p, struct bytes *to, uint64_t key)
{
	const char *name = strpool_get(&p->strings, (uint32_t)key), *slash = strrchr(name, '/');
	uint32_t package = slash && *name != '[' ? intern(p, name, (size_t)(slash - name)) : 0;

	bytes_put_number(to, use(p, JFR_SYMBOL, key));
	bytes_put_number(to, use(p, JFR_PACKAGE, package));
}

static void put_entry(struct pools *p, struct bytes *to, enum jfr_type type, uint64_t key)
{
	bytes_put_number(to, key);
	switch (type) {
	case JFR_THREAD:
		put_thread(p, to, key);
		break;
	case JFR_THREAD_GROUP:
		put_group(p, to, key);
		break;
	case JFR_STACK_TRACE:
		put_stack(p, to, key);
		break;
	case JFR_METHOD:
		put_method_entry(p, to, key);
		break;
	case JFR_CLASS:
		put_class(p, to, key);
		break;
	case JFR_CLASS_LOADER:
		bytes_put_number(to, 0);
		bytes_put_number(to, use(p, JFR_SYMBOL, key));
		break;
	case JFR_PACKAGE:
		bytes_put_number(to, use(p, JFR_SYMBOL, key));
		break;
	default: /* one string */
		bytes_put_string(to, strpool_get(&p->strings, (uint32_t)key));
		break;
	}
}

/*
 * Entries may add others to the pools behind theirs, so a pool is complete when its turn comes. The JDK refuses empty
 * ones. Returns the number of pools.
 */
static unsigned put_pool(struct pools *p, struct bytes *to, enum jfr_type type)
{
	struct pool *pool = &p->used[type];

	if (!pool->keys.count)
		return 0;
	bytes_put_number(to, type);
	bytes_put_number(to, pool->keys.count);
	for (size_t i = 0; i < pool->keys.count && !to->failed; i++)
		put_entry(p, to, type, pool->keys.at[i]);
	u64map_free(&pool->of);
	free(pool->keys.at);
	memset(pool, 0, sizeof(*pool));
	return 1;
}

void pools_put(struct pools *p, struct bytes *to, uint64_t start_ns)
{
	struct bytes body = {0}, pools = {0};
	unsigned count = 0;

	for (unsigned type = JFR_FIRST_POOL; type <= JFR_LAST_POOL; type++)
		count += put_pool(p, &pools, (enum jfr_type)type);
	count += put_pool(p, &pools, JFR_STRING);
	bytes_put_number(&body, JFR_CHECKPOINT);
	bytes_put_number(&body, start_ns);
	bytes_put_number(&body, 0);
	bytes_put_number(&body, 0); /* the only one of its chunk */
	bytes_put_byte(&body, 0);
	bytes_put_number(&body, count);
	bytes_put(&body, pools.at, pools.count);
	body.failed = body.failed || pools.failed;
	bytes_put_sized(to, &body);
	bytes_free(&body);
	bytes_free(&pools);
	p->bytes = 0;
}

int pools_init(struct pools *p, const struct analysis *an)
{
	*p = (struct pools){.an = an, .of_xframe = calloc(an->xframes.count + 1, sizeof(*p->of_xframe))};
	return p->of_xframe ? 0 : -ENOMEM;
}

void pools_free(struct pools *p)
{
	for (unsigned type = 0; type <= JFR_LAST_POOL; type++) {
		u64map_free(&p->used[type].of);
		free(p->used[type].keys.at);
	}
	strpool_free(&p->strings);
	u64map_free(&p->method_of);
	free(p->methods.at);
	free(p->of_xframe);
}
