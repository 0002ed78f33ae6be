// SPDX-License-Identifier: Apache-2.0
/* Compares every row of `readelf --debug-dump=frames-interp` of real libraries with the compiled table. */
#include "unit/unwind_tables.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdbool.h>
#include <time.h>

Suite *test_unwind_readelf(void);

#define COLUMNS_MAX 20
#define CIES_MAX 4096
#define TEXT_MAX 32

/* One line of the interpreted table; "" where it has no column. */
struct line {
	unsigned long pc;
	char cfa[TEXT_MAX];
	char rbp[TEXT_MAX];
	char rsp[TEXT_MAX];
	char ra[TEXT_MAX];
};

struct cie {
	unsigned long offset;
	bool signal;
	struct line line;
};

struct dump {
	const char *path;
	const struct unwind_table *table;
	struct cie *cies;
	size_t cie_count;
	const struct cie *cie; /* the CIE of the current entry */
	bool in_fde;
	unsigned long start;
	unsigned long end;
	struct line line;
	bool pending;
	unsigned long rows;
	unsigned long by_kind[16];
	char columns[COLUMNS_MAX][TEXT_MAX];
	int column_count;
};

static void disagree(const struct dump *d, uint32_t rule, const char *why)
{
	ck_abort_msg("%s: %#lx: cfa %s rbp %s rsp %s ra %s, but rule %#x (kind %u, rbp %u): %s", d->path, d->line.pc,
		     d->line.cfa, d->line.rbp, d->line.rsp, d->line.ra, rule, braid_rule_cfa(rule),
		     braid_rule_rbp(rule), why);
}

/* "rsp+16", "rbp-8": the expected kind and its offset; an unknown register is UNSUPPORTED. */
static uint32_t cfa_expected(const char *text, long *offset)
{
	*offset = strtol(text + 3, NULL, 10);
	if (!strncmp(text, "rsp", 3))
		return BRAID_CFA_RSP;
	if (!strncmp(text, "rbp", 3))
		return BRAID_CFA_RBP;
	if (!strncmp(text, "rbx", 3))
		return BRAID_CFA_RBX;
	return strncmp(text, "r10", 3) ? BRAID_CFA_UNSUPPORTED : BRAID_CFA_R10;
}

static void check_rbp(const struct dump *d, uint32_t rule)
{
	uint32_t kind = braid_rule_rbp(rule);
	const char *rbp = d->line.rbp;

	if (rbp[0] == 'c') {
		if (kind != BRAID_RBP_CFA || braid_rule_rbp_offset(rule) != strtol(rbp + 1, NULL, 10))
			disagree(d, rule, "rbp at the CFA");
	} else if (!strcmp(rbp, "exp")) {
		if (kind != BRAID_RBP_RBP && kind != BRAID_RBP_UNDEFINED)
			disagree(d, rule, "rbp by expression");
	} else if (!rbp[0] || !strcmp(rbp, "s")) {
		if (kind != BRAID_RBP_SAME)
			disagree(d, rule, "rbp unchanged");
	} else if (!strcmp(rbp, "u")) { /* readelf also prints this for "no rule" */
		if (kind != BRAID_RBP_SAME && kind != BRAID_RBP_UNDEFINED)
			disagree(d, rule, "rbp undefined");
	} else if (kind != BRAID_RBP_UNDEFINED) {
		disagree(d, rule, "rbp otherwise");
	}
}

static void check_at(const struct dump *d, unsigned long pc)
{
	uint32_t rule = unwind_table_rule(d->table, pc), kind = braid_rule_cfa(rule), wanted;
	long offset;

	if (!strcmp(d->line.ra, "u")) {
		if (rule != BRAID_CFA_ROOT)
			disagree(d, rule, "not the root");
		return;
	}
	if (d->cie->signal && !strcmp(d->line.cfa, "exp")) {
		if (rule != BRAID_CFA_SIGNAL)
			disagree(d, rule, "not a signal frame");
		return;
	}
	if (strcmp(d->line.ra, "c-8") || !strcmp(d->line.rsp, "exp") || d->line.rsp[0] == 'c') {
		if (rule != BRAID_CFA_UNSUPPORTED)
			disagree(d, rule, "caller not at the CFA");
		return;
	}
	if (!strcmp(d->line.cfa, "exp")) {
		if (kind != BRAID_CFA_DEREF_RBP && kind != BRAID_CFA_DEREF_RSP && kind != BRAID_CFA_PLT &&
		    kind != BRAID_CFA_UNSUPPORTED)
			disagree(d, rule, "CFA by expression");
		if (kind != BRAID_CFA_UNSUPPORTED)
			check_rbp(d, rule);
		return;
	}
	wanted = cfa_expected(d->line.cfa, &offset);
	if (kind != wanted || (wanted != BRAID_CFA_UNSUPPORTED && braid_rule_cfa_offset(rule) != offset))
		disagree(d, rule, "CFA");
	if (wanted != BRAID_CFA_UNSUPPORTED)
		check_rbp(d, rule);
}

/* The last line read covers the addresses up to `next`. */
static void flush_line(struct dump *d, unsigned long next)
{
	if (next > d->end)
		next = d->end;
	if (d->pending && d->in_fde && d->line.pc < next) {
		check_at(d, d->line.pc);
		check_at(d, next - 1);
		d->by_kind[braid_rule_cfa(unwind_table_rule(d->table, d->line.pc))]++;
		d->rows++;
	}
	d->pending = false;
}

static void read_cie(struct dump *d, unsigned long offset, const char *text)
{
	struct cie *cie = &d->cies[d->cie_count++];

	ck_assert_uint_lt(d->cie_count, CIES_MAX);
	*cie = (struct cie){.offset = offset, .signal = strstr(text, "S\" cf=") != NULL};
	strcpy(cie->line.cfa, "rsp+8"); /* in case readelf prints no lines */
	strcpy(cie->line.ra, "c-8");
	d->cie = cie;
	d->in_fde = false;
}

static void read_fde(struct dump *d, const char *text)
{
	unsigned long cie;

	ck_assert_int_eq(sscanf(text, "FDE cie=%lx pc=%lx..%lx", &cie, &d->start, &d->end), 3);
	d->cie = NULL;
	for (size_t i = 0; i < d->cie_count && !d->cie; i++)
		if (d->cies[i].offset == cie)
			d->cie = &d->cies[i];
	ck_assert_ptr_nonnull(d->cie);
	d->line = d->cie->line;
	d->line.pc = d->start;
	d->pending = d->in_fde = true; /* without its own lines, the CIE's rules apply */
}

static void read_columns(struct dump *d, char *text)
{
	d->column_count = 0;
	for (char *word = strtok(text, " \n"); word; word = strtok(NULL, " \n")) {
		ck_assert_int_lt(d->column_count, COLUMNS_MAX);
		snprintf(d->columns[d->column_count++], TEXT_MAX, "%s", word);
	}
}

static void read_line(struct dump *d, char *text)
{
	struct line line = {.pc = strtoul(text, &text, 16)};
	int column = 1;

	if (d->in_fde)
		flush_line(d, line.pc);
	for (char *word = strtok(text, " \n"); word; word = strtok(NULL, " \n")) {
		if (word[0] == '(') /* "r3 (rbx)" */
			continue;
		ck_assert_int_lt(column, d->column_count);
		const char *name = d->columns[column++];
		char *to = !strcmp(name, "CFA")	  ? line.cfa
			   : !strcmp(name, "rbp") ? line.rbp
			   : !strcmp(name, "rsp") ? line.rsp
			   : !strcmp(name, "ra")  ? line.ra
						  : NULL;

		if (to)
			snprintf(to, TEXT_MAX, "%s", word);
	}
	ck_assert_int_eq(column, d->column_count);
	if (!d->in_fde && d->cie_count)
		d->cies[d->cie_count - 1].line = line;
	d->line = line;
	d->pending = true;
}

static void read_dump(struct dump *d, FILE *from)
{
	char text[1024];

	while (fgets(text, sizeof(text), from)) {
		unsigned long offset;
		int at = 0;

		if (strstr(text, " CIE ") && sscanf(text, "%lx %*x %*x %n", &offset, &at) == 1 && at) {
			flush_line(d, ~0UL);
			read_cie(d, offset, text + at);
		} else if (strstr(text, " FDE ") && sscanf(text, "%*x %*x %*x %n", &at) == 0 && at) {
			flush_line(d, ~0UL);
			read_fde(d, text + at);
		} else if (strstr(text, "   LOC ")) {
			if (d->in_fde && d->line.pc == d->start)
				d->pending = false; /* the lines cover everything */
			read_columns(d, text);
		} else if (strspn(text, "0123456789abcdef") == 16 && text[16] == ' ') {
			read_line(d, text);
		}
	}
	flush_line(d, ~0UL);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void compare(const char *path)
{
	struct dump d = {.path = path};
	double start = now_ms(), took;
	struct unwind_table *t = table_of(path);
	char command[512];
	FILE *from;

	took = now_ms() - start;
	table_check(t);
	d.table = t;
	d.cies = calloc(CIES_MAX, sizeof(*d.cies));
	ck_assert_ptr_nonnull(d.cies);
	snprintf(command, sizeof(command),
		 "readelf --debug-dump=frames-interp --debug-dump=no-follow-links '%s' 2>/dev/null", path);
	from = popen(command, "r");
	ck_assert_ptr_nonnull(from);
	read_dump(&d, from);
	ck_assert_int_eq(pclose(from), 0);
	ck_assert_uint_gt(d.rows, 100);
	ck_assert_uint_gt(d.by_kind[BRAID_CFA_RSP], 20);
	printf("unwind: %s: %lu rows agree with readelf's (%u rows in the table, %u unsupported, compiled in %.1f "
	       "ms)\n",
	       path, d.rows, t->row_count, t->unsupported, took);
	free(d.cies);
	unwind_table_free(t);
}

START_TEST(libc)
{
	Dl_info info;

	ck_assert_int_ne(dladdr(dlsym(RTLD_DEFAULT, "malloc"), &info), 0);
	ck_assert_int_ne(dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &info), 0);
	compare(info.dli_fname);
}
END_TEST

START_TEST(programs)
{
	static const char *const paths[] = {"/bin/bash", "/usr/bin/readelf", "/lib64/ld-linux-x86-64.so.2"};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (access(paths[i], R_OK) == 0)
			compare(paths[i]);
		else
			printf("unwind: %s: skipped: %s\n", paths[i], strerror(errno));
}
END_TEST

START_TEST(libjvm)
{
	const char *home = getenv("JAVA_HOME");
	char path[512];
	glob_t found = {0};

	snprintf(path, sizeof(path), "%s/lib/server/libjvm.so", home ? home : "");
	if (!home || access(path, R_OK)) {
		glob("/usr/lib/jvm/*/lib/server/libjvm.so", 0, NULL, &found);
		snprintf(path, sizeof(path), "%s", found.gl_pathc ? found.gl_pathv[0] : "");
	}
	globfree(&found);
	if (path[0])
		compare(path);
	else
		printf("unwind: libjvm.so: skipped, no JDK in JAVA_HOME or /usr/lib/jvm\n");
}
END_TEST

/* Stacks realigned by the compiler, and hand-written special cases. */
START_TEST(compiled)
{
	char path[256];

	write_text("r.c", "void use(void *, void *);\n"
			  "#define F(n) void f##n(int a) { _Alignas(64) char b[64 * n]; use(b, __builtin_alloca(a)); "
			  "use(b, b); }\n"
			  "F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15) F(16)\n");
	run("cd '%s' && gcc -shared -fPIC -O2 -o r.so r.c", directory);
	snprintf(path, sizeof(path), "%s/r.so", directory);
	compare(path);
}
END_TEST

Suite *test_unwind_readelf(void)
{
	Suite *suite = suite_create("unwind against readelf");

	add(suite, "libc", libc);
	add(suite, "programs", programs);
	add(suite, "libjvm", libjvm);
	add(suite, "compiled", compiled);
	return suite;
}
