// SPDX-License-Identifier: Apache-2.0
/* Colours of a terminal. They are off until a command that prints to one turns them on. */
#ifndef BRAID_UTIL_STYLE_H
#define BRAID_UTIL_STYLE_H

#include <stdbool.h>

enum style { STYLE_PLAIN, STYLE_HEAD, STYLE_BAD, STYLE_WARN, STYLE_FAINT, STYLES };

void style_use(bool colours);
/* The escape sequence that begins the style, or "" without colours. */
const char *style(enum style s);

#endif
