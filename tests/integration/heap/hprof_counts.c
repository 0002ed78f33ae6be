// SPDX-License-Identifier: Apache-2.0
/*
 * hprof_counts DUMP: what can be reached in a heap dump of any size, as hprof.py's summary() of small ones, without the
 * agent's thread: a line for each class with the number of its objects, for each kind of reference with theirs, and for
 * each class that the dump has. Fields that dumpers add are left out.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define OBJECT 2 /* HPROF's number of the type of references */
#define PAGE_BITS 12
#define NOTHING UINT32_MAX

struct object {
	uint64_t id;
	uint64_t at : 63; /* of its record in the file */
	uint64_t seen : 1;
};

struct field {
	uint64_t name; /* id; of array elements and what all classes have, a literal */
	const char *literal;
	uint32_t owner; /* class that declares it; NOTHING: it has no name of a class in front */
	uint8_t type;
};

struct class
{
	uint64_t id, name;
	uint64_t at;	   /* of its record; 0: it has none */
	uint32_t super_at; /* index of its superclass; NOTHING */
	uint32_t field, fields, statik, statics;
	uint64_t objects;
	bool seen;
};

struct name {
	uint64_t id;
	const char *text;
	uint32_t length;
};

struct edge {
	uint64_t key; /* 0: free */
	uint64_t count;
};

static const uint8_t *file;
static uint64_t file_size;

/* Arrays that grow. */
#define ARRAY(type)                                                                                                    \
	struct {                                                                                                       \
		type *at;                                                                                              \
		uint64_t n, room;                                                                                      \
	}
#define ADD(a) (*((a).n == (a).room ? ((a).at = grow((a).at, &(a).room, sizeof(*(a).at))) : (a).at, &(a).at[(a).n++]))

static ARRAY(struct name) names;
static ARRAY(struct class) classes;
static ARRAY(struct field) fields;
static ARRAY(struct object) objects;
static ARRAY(uint64_t) roots;
static ARRAY(uint64_t) threads;
static uint64_t primitive_objects[16];
static uint64_t *first_of_page, lowest;
static uint32_t element_field, common_fields; /* of classes: super, loader, signers, domain */
static ARRAY(uint32_t) todo;
static struct edge *edges;
static uint64_t edge_room = 1 << 20, edge_count, lost, without;

static void fail(const char *what)
{
	fprintf(stderr, "hprof_counts: %s\n", what);
	exit(1);
}

static void *grow(void *at, uint64_t *room, size_t size)
{
	*room = *room ? *room * 2 : 1024;
	at = realloc(at, *room * size);
	if (!at)
		fail("no memory");
	return at;
}

static uint64_t number(uint64_t at, unsigned size)
{
	uint64_t v = 0;

	if (at + size > file_size)
		fail("the file ends early");
	for (unsigned i = 0; i < size; i++)
		v = v << 8 | file[at + i];
	return v;
}

static uint64_t id_at(uint64_t at)
{
	uint64_t v;

	if (at + 8 > file_size)
		fail("the file ends early");
	memcpy(&v, file + at, 8);
	return __builtin_bswap64(v);
}

static uint32_t size_of(uint8_t type)
{
	static const uint8_t sizes[16] = {
		[2] = 8, [4] = 1, [5] = 2, [6] = 4, [7] = 8, [8] = 1, [9] = 2, [10] = 4, [11] = 8};

	if (type > 15 || !sizes[type])
		fail("an unknown type");
	return sizes[type];
}

/* ---- ids ---- */

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b; /* the first member of all that is sorted */

	return x < y ? -1 : x > y;
}

static struct name *name_of(uint64_t id)
{
	return names.n ? bsearch(&id, names.at, names.n, sizeof(*names.at), by_id) : NULL;
}

static bool is_named(uint64_t id, const char *text)
{
	const struct name *n = name_of(id);

	return n && n->length == strlen(text) && !memcmp(n->text, text, n->length);
}

static struct class *class_of(uint64_t id)
{
	return classes.n ? bsearch(&id, classes.at, classes.n, sizeof(*classes.at), by_id) : NULL;
}

static struct object *object_of(uint64_t id)
{
	uint64_t page = (id - lowest) >> PAGE_BITS;

	if (!objects.n || id < lowest || id > objects.at[objects.n - 1].id)
		return NULL;
	for (uint64_t i = first_of_page[page]; i < objects.n && objects.at[i].id <= id; i++)
		if (objects.at[i].id == id)
			return &objects.at[i];
	return NULL;
}

static void index_objects(void)
{
	uint64_t pages, next = 0;

	qsort(objects.at, objects.n, sizeof(*objects.at), by_id);
	if (!objects.n)
		fail("no objects");
	lowest = objects.at[0].id;
	pages = ((objects.at[objects.n - 1].id - lowest) >> PAGE_BITS) + 1;
	first_of_page = calloc(pages, sizeof(*first_of_page));
	if (!first_of_page)
		fail("no memory");
	for (uint64_t page = 0; page < pages; page++) {
		while (next < objects.n && (objects.at[next].id - lowest) >> PAGE_BITS < page)
			next++;
		first_of_page[page] = next;
	}
}

/* ---- reading ---- */

/*
 * The members of a class whose names are at `at`, each with its type and for statics a value. Returns where they end.
 */
static uint64_t skip_members(uint64_t at, bool values)
{
	uint64_t count = number(at, 2);

	at += 2;
	for (uint64_t i = 0; i < count; i++)
		at += 9 + (values ? size_of((uint8_t)number(at + 8, 1)) : 0);
	return at;
}

static uint64_t read_entry(uint64_t at)
{
	uint8_t tag = (uint8_t)number(at, 1);
	uint64_t count;

	if (tag < 0x20 || tag == 0xff) {
		static const uint8_t sizes[9] = {0, 16, 16, 16, 12, 8, 12, 8, 16};

		if (tag != 0xff && (!tag || tag > 8))
			fail("an unknown root");
		ADD(roots) = id_at(at + 1);
		if (tag == 8)
			ADD(threads) = id_at(at + 1);
		return at + 1 + (tag == 0xff ? 8 : sizes[tag]);
	}
	if (tag == 0x20) {
		struct class *c = class_of(id_at(at + 1));

		if (!c || c->at || number(at + 65, 2))
			fail("a class");
		c->at = at;
		return skip_members(skip_members(at + 67, true), false);
	}
	ADD(objects) = (struct object){.id = id_at(at + 1), .at = at};
	if (tag == 0x21)
		return at + 25 + number(at + 21, 4);
	count = number(at + 13, 4);
	if (tag == 0x22)
		return at + 25 + 8 * count;
	if (tag != 0x23)
		fail("an unknown entry");
	return at + 18 + count * size_of((uint8_t)number(at + 17, 1));
}

/* Names and classes, or then what the segments have. */
static void read_records(bool segments)
{
	static const char magic[] = "JAVA PROFILE 1.0.2";
	uint64_t at = sizeof(magic) + 12, length;

	if (file_size < at || memcmp(file, magic, sizeof(magic)) || number(sizeof(magic), 4) != 8)
		fail("not a dump");
	for (; at < file_size; at += 9 + length) {
		uint64_t body = at + 9;

		length = number(at + 5, 4);
		if (file[at] == 1 && !segments)
			ADD(names) = (struct name){id_at(body), (const char *)file + body + 8, (uint32_t)length - 8};
		else if (file[at] == 2 && !segments)
			ADD(classes) = (struct class){.id = id_at(body + 4), .name = id_at(body + 16)};
		else if ((file[at] == 0x0c || file[at] == 0x1c) && segments)
			while (body < at + 9 + length)
				body = read_entry(body);
	}
}

static void read_class(uint32_t index)
{
	struct class *c = &classes.at[index], *super;
	uint64_t at = c->at + 67, count;

	c->super_at = NOTHING;
	if (!c->at)
		return;
	super = class_of(id_at(c->at + 13));
	c->super_at = super ? (uint32_t)(super - classes.at) : NOTHING;
	for (int of_objects = 0; of_objects < 2; of_objects++) {
		count = number(at, 2);
		*(of_objects ? &c->field : &c->statik) = (uint32_t)fields.n;
		*(of_objects ? &c->fields : &c->statics) = (uint32_t)count;
		at += 2;
		for (uint64_t i = 0; i < count; i++) {
			uint8_t type = (uint8_t)number(at + 8, 1);

			ADD(fields) =
				(struct field){.name = id_at(at), .owner = of_objects ? index : NOTHING, .type = type};
			at += 9 + (of_objects ? 0 : size_of(type));
		}
	}
}

static void read_classes(void)
{
	static const char *const common[] = {"super", "loader", "signers", "domain"};

	element_field = (uint32_t)fields.n;
	ADD(fields) = (struct field){.literal = "[]", .owner = NOTHING};
	common_fields = (uint32_t)fields.n;
	for (int i = 0; i < 4; i++)
		ADD(fields) = (struct field){.literal = common[i], .owner = NOTHING};
	for (uint32_t i = 0; i < classes.n; i++)
		read_class(i);
}

/* ---- going through ---- */

/* Classes of objects, as a number: those of the dump, class objects, arrays of primitive types, nothing. */
static uint32_t kind_of(const struct object *o, const struct class *c)
{
	uint32_t n = (uint32_t)classes.n;

	if (o && file[o->at] == 0x23)
		return 2 * n + file[o->at + 17];
	if (o) {
		c = class_of(id_at(o->at + (file[o->at] == 0x21 ? 13 : 17)));
		return c ? (uint32_t)(c - classes.at) : 2 * n + 15;
	}
	return c ? n + (uint32_t)(c - classes.at) : 2 * n + 15;
}

static struct edge *edge_place(struct edge *in, uint64_t room, uint64_t key)
{
	uint64_t i = key * 0x9e3779b97f4a7c15ULL >> 20 & (room - 1);

	while (in[i].key && in[i].key != key)
		i = (i + 1) & (room - 1);
	return &in[i];
}

static void count_edge(uint32_t from, uint32_t field, uint32_t to)
{
	uint64_t key = (uint64_t)(from + 1) << 44 | (uint64_t)field << 20 | to;
	struct edge *e = edge_place(edges, edge_room, key);

	if (from >= 1 << 20 || field >= 1 << 24 || to >= 1 << 20 || edge_count > edge_room / 2)
		fail("too many classes");
	edge_count += !e->key;
	e->key = key;
	e->count++;
}

static void visit(uint64_t id)
{
	struct object *o = object_of(id);
	struct class *c = o ? NULL : class_of(id);

	if (!id || id == without)
		return;
	if (!o && (!c || !c->at))
		lost++;
	else if (o && !o->seen) {
		o->seen = 1;
		ADD(todo) = (uint32_t)(o - objects.at);
	} else if (c && !c->seen) {
		c->seen = true;
		ADD(todo) = (uint32_t)(objects.n + (uint64_t)(c - classes.at));
	}
}

static void refer(uint32_t from, uint32_t field, uint64_t to)
{
	const struct object *o = object_of(to);

	if (!to || to == without)
		return;
	count_edge(from, field, kind_of(o, o ? NULL : class_of(to)));
	visit(to);
}

static void go_through_class(struct class *c, uint32_t kind)
{
	static const uint8_t places[] = {13, 21, 29, 37};
	uint64_t at = c->at + 69;

	for (uint32_t i = 0; i < c->statics; i++) {
		if (fields.at[c->statik + i].type == OBJECT)
			refer(kind, c->statik + i, id_at(at + 9));
		at += 9 + size_of(fields.at[c->statik + i].type);
	}
	for (uint32_t i = 0; i < 4; i++)
		refer(kind, common_fields + i, id_at(c->at + places[i]));
}

static void go_through_object(const struct object *o, uint32_t kind)
{
	uint64_t at = o->at + 25, count = number(o->at + 13, 4);

	if (file[o->at] == 0x23) {
		primitive_objects[file[o->at + 17]]++;
		return;
	}
	if (kind >= classes.n)
		fail("an object of no class");
	classes.at[kind].objects++;
	visit(classes.at[kind].id);
	for (uint64_t i = 0; file[o->at] == 0x22 && i < count; i++)
		refer(kind, element_field, id_at(at + 8 * i));
	for (uint32_t c = kind; file[o->at] == 0x21 && c != NOTHING; c = classes.at[c].super_at)
		for (uint32_t i = 0; i < classes.at[c].fields; i++) {
			const struct field *f = &fields.at[classes.at[c].field + i];

			if (f->type == OBJECT)
				refer(kind, classes.at[c].field + i, id_at(at));
			at += size_of(f->type);
		}
}

/* From the roots, from classes, and from threads, of which the VM hides some. */
static void go_through(void)
{
	for (uint64_t i = 0; i < roots.n; i++)
		visit(roots.at[i]);
	for (uint64_t i = 0; i < classes.n; i++)
		if (classes.at[i].at)
			visit(classes.at[i].id);
	for (uint64_t i = 0; i < objects.n; i++)
		if (file[objects.at[i].at] == 0x21) {
			const struct class *c = class_of(id_at(objects.at[i].at + 13));

			if (c && is_named(c->name, "java/lang/Thread"))
				visit(objects.at[i].id);
		}
	while (todo.n) {
		uint32_t i = todo.at[--todo.n];
		struct class *c = i < objects.n ? NULL : &classes.at[i - objects.n];

		if (c)
			go_through_class(c, kind_of(NULL, c));
		else
			go_through_object(&objects.at[i], kind_of(&objects.at[i], NULL));
	}
}

/* ---- the agent's thread ---- */

/* The reference in an object's field of that name; 0: none. */
static uint64_t reference_of(const struct object *o, const char *name)
{
	uint64_t at = o->at + 25;

	for (uint32_t c = kind_of(o, NULL); c < classes.n; c = classes.at[c].super_at)
		for (uint32_t i = 0; i < classes.at[c].fields; i++) {
			const struct field *f = &fields.at[classes.at[c].field + i];

			if (f->type == OBJECT && is_named(f->name, name))
				return id_at(at);
			at += size_of(f->type);
		}
	return 0;
}

static void find_agent(void)
{
	static const char name[] = "braid agent"; /* one byte for each character: JDK 9 and later */

	for (uint64_t i = 0; i < threads.n; i++) {
		const struct object *o = object_of(threads.at[i]);

		o = o ? object_of(reference_of(o, "name")) : NULL;
		o = o ? object_of(reference_of(o, "value")) : NULL;
		if (o && file[o->at] == 0x23 && number(o->at + 13, 4) == sizeof(name) - 1 &&
		    o->at + 18 + sizeof(name) <= file_size && !memcmp(file + o->at + 18, name, sizeof(name) - 1))
			without = threads.at[i];
	}
}

/* ---- the result ---- */

static void put_name(uint64_t id)
{
	const struct name *n = name_of(id);

	printf("%.*s", n ? (int)n->length : 1, n ? n->text : "?");
}

static void put_kind(uint32_t kind)
{
	uint32_t n = (uint32_t)classes.n;

	if (kind < 2 * n) {
		printf("%s", kind < n ? "" : "class ");
		put_name(classes.at[kind % n].name);
	} else if (kind == 2 * n + 15)
		printf("nothing");
	else
		printf("[%c", "????ZCFDBSIJ????"[kind - 2 * n]);
}

static void put_edge(const struct edge *e)
{
	const struct field *f = &fields.at[e->key >> 20 & 0xffffff];
	const struct name *n = f->literal ? NULL : name_of(f->name);

	if (n && ((n->length && *n->text == '<') || is_named(f->name, "init_lock")))
		return;
	printf("references\t");
	put_kind((uint32_t)(e->key >> 44) - 1);
	printf("\t");
	if (f->owner != NOTHING) {
		put_name(classes.at[f->owner].name);
		printf(".");
	}
	if (f->literal)
		printf("%s", f->literal);
	else
		put_name(f->name);
	printf("\t");
	put_kind((uint32_t)(e->key & 0xfffff));
	printf("\t%llu\n", (unsigned long long)e->count);
}

static void put(void)
{
	for (uint32_t i = 0; i < 2 * classes.n + 15; i++) {
		uint64_t count = i < classes.n	     ? classes.at[i].objects
				 : i < 2 * classes.n ? 0
						     : primitive_objects[i - 2 * classes.n];

		if (!count)
			continue;
		printf("objects\t");
		put_kind(i);
		printf("\t%llu\n", (unsigned long long)count);
	}
	for (uint64_t i = 0; i < edge_room; i++)
		if (edges[i].key)
			put_edge(&edges[i]);
	for (uint32_t i = 0; i < classes.n; i++) {
		if (!classes.at[i].at)
			continue;
		printf("classes\t");
		put_kind(i);
		printf("\t1\n");
	}
	printf("lost\t\t%llu\nagent\t\t%d\n", (unsigned long long)lost, without != 0);
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		fail("usage: hprof_counts DUMP");
	file_size = (uint64_t)st.st_size;
	file = mmap(NULL, file_size, PROT_READ, MAP_PRIVATE, fd, 0);
	edges = calloc(edge_room, sizeof(*edges));
	if (file == MAP_FAILED || !edges)
		fail("cannot be read");
	read_records(false);
	qsort(names.at, names.n, sizeof(*names.at), by_id);
	qsort(classes.at, classes.n, sizeof(*classes.at), by_id);
	read_records(true);
	read_classes();
	index_objects();
	find_agent();
	go_through();
	put();
	return 0;
}
