// SPDX-License-Identifier: Apache-2.0
/* What a screen looks like. */
#ifndef BRAID_TOP_PAGE_H
#define BRAID_TOP_PAGE_H

#include <stdio.h>

#include "canvas.h"
#include "ui.h"

/* Draws the screen on a blank canvas, and decides which rows of the table are on it. */
void page_draw(struct canvas *c, struct ui *ui);

/* Prints all views as text, with at most `rows` rows of each. 0 or -ENOMEM. */
int page_print(FILE *out, struct ui *ui, unsigned columns, unsigned rows);

/*
 * A name that is too long has its packages cut to letters, from the front, "c.a.b.Main.run", then its front cut off,
 * "~Main.run"; a native function has no parameters. Returns `to`.
 */
#define PAGE_NAME 512
const char *page_name(char to[PAGE_NAME], const char *name, unsigned width);

#endif
