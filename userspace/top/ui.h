// SPDX-License-Identifier: Apache-2.0
/*
 * What the user of a screen has chosen, and what keys do to it. It knows no terminal: keys come in and requests go out.
 */
#ifndef BRAID_TOP_UI_H
#define BRAID_TOP_UI_H

#include <stdbool.h>
#include <stdint.h>

#include "shot.h"

#define UI_TEXT 64
#define UI_MESSAGE 256

enum top_unit { IN_PERCENT, IN_NUMBER, IN_TIME, IN_BYTES, IN_ID };

struct top_column {
	const char *title;
	enum top_unit unit;
	uint8_t width;	   /* with the blank behind it */
	uint8_t from_wide; /* screens narrower than this do not have it */
};

/* What a table shows: its columns of numbers, then that of a note, then the name. */
struct top_layout {
	const char *title, *tab;
	struct top_column columns[TOP_VALUES];
	unsigned count;
	struct top_column note; /* without a title: none */
	const char *name;
	const char *type; /* of events, in `-e`; NULL: not by one */
};

extern const struct top_layout top_layouts[TOP_TABLES];

enum ui_prompt { UI_NO_PROMPT, UI_FILTER, UI_SEARCH };

/* What a key asks its caller for. */
enum ui_request { UI_NOTHING, UI_QUIT, UI_SAVE };

/* Keys beside characters. */
enum ui_key {
	UI_KEY_UP = 0x1000000,
	UI_KEY_DOWN,
	UI_KEY_LEFT,
	UI_KEY_RIGHT,
	UI_KEY_PAGE_UP,
	UI_KEY_PAGE_DOWN,
	UI_KEY_HOME,
	UI_KEY_END,
	UI_KEY_ENTER,
	UI_KEY_ESCAPE,
	UI_KEY_BACKSPACE,
	UI_KEY_BACKTAB,
	UI_KEY_F1, /* and so on to F10 */
	UI_KEY_F10 = UI_KEY_F1 + 9,
};

struct ui_table {
	unsigned sort; /* the column; the count of columns: the name */
	bool ascending;
	uint64_t cursor;       /* the row's key; 0: the first row */
	size_t at;	       /* where that was */
	size_t first;	       /* line on the screen */
	struct u64map flipped; /* rows that are open and would not be, or the other way round */
};

struct ui {
	enum top_view view;
	bool stacks; /* the stacks behind the row of the view are shown */
	uint64_t stacks_key;
	char stacks_of[160];
	struct ui_table tables[TOP_TABLES];
	char filter[UI_TEXT], search[UI_TEXT];
	enum ui_prompt prompt;
	char typed[UI_TEXT];
	bool help, paused, whole; /* whole: since the start */
	uint64_t window_ns;
	char message[UI_MESSAGE];  /* shown until the next key, or for a while */
	uint64_t message_until_ns; /* 0: until the next key */
	const char *state;	   /* "recording", "ended" */
	uint64_t age_ns;	   /* of the recording, or of what is kept of it */
	bool cut;		   /* its beginning is not */

	/* What is shown now. */
	const struct shot *shot; /* NULL: none yet */
	struct top_table stack_table;
	VEC(uint32_t) lines; /* rows of the table at hand */
	size_t page;	     /* lines on a screen */
};

void ui_init(struct ui *ui, uint64_t window_ns);
void ui_free(struct ui *ui);

/* Shows another shot. 0 or -ENOMEM. */
int ui_show(struct ui *ui, const struct shot *s);

/* 0 or -ENOMEM; *request is what is to be done. */
int ui_key(struct ui *ui, uint32_t key, enum ui_request *request);

/* The table at hand, NULL: there is no shot. */
const struct top_table *ui_table(const struct ui *ui);
enum top_view ui_view(const struct ui *ui);
/* Whether the children of a row are shown. */
bool ui_is_open(const struct ui *ui, const struct top_row *row);
/* The line of the cursor. */
size_t ui_cursor(const struct ui *ui);
bool ui_matches(const char *name, const char *part);

void ui_say(struct ui *ui, uint64_t until_ns, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
