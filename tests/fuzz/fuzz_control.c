// SPDX-License-Identifier: Apache-2.0
/*
 * Fuzzes what a recorder reads from its control socket: the request, and the list of events in it. An even first byte
 * means that the rest is a request as it is. An odd one means that the rest has lists, one a line, of valid requests
 * that change one configuration. `make fuzz` builds and runs it.
 */
#include <stdint.h>
#include <string.h>

#include "config/event_config.h"
#include "record/control.h"

#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A configuration's text is a list that selects the same configuration. */
static void read_back(const struct braid_event_config *config)
{
	struct braid_event_config again = *config, of_all = *config;
	char text[EVENT_CONFIG_TEXT], why[SELECTION_WHY];
	uint32_t named;

	memset(of_all.threads, 0, sizeof(of_all.threads));
	event_config_text(&of_all, text, sizeof(text));
	if (config->enabled && *text)
		must(event_config_change(&again, CONFIG_ENABLE, text, &named, why) == 0, "its own list is refused");
}

static void change(struct braid_event_config *config, const struct braid_control_request *r)
{
	enum config_change what = (enum config_change)(r->verb - BRAID_CONTROL_ENABLE);
	struct braid_event_config before = *config;
	char list[sizeof(r->list)], why[SELECTION_WHY] = "";
	uint32_t named = 0;

	memcpy(list, r->list, sizeof(list));
	if (event_config_change(config, what, list, &named, why)) {
		must(*why && memchr(why, 0, sizeof(why)), "refused without a reason");
		must(memcmp(config, &before, sizeof(before)) == 0, "refused, but changed");
		return;
	}
	if (event_config_thread(config, &before, what, named, r->thread, why))
		must(*why && memchr(why, 0, sizeof(why)), "thread refused without a reason");
	read_back(config);
}

static void perform(struct braid_event_config *config, const struct braid_control_request *r, size_t size)
{
	if (!control_request_good(r, size))
		return;
	must(memchr(r->list, 0, sizeof(r->list)) != NULL, "a list without a terminating zero");
	if (r->verb >= BRAID_CONTROL_ENABLE && r->verb <= BRAID_CONTROL_INTERVAL)
		change(config, r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct braid_control_request r = {.magic = BRAID_CONTROL_MAGIC, .version = BRAID_CONTROL_VERSION};
	struct event_selection selection;
	const uint8_t *end = data + size;

	if (!size)
		return 0;
	selection_init(&selection);
	if (*data++ % 2 == 0) {
		memcpy(&r, data, size - 1 < sizeof(r) ? size - 1 : sizeof(r));
		perform(&selection.config, &r, size - 1);
		return 0;
	}
	while (data < end) {
		const uint8_t *line = memchr(data, '\n', (size_t)(end - data)) ?: end;
		size_t length = (size_t)(line - data);

		memset(r.list, 0, sizeof(r.list));
		memcpy(r.list, data, length < sizeof(r.list) ? length : sizeof(r.list) - 1);
		r.verb = (uint16_t)(BRAID_CONTROL_ENABLE + length % 3);
		r.thread = length % 5 ? 0 : (uint32_t)length;
		perform(&selection.config, &r, sizeof(r));
		data = line < end ? line + 1 : end;
	}
	return 0;
}
