// SPDX-License-Identifier: Apache-2.0
/* Tests of what a screen shows, and of what keys do to it, without a terminal. */
#include <locale.h>
#include <stdio.h>

#include <top/page.h>

#include "unit/run.h"

Suite *test_top_page(void);

static struct ui ui;
static struct shot *shot;
static struct canvas canvas;
static char *text; /* the screen, line by line */

#define IN_JVM(k, ns, p, t, ...)                                                                                       \
	REC(TRACE_JVM_EVENT, jvm_event, .kind = BRAID_JVM_##k, .time_ns = ns, .process = p, .thread = t, __VA_ARGS__)

static const struct trace_rec more[] = {
	REC(TRACE_INFO, info, S("host.cpus"), S("2")),
	REC(TRACE_INFO, info, S("record.choices"), S("cpu,alloc=512k,lock=10us,gc,thread")),
	REC(TRACE_NAME, name, 3, S("java.util.HashMap")),
	REC(TRACE_NAME, name, 4, S("byte[]")),
	REC(TRACE_NAME, name, 5, S("evil\033[2J\u202eclass")),
	IN_JVM(LOCK, BASE_NS + 10 * MS, 1, 1, .duration_ns = 40 * MS, .node = 3, .name = 3, .number = 1, .other = 2),
	IN_JVM(LOCK, BASE_NS + 60 * MS, 1, 2, .duration_ns = 10 * MS, .node = 3, .name = 3, .number = 1, .other = 1),
	IN_JVM(ALLOC, BASE_NS + 20 * MS, 1, 1, .node = 3, .name = 4, .value = 2000, .weight = 3 << 20),
	IN_JVM(ALLOC, BASE_NS + 30 * MS, 1, 1, .node = 5, .name = 4, .value = 1000, .weight = 1 << 20),
	IN_JVM(ALLOC, BASE_NS + 30 * MS, 1, 1, .node = 5, .name = 5, .value = 1000, .weight = 1 << 19),
};

static struct shot *shot_of(const struct trace_rec *recs, size_t count)
{
	struct run r = run_begin(NULL);
	struct shot *s;

	run_feed(&r, recs, count);
	ck_assert_int_eq(shot_new(&s, r.a), 0);
	return s;
}

static void begin(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	shot = shot_of(more, sizeof(more) / sizeof(more[0]));
	ui_init(&ui, 5000000000);
	ui.state = "recording";
	ui.age_ns = 125000000000;
	ck_assert_int_eq(ui_show(&ui, shot), 0);
}

static void end(void)
{
	ui_free(&ui);
	shot_free(shot);
	free(text);
	text = NULL;
}

static const char *draw(unsigned rows, unsigned columns)
{
	size_t size;
	FILE *out;
	char *line;

	free(text);
	ck_assert_int_eq(canvas_init(&canvas, rows, columns), 0);
	page_draw(&canvas, &ui);
	out = open_memstream(&text, &size);
	line = malloc(canvas_line_max(&canvas));
	for (unsigned i = 0; i < rows; i++) {
		canvas_line(&canvas, i, line);
		ck_assert_uint_le(canvas_width(line), columns);
		fprintf(out, "%s\n", line);
	}
	free(line);
	fclose(out);
	canvas_free(&canvas);
	return text;
}

static enum ui_request press(uint32_t key)
{
	enum ui_request request;

	ck_assert_int_eq(ui_key(&ui, key, &request), 0);
	return request;
}

static void press_all(const char *keys)
{
	for (; *keys; keys++)
		press((uint8_t)*keys);
}

#define SEES(part) ck_assert_msg(strstr(text, part), "no '%s' in:\n%s", part, text)
#define MISSES(part) ck_assert_msg(!strstr(text, part), "'%s' in:\n%s", part, text)

static const char *row_name(size_t line)
{
	return ui_table(&ui)->rows.at[ui.lines.at[line]].name;
}

/* ---- what is there ---- */

START_TEST(methods_by_self)
{
	static const struct {
		const char *name;
		double self, total;
	} want[] = {{"foo::bar(int)", 500.0 / 19, 500.0 / 19}, {"demo.Util.inline", 400.0 / 19, 700.0 / 19}};

	for (size_t i = 0; i < 2; i++) {
		const struct top_row *r = &ui_table(&ui)->rows.at[ui.lines.at[i]];

		ck_assert_str_eq(r->name, want[i].name);
		ck_assert_double_eq_tol(r->value[0], want[i].self, 1e-9);
		ck_assert_double_eq_tol(r->value[1], want[i].total, 1e-9);
	}
	ck_assert_uint_eq(ui.lines.count, shot->views->methods.count);
}
END_TEST

START_TEST(a_screen_of_80_columns)
{
	draw(24, 80);
	SEES("braid top  java 100 and 1 more");
	SEES("5 lost  last 2.5 s of 2:05  99 Hz  recording\n");
	SEES("CPU [");
	SEES("8% of 2 CPUs]");
	SEES("GC    0.2% paused, heap 1.00 MiB\n");
	SEES("Alloc 1.80 MiB/s  Blocked 20.00 ms/s\n");
	SEES(" 1 Methods  2 Threads  3 Locks  4 Alloc  5 GC\n");
	SEES(" SELF%v TOTAL%  SAMPLES  KIND        METHOD\n");
	SEES("  26.3    26.3        5  native      foo::bar(int)\n");
	SEES("F1Help   F2Window F3Search F4Filter F5Stacks F6Sort   sSave   F10Quit\n");
}
END_TEST

START_TEST(a_small_screen)
{
	draw(10, 40);
	SEES("braid top  java 100   5 lost  last 2.5 s\n");
	MISSES("CPU [");
	SEES(" SELF%v TOTAL%  METHOD\n");
	SEES("  26.3    26.3  foo::bar(int)\n");
	SEES("F1Help   F2Window F3Search F4Filter\n");
}
END_TEST

START_TEST(a_large_screen)
{
	press('2');
	draw(60, 200);
	SEES("  CPU%v RUNQ%  LOCK%  WAIT%   I/O%  IDLE%      TID  MOSTLY    THREAD\n");
	SEES("  -      -      -      -      -      101  running   main\n"); /* off-CPU times were not recorded */
}
END_TEST

START_TEST(screens_of_no_size)
{
	for (unsigned rows = 0; rows < 8; rows++)
		for (unsigned columns = 0; columns < 12; columns++)
			for (uint32_t view = '1'; view <= '5'; view++) {
				press(view);
				draw(rows, columns);
			}
	press('1');
	press(UI_KEY_ENTER);
	draw(3, 3);
	press('?');
	draw(2, 2);
}
END_TEST

START_TEST(names_cannot_control_a_terminal)
{
	press('4');
	draw(24, 80);
	ck_assert_ptr_null(strchr(text, '\033'));
	MISSES("\u202e");
	SEES("evil?[2J");
}
END_TEST

START_TEST(before_the_first_second)
{
	ui.shot = NULL;
	press('2');
	press(UI_KEY_ENTER);
	press('+');
	draw(24, 80);
	SEES("waiting for the first second");
}
END_TEST

START_TEST(a_recording_shorter_than_the_window)
{
	ui.age_ns = shot->figures.shown_ns;
	draw(24, 80);
	SEES("5 lost  all 2.5 s  99 Hz  recording\n");
	MISSES("last");
}
END_TEST

START_TEST(nobody_was_blocked)
{
	static const struct trace_rec choices[] = {REC(TRACE_INFO, info, S("record.choices"), S("cpu,lock=10us"))};
	struct shot *without = shot_of(choices, 1);

	ck_assert_int_eq(ui_show(&ui, without), 0);
	draw(24, 80);
	SEES("Blocked 0 s/s\n");
	ui_show(&ui, shot);
	shot_free(without);
}
END_TEST

START_TEST(what_was_not_recorded_is_no_empty_table)
{
	struct shot *without = shot_of(NULL, 0);

	ck_assert_int_eq(ui_show(&ui, without), 0);
	press('3');
	draw(24, 80);
	SEES("not recorded; start with -e lock");
	MISSES("Blocked");
	ui_show(&ui, shot);
	shot_free(without);
}
END_TEST

/* A program without a JVM has no collections and no locks, so that they took no time is not said. */
START_TEST(without_a_jvm_nothing_of_jvms_is_zero)
{
	static const struct trace_rec native[] = {
		REC(TRACE_INFO, info, S("record.choices"), S("cpu,alloc=512k,lock=10us,gc")),
		REC(TRACE_CLOCK, clock, BASE_NS, BASE_NS, BASE_NS),
		REC(TRACE_PROCESS, process, 1, 100, 0, 5, S("sort"), S("sort")),
		REC(TRACE_CLOCK, clock, BASE_NS + 1000 * MS, BASE_NS, BASE_NS),
	};
	struct analyzer *a;
	struct shot *without;

	ck_assert_int_eq(analyzer_new(&a), 0);
	for (size_t i = 0; i < sizeof(native) / sizeof(native[0]); i++)
		ck_assert_int_eq(analyzer_feed(a, &native[i]), 0);
	ck_assert_int_eq(shot_new(&without, a), 0);
	ck_assert_int_eq(ui_show(&ui, without), 0);
	press('3');
	draw(24, 200);
	SEES("GC    not recorded");
	SEES("not recorded: no JVM with an agent reports it");
	MISSES("/s"); /* no rates */
	ui_show(&ui, shot);
	shot_free(without);
}
END_TEST

/* ---- keys ---- */

START_TEST(sorting)
{
	press('T');
	ck_assert_str_eq(row_name(0), "__libc_start_main");
	press('I');
	ck_assert_str_eq(row_name(0), "[unknown code]");
	press('P');
	ck_assert_str_eq(row_name(0), "foo::bar(int)");
	press('<'); /* the name */
	ck_assert_str_eq(row_name(0), "<script>alert(1)</script>.run");
	press(UI_KEY_F1 + 5);
	ck_assert_str_eq(row_name(0), "foo::bar(int)");
	press('M');
	ck_assert_int_eq(ui_view(&ui), TOP_ALLOC);
}
END_TEST

START_TEST(filtering)
{
	press_all("\\DEMO.");
	draw(24, 80);
	SEES("Filter: DEMO._");
	press(UI_KEY_ENTER);
	for (size_t i = 0; i < ui.lines.count; i++)
		ck_assert_ptr_nonnull(strstr(row_name(i), "demo."));
	ck_assert_uint_eq(ui.lines.count, 3);
	press('\\');
	press(UI_KEY_ESCAPE);
	ck_assert_uint_eq(ui.lines.count, shot->views->methods.count);
	press_all("\\nothing of this name");
	press(UI_KEY_ENTER);
	draw(24, 80);
	SEES("nothing matches the filter 'nothing of this name'");
}
END_TEST

/* A row is there if one below it matches. */
START_TEST(filtering_rows_below_others)
{
	press_all("4\\Util");
	press(UI_KEY_ENTER);
	ck_assert_uint_eq(ui.lines.count, 2);
	ck_assert_str_eq(row_name(0), "byte[]");
	ck_assert_str_eq(row_name(1), "demo.Util.inline");
}
END_TEST

START_TEST(searching)
{
	press_all("/inline");
	ck_assert_str_eq(row_name(ui_cursor(&ui)), "demo.Util.inline");
	press(UI_KEY_ENTER);
	press('n');
	ck_assert_str_eq(row_name(ui_cursor(&ui)), "demo.Util.inline");
	press_all("/xx");
	draw(24, 80);
	press(UI_KEY_ENTER);
	SEES("Search: xx_");
	draw(24, 80);
}
END_TEST

START_TEST(a_typed_character_of_several_bytes)
{
	press_all("/a\u00e9\u4e2d");
	press(UI_KEY_BACKSPACE);
	ck_assert_str_eq(ui.search, "a\u00e9");
	for (int i = 0; i < 200; i++)
		press('x');
	ck_assert_uint_lt(strlen(ui.search), UI_TEXT);
}
END_TEST

START_TEST(folding)
{
	press('4');
	ck_assert_uint_eq(ui.lines.count, 5); /* byte[] with two sites, evil with one */
	press('-');
	ck_assert_uint_eq(ui.lines.count, 3);
	draw(24, 80);
	SEES("+ byte[]");
	press(UI_KEY_RIGHT);
	ck_assert_uint_eq(ui.lines.count, 5);
	press(UI_KEY_DOWN);
	press(UI_KEY_DOWN);
	press('-'); /* to the row above */
	ck_assert_uint_eq(ui_cursor(&ui), 0);
	ck_assert_str_eq(row_name(0), "byte[]");
}
END_TEST

START_TEST(the_cursor_stays_on_its_row)
{
	struct shot *next;
	const char *name;

	press(UI_KEY_DOWN);
	press(UI_KEY_DOWN);
	name = row_name(ui_cursor(&ui));
	press('T');
	ck_assert_str_eq(row_name(ui_cursor(&ui)), name);
	next = shot_of(more, 2);
	ck_assert_int_eq(ui_show(&ui, next), 0);
	ck_assert_str_eq(row_name(ui_cursor(&ui)), name);
	ui_show(&ui, shot);
	shot_free(next);
	press(UI_KEY_END);
	ck_assert_uint_eq(ui_cursor(&ui), ui.lines.count - 1);
	press(UI_KEY_PAGE_DOWN);
	ck_assert_uint_eq(ui_cursor(&ui), ui.lines.count - 1);
	draw(10, 40);
	ck_assert_uint_eq(ui.page, 6);
	press(UI_KEY_PAGE_UP);
	ck_assert_uint_eq(ui_cursor(&ui), ui.lines.count - 7);
	press(UI_KEY_HOME);
	press(UI_KEY_UP);
	ck_assert_uint_eq(ui_cursor(&ui), 0);
}
END_TEST

START_TEST(views_by_tab)
{
	for (int i = 0; i < TOP_VIEWS; i++) {
		ck_assert_int_eq(ui_view(&ui), i);
		press('\t');
	}
	ck_assert_int_eq(ui_view(&ui), TOP_METHODS);
	press(UI_KEY_BACKTAB);
	ck_assert_int_eq(ui_view(&ui), TOP_GC);
	press(UI_KEY_ENTER);
	ck_assert(!ui.stacks);
	draw(24, 80);
	SEES("collections have no stacks");
}
END_TEST

START_TEST(pause_window_and_requests)
{
	press(' ');
	draw(24, 80);
	SEES("paused");
	press(' ');
	press('w');
	draw(24, 80);
	SEES("all 2.5 s");
	ui.cut = true;
	draw(24, 80);
	SEES("kept 2.5 s");
	press(']');
	ck_assert(!ui.whole);
	ck_assert_uint_eq(ui.window_ns, 10000000000);
	for (int i = 0; i < 40; i++)
		press('[');
	ck_assert_uint_ge(ui.window_ns, 1000000000);
	press('?');
	draw(24, 80);
	SEES("braid top: keys");
	press('x');
	draw(24, 80);
	MISSES("braid top: keys");
	ck_assert_int_eq(press('s'), UI_SAVE);
	ck_assert_int_eq(press('q'), UI_QUIT);
	ck_assert_int_eq(press(UI_KEY_F10), UI_QUIT);
}
END_TEST

/* ---- stacks ---- */

static double share(const char *name)
{
	for (size_t i = 0; i < ui.stack_table.rows.count; i++)
		if (!strcmp(ui.stack_table.rows.at[i].name, name))
			return ui.stack_table.rows.at[i].value[0];
	return -1;
}

START_TEST(callers_of_a_method)
{
	press_all("/inline");
	press(UI_KEY_ENTER);
	press(UI_KEY_ENTER);
	ck_assert(ui.stacks);
	draw(24, 80);
	SEES("callers of demo.Util.inline\n");
	SEES("  100.0  - demo.Util.inline\n");
	SEES("demo.Main.work\n");
	ck_assert_double_eq_tol(share("demo.Main.main"), 100, 1e-9);
	ck_assert_double_eq_tol(share("foo::bar(int)"), -1, 1e-9);
	press(UI_KEY_ENTER); /* folds */
	ck_assert_uint_eq(ui.lines.count, 1);
	press(UI_KEY_ESCAPE);
	ck_assert(!ui.stacks);
}
END_TEST

START_TEST(what_a_thread_does)
{
	press_all("2/main");
	press(UI_KEY_ENTER);
	press(UI_KEY_ENTER);
	ck_assert_double_eq_tol(share("running"), 100, 1e-9);
	ck_assert_double_eq_tol(share("demo.Main.main"), 100, 1e-9);
	ck_assert_double_eq_tol(share("do_syscall_64"), 20, 1e-9);
	draw(24, 80);
	SEES("thread main\n");
}
END_TEST

START_TEST(where_a_class_is_allocated)
{
	press('4');
	press(UI_KEY_ENTER);
	ck_assert_double_eq_tol(share("demo.Util.inline"), 75, 1e-9);
	ck_assert_double_eq_tol(share("<script>alert(1)</script>.run"), 25, 1e-9);
	press(UI_KEY_ESCAPE);
	press(UI_KEY_DOWN); /* one site of it */
	press(UI_KEY_ENTER);
	ck_assert_double_eq_tol(share("demo.Util.inline"), 100, 1e-9);
	ck_assert_double_eq_tol(share("<script>alert(1)</script>.run"), -1, 1e-9);
}
END_TEST

START_TEST(stacks_of_a_row_that_has_gone)
{
	struct shot *without = shot_of(NULL, 0);

	press('3');
	press(UI_KEY_ENTER);
	ck_assert_uint_gt(ui.lines.count, 0);
	ck_assert_int_eq(ui_show(&ui, without), 0);
	ck_assert_uint_eq(ui.lines.count, 0);
	draw(24, 80);
	press(UI_KEY_DOWN);
	ui_show(&ui, shot);
	shot_free(without);
}
END_TEST

/* ---- text ---- */

START_TEST(long_names)
{
	char to[PAGE_NAME], name[2000];

	ck_assert_str_eq(page_name(to, "com.acme.shop.Orders.run", 24), "com.acme.shop.Orders.run");
	ck_assert_str_eq(page_name(to, "com.acme.shop.Orders.run", 22), "c.acme.shop.Orders.run");
	ck_assert_str_eq(page_name(to, "com.acme.shop.Orders.run", 16), "c.a.s.Orders.run");
	ck_assert_str_eq(page_name(to, "com.acme.shop.Orders.run", 9), "~ders.run");
	ck_assert_str_eq(page_name(to, "void_of::call(int, char)", 20), "void_of::call");
	ck_assert_str_eq(page_name(to, "\u00e9t\u00e9.a.B.c", 8), "\u00e9.a.B.c");
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	ck_assert_uint_lt(strlen(page_name(to, name, 10)), PAGE_NAME);
	for (size_t i = 1; i + 1 < sizeof(name); i += 2)
		name[i] = '.';
	ck_assert_uint_lt(strlen(page_name(to, name, 10)), PAGE_NAME);
}
END_TEST

START_TEST(wide_characters)
{
	struct canvas c;
	char line[64];

	ck_assert_int_eq(canvas_init(&c, 1, 5), 0);
	ck_assert_uint_eq(canvas_put(&c, 0, 0, 5, TOP_PLAIN, "\u4e2d\u6587\u5b57"), 4); /* no half character */
	ck_assert_str_eq(canvas_line(&c, 0, line), "\u4e2d\u6587");
	canvas_put(&c, 0, 0, 5, TOP_PLAIN, "\xff\x1b\xc2\x9b");
	ck_assert_int_eq(strncmp(canvas_line(&c, 0, line), "???", 3), 0);
	canvas_free(&c);
}
END_TEST

START_TEST(all_views_as_text)
{
	char *page;
	size_t size;
	FILE *out = open_memstream(&page, &size);

	ck_assert_int_eq(page_print(out, &ui, 80, 2), 0);
	fclose(out);
	free(text);
	text = page;
	SEES("\nMethods\n SELF%v TOTAL%  SAMPLES  KIND        METHOD\n  26.3");
	SEES("\nLocks\n SHARE%   BLOCKEDv");
	SEES("  100.0  50.00 ms       2  http nio 8080     - java.util.HashMap\n");
	SEES("\nCollections\n");
	MISSES("F1Help");
}
END_TEST

Suite *test_top_page(void)
{
	Suite *s = suite_create("top_page");
	TCase *tc = tcase_create("page");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, methods_by_self);
	tcase_add_test(tc, a_screen_of_80_columns);
	tcase_add_test(tc, a_small_screen);
	tcase_add_test(tc, a_recording_shorter_than_the_window);
	tcase_add_test(tc, nobody_was_blocked);
	tcase_add_test(tc, a_large_screen);
	tcase_add_test(tc, screens_of_no_size);
	tcase_add_test(tc, names_cannot_control_a_terminal);
	tcase_add_test(tc, before_the_first_second);
	tcase_add_test(tc, what_was_not_recorded_is_no_empty_table);
	tcase_add_test(tc, without_a_jvm_nothing_of_jvms_is_zero);
	tcase_add_test(tc, sorting);
	tcase_add_test(tc, filtering);
	tcase_add_test(tc, filtering_rows_below_others);
	tcase_add_test(tc, searching);
	tcase_add_test(tc, a_typed_character_of_several_bytes);
	tcase_add_test(tc, folding);
	tcase_add_test(tc, the_cursor_stays_on_its_row);
	tcase_add_test(tc, views_by_tab);
	tcase_add_test(tc, pause_window_and_requests);
	tcase_add_test(tc, callers_of_a_method);
	tcase_add_test(tc, what_a_thread_does);
	tcase_add_test(tc, where_a_class_is_allocated);
	tcase_add_test(tc, stacks_of_a_row_that_has_gone);
	tcase_add_test(tc, long_names);
	tcase_add_test(tc, wide_characters);
	tcase_add_test(tc, all_views_as_text);
	suite_add_tcase(s, tc);
	return s;
}
