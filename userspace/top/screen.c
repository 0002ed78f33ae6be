// SPDX-License-Identifier: Apache-2.0
#include "screen.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "ui.h"

/* Last: its macros have common names. */
#include <ncurses.h>
#include <term.h>
#undef columns
#undef lines

#define ESCAPE_MS 25

static SCREEN *screen;
static struct termios before;
static char undo[256]; /* what puts the terminal back */

/* ---- what a style looks like ---- */

static const struct look {
	short pair; /* 0: the terminal's own colours */
	short text, ground;
	attr_t with, plain; /* attributes with colours, and without */
} looks[TOP_STYLES] = {
	[TOP_TITLE] = {.with = A_BOLD, .plain = A_BOLD},
	[TOP_FAINT] = {.with = A_DIM, .plain = A_NORMAL},
	[TOP_TAB] = {.pair = 1, .text = COLOR_WHITE, .ground = COLOR_BLUE, .plain = A_NORMAL},
	[TOP_TAB_ON] = {.pair = 2, .text = COLOR_BLACK, .ground = COLOR_WHITE, .plain = A_REVERSE},
	[TOP_COLUMNS] = {.pair = 3, .text = COLOR_BLACK, .ground = COLOR_GREEN, .plain = A_UNDERLINE},
	[TOP_COLUMN_SORT] = {.pair = 4, .text = COLOR_BLACK, .ground = COLOR_CYAN, .plain = A_UNDERLINE | A_BOLD},
	[TOP_CURSOR] = {.pair = 4, .text = COLOR_BLACK, .ground = COLOR_CYAN, .plain = A_REVERSE},
	[TOP_FOUND] = {.pair = 5, .text = COLOR_YELLOW, .ground = -1, .with = A_BOLD, .plain = A_BOLD},
	[TOP_KEY] = {.plain = A_NORMAL},
	[TOP_KEY_TEXT] = {.pair = 4, .text = COLOR_BLACK, .ground = COLOR_CYAN, .plain = A_REVERSE},
	[TOP_WARN] = {.pair = 5, .text = COLOR_YELLOW, .ground = -1, .with = A_BOLD, .plain = A_BOLD},
	[TOP_JAVA] = {.pair = 6, .text = COLOR_GREEN, .ground = -1},
	[TOP_NATIVE] = {.pair = 7, .text = COLOR_CYAN, .ground = -1},
	[TOP_KERNEL] = {.pair = 8, .text = COLOR_RED, .ground = -1},
	[TOP_VM] = {.pair = 9, .text = COLOR_MAGENTA, .ground = -1},
};

static bool coloured;

static void begin_colours(void)
{
	const char *none = getenv("NO_COLOR");

	coloured = !(none && *none) && has_colors() && start_color() == OK && use_default_colors() == OK;
	for (int i = 0; coloured && i < TOP_STYLES; i++)
		if (looks[i].pair)
			init_pair(looks[i].pair, looks[i].text, looks[i].ground);
}

static attr_t attributes(uint8_t style)
{
	const struct look *l = &looks[style < TOP_STYLES ? style : TOP_PLAIN];

	return coloured ? l->with | COLOR_PAIR(l->pair) : l->plain;
}

/* ---- life ---- */

bool screen_possible(void)
{
	const char *type = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && type && *type && strcmp(type, "dumb") != 0;
}

/* Only functions that a signal handler may call. */
static void restore(void)
{
	size_t length = strlen(undo);

	if (write(STDOUT_FILENO, undo, length) != (ssize_t)length)
		return;
	tcsetattr(STDOUT_FILENO, TCSANOW, &before);
}

static void on_crash(int number)
{
	restore();
	signal(number, SIG_DFL);
	raise(number);
}

static void keep_undo(void)
{
	static const char *const names[] = {"rmkx", "sgr0", "cnorm", "rmcup"};
	size_t used = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *text = tigetstr(names[i]);
		size_t length = text && text != (char *)-1 ? strlen(text) : 0;

		if (used + length + 2 > sizeof(undo))
			break;
		memcpy(undo + used, text ? text : "", length);
		used += length;
	}
	undo[used++] = '\n';
	undo[used] = 0;
}

int screen_begin(void)
{
	static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};

	setlocale(LC_CTYPE, "");
	tcgetattr(STDOUT_FILENO, &before);
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return -ENOTTY;
	keep_undo();
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		signal(crashes[i], on_crash);
	begin_colours();
	cbreak();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	return 0;
}

void screen_end(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

/* ---- drawing ---- */

void screen_size(unsigned *rows, unsigned *columns)
{
	*rows = (unsigned)LINES;
	*columns = (unsigned)COLS;
}

static void show_row(const struct canvas *c, unsigned row, char *run)
{
	unsigned from = 0;

	while (from < c->columns) {
		uint8_t style = canvas_cell(c, row, from)->style;
		unsigned to = from;
		size_t used = 0;

		for (; to < c->columns && canvas_cell(c, row, to)->style == style; to++) {
			size_t length = strlen(canvas_cell(c, row, to)->text);

			memcpy(run + used, canvas_cell(c, row, to)->text, length);
			used += length;
		}
		attrset((int)attributes(style));
		mvaddnstr((int)row, (int)from, run, (int)used);
		from = to;
	}
}

void screen_show(const struct canvas *c)
{
	char *run = malloc(canvas_line_max(c));

	erase();
	for (unsigned row = 0; run && row < c->rows; row++)
		show_row(c, row, run);
	free(run);
	attrset(A_NORMAL);
	refresh();
}

/* ---- keys ---- */

uint32_t screen_key(void)
{
	static const struct {
		int code;
		uint32_t key;
	} keys[] = {{KEY_UP, UI_KEY_UP},	 {KEY_DOWN, UI_KEY_DOWN},
		    {KEY_LEFT, UI_KEY_LEFT},	 {KEY_RIGHT, UI_KEY_RIGHT},
		    {KEY_PPAGE, UI_KEY_PAGE_UP}, {KEY_NPAGE, UI_KEY_PAGE_DOWN},
		    {KEY_HOME, UI_KEY_HOME},	 {KEY_END, UI_KEY_END},
		    {KEY_ENTER, UI_KEY_ENTER},	 {'\r', UI_KEY_ENTER},
		    {'\n', UI_KEY_ENTER},	 {27, UI_KEY_ESCAPE},
		    {127, UI_KEY_BACKSPACE},	 {KEY_BACKSPACE, UI_KEY_BACKSPACE},
		    {'\b', UI_KEY_BACKSPACE},	 {KEY_BTAB, UI_KEY_BACKTAB},
		    {KEY_RESIZE, SCREEN_RESIZED}};
	int code = getch();

	if (code == ERR)
		return 0;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].code == code)
			return keys[i].key;
	if (code >= KEY_F(1) && code <= KEY_F(10))
		return UI_KEY_F1 + (uint32_t)(code - KEY_F(1));
	return code > 0 && code < 0x100 ? (uint32_t)code : screen_key();
}
