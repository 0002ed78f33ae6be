// SPDX-License-Identifier: Apache-2.0
#include "matches.h"

#include "core/publish.h"
#include "core/slots.h"

/* Hashes of the patterns that are known to match; one of another configuration is no other pattern's. */
static _Atomic uint64_t told_methods[BRAID_METHOD_PATTERNS], told_fields[BRAID_FIELD_PATTERNS];

static uint64_t key_of(const struct braid_method_pattern *p)
{
	uint64_t key = HASH_BEGIN;

	for (size_t i = 0; i < BRAID_METHOD_TEXT && p->text[i]; i++)
		key = (key ^ (uint8_t)p->text[i]) * HASH_SPREAD;
	return key ?: 1;
}

static void tell(const struct braid_method_pattern *p, bool is_field, bool matches)
{
	struct braid_rec_pattern r = {.is_field = is_field, .matches = matches};

	record_init(&r.hdr, BRAID_REC_PATTERN, 0);
	r.text_len = (uint16_t)strnlen(p->text, sizeof(p->text));
	publish_definition((struct iovec[]){PART(&r, sizeof(r)), PART(p->text, r.text_len)}, 2);
}

static bool is_told(_Atomic uint64_t *told, const struct braid_method_pattern *p)
{
	return atomic_load(told) == key_of(p);
}

static void tell_match(_Atomic uint64_t *told, const struct braid_method_pattern *p, bool is_field)
{
	uint64_t key = key_of(p);

	if (atomic_exchange(told, key) != key)
		tell(p, is_field, true);
}

void matches_begin(const struct braid_event_config *c, bool methods, bool fields)
{
	for (size_t i = 0; methods && i < BRAID_METHOD_PATTERNS && *c->methods[i].text; i++) {
		atomic_store(&told_methods[i], 0);
		tell(&c->methods[i], false, false);
	}
	for (size_t i = 0; fields && i < BRAID_FIELD_PATTERNS && *c->fields[i].text; i++) {
		atomic_store(&told_fields[i], 0);
		tell(&c->fields[i], true, false);
	}
}

void matches_method(const struct braid_event_config *c, const struct subject *s, int first)
{
	for (int i = first; i < BRAID_METHOD_PATTERNS && *c->methods[i].text; i++)
		if (!is_told(&told_methods[i], &c->methods[i]) && patterns_matches(&c->methods[i], s))
			tell_match(&told_methods[i], &c->methods[i], false);
}

void matches_field(const struct braid_event_config *c, struct text class, struct text name, int first)
{
	for (int i = first; i < BRAID_FIELD_PATTERNS && *c->fields[i].text; i++)
		if (!is_told(&told_fields[i], &c->fields[i]) && patterns_matches_field(&c->fields[i], class, name))
			tell_match(&told_fields[i], &c->fields[i], true);
}
