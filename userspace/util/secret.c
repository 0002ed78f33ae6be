// SPDX-License-Identifier: Apache-2.0
#include "secret.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define KEY_MAX 256

/* Parts of keys, without what separates words in them. */
static const char *const parts[] = {
	"accesskey", "apikey",	   "auth", "connectionstring", "credential", "jaas", "passphrase", "passwd",
	"password",  "privatekey", "pwd",  "secret",	       "token",
};

static bool word_names_secret(const char *key, size_t length)
{
	char plain[KEY_MAX];
	size_t n = 0;

	for (size_t i = 0; i < length && n < sizeof(plain) - 1; i++)
		if (isalnum((unsigned char)key[i]))
			plain[n++] = (char)tolower((unsigned char)key[i]);
	plain[n] = '\0';
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(plain, parts[i]))
			return true;
	return false;
}

bool secret_key(const char *key)
{
	return word_names_secret(key, strlen(key));
}

void secret_mask(char *to, size_t size, const char *text)
{
	size_t used = 0;

	while (*text && used < size - 1) {
		size_t gap = strspn(text, " \t\n"), word = strcspn(text + gap, " \t\n");
		const char *equals = memchr(text + gap, '=', word);
		bool masked = equals && word_names_secret(text + gap, (size_t)(equals - text) - gap);
		size_t kept = masked ? (size_t)(equals + 1 - text) : gap + word;
		int n = snprintf(to + used, size - used, "%.*s%s", (int)kept, text, masked ? SECRET_MASK : "");

		used += (size_t)n < size - used ? (size_t)n : size - 1 - used;
		text += gap + word;
	}
	to[used] = '\0';
}
