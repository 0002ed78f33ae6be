// SPDX-License-Identifier: Apache-2.0
#include "style.h"

static bool used;

void style_use(bool colours)
{
	used = colours;
}

const char *style(enum style s)
{
	static const char *const sequences[STYLES] = {[STYLE_PLAIN] = "\033[0m",
						      [STYLE_HEAD] = "\033[1m",
						      [STYLE_BAD] = "\033[1;31m",
						      [STYLE_WARN] = "\033[33m",
						      [STYLE_FAINT] = "\033[2m"};

	return used ? sequences[s] : "";
}
