// SPDX-License-Identifier: Apache-2.0
/* Reads .note.stapsdt, and finds the functions that contain the probes. */
#include "usdt.h"

#include "set.h"

#include "util/elf_file.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>

#define NOTE_TYPE 3
#define NOTE_OWNER "stapsdt"
#define NOTES_MAX (4UL << 20)
#define FUNCTION_MAX (1UL << 20) /* bytes */

struct notes {
	Elf *elf;
	const char *provider, *name;
	uint64_t base; /* of .stapsdt.base; a note's value differs by what prelink moved */
	bool (*fn)(void *ctx, const struct usdt_place *place);
	void *ctx;
	bool found, stopped;
};

static void find_code(Elf *elf, struct usdt_place *p)
{
	uint64_t start, end;
	GElf_Phdr ph;

	if (!frames_around(elf, p->address, &start, &end) || !elf_segment_of(elf, p->address, PF_X, &ph))
		return;
	if (end - ph.p_vaddr > ph.p_filesz)
		end = ph.p_vaddr + ph.p_filesz;
	if (end - start > FUNCTION_MAX)
		return;
	p->code = elf_segment_bytes(elf, &ph, start, end - start);
	if (!p->code)
		return;
	p->before = p->address - start;
	p->size = end - start;
}

/* Location, base and semaphore, then the names of provider and probe, and the probe's arguments. */
static void on_note(struct notes *n, const char *description, size_t size)
{
	struct usdt_place p = {0};
	uint64_t words[3], moved;
	const char *provider = description + sizeof(words), *end = description + size, *name;
	GElf_Phdr ph;

	if (size < sizeof(words) || !memchr(provider, 0, (size_t)(end - provider)))
		return;
	name = provider + strlen(provider) + 1;
	if (name == end || !memchr(name, 0, (size_t)(end - name)) || strcmp(provider, n->provider) != 0 ||
	    strcmp(name, n->name) != 0)
		return;
	memcpy(words, description, sizeof(words));
	moved = n->base && words[1] ? n->base - words[1] : 0;
	p.address = words[0] + moved;
	p.counter_fits = !words[2] || elf_segment_of(n->elf, words[2] + moved, PF_W, &ph);
	find_code(n->elf, &p);
	n->found = true;
	n->stopped = !n->fn(n->ctx, &p);
}

static void each_note(struct notes *n, Elf_Data *data)
{
	size_t at = 0, name, description;
	GElf_Nhdr h;

	while (!n->stopped && (at = gelf_getnote(data, at, &h, &name, &description)) > 0)
		if (h.n_type == NOTE_TYPE && h.n_namesz == sizeof(NOTE_OWNER) &&
		    memcmp((const char *)data->d_buf + name, NOTE_OWNER, sizeof(NOTE_OWNER)) == 0)
			on_note(n, (const char *)data->d_buf + description, h.n_descsz);
}

int usdt_places(int fd, const char *provider, const char *name, bool (*fn)(void *ctx, const struct usdt_place *place),
		void *ctx)
{
	struct notes n = {.provider = provider, .name = name, .fn = fn, .ctx = ctx};
	Elf_Data *data = NULL;
	Elf_Scn *scn;
	GElf_Shdr sh;
	int err = elf_open(&n.elf, elf_of_file(fd));

	if (err)
		return err;
	if (elf_section_named(n.elf, ".stapsdt.base", &sh))
		n.base = sh.sh_addr;
	scn = elf_section_named(n.elf, ".note.stapsdt", &sh);
	if (scn && sh.sh_type == SHT_NOTE && sh.sh_size <= NOTES_MAX)
		data = elf_getdata(scn, NULL);
	if (data && data->d_buf)
		each_note(&n, data);
	elf_end(n.elf);
	return n.found ? 0 : -ENOENT;
}
