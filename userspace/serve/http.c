// SPDX-License-Identifier: Apache-2.0
#include "http.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#include <util/log.h>

static const struct {
	const char *symbol;
	size_t at; /* in struct http */
} functions[] = {
#define HTTP_FUNCTION(name) {"MHD_" #name, offsetof(struct http, name)},
	HTTP_FUNCTIONS(HTTP_FUNCTION)
#undef HTTP_FUNCTION
};

const struct http *http_load(void)
{
	static struct http http;
	static bool loaded;
	void *library = loaded ? NULL : dlopen(HTTP_LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (loaded)
		return &http;
	if (!library) {
		log_error("%s; install the package libmicrohttpd12", dlerror());
		return NULL;
	}
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *found = dlsym(library, functions[i].symbol);

		if (!found) {
			log_error("%s; install a newer libmicrohttpd12", dlerror());
			dlclose(library);
			return NULL;
		}
		*(void **)((char *)&http + functions[i].at) = found;
	}
	loaded = true;
	return &http;
}
