// SPDX-License-Identifier: Apache-2.0
/*
 * The terminal. It is as it was before when the screen ends, also if that is by a signal or a crash. There is one
 * screen.
 */
#ifndef BRAID_TOP_SCREEN_H
#define BRAID_TOP_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "canvas.h"

/* Whether standard input and output are a terminal that can have a screen. */
bool screen_possible(void);

/* 0, or -ENOTTY: the type of the terminal is not known. */
int screen_begin(void);
void screen_end(void);

void screen_size(unsigned *rows, unsigned *columns);
void screen_show(const struct canvas *c);

/* The next key as ui_key() takes it, 0: there is none now. A changed size is SCREEN_RESIZED. */
uint32_t screen_key(void);
#define SCREEN_RESIZED UINT32_MAX

#endif
