// SPDX-License-Identifier: Apache-2.0
/* Splits .eh_frame and .debug_frame into CIEs and FDEs. */
#include "cfi.h"

#include "util/log.h"
#include "util/stint.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CIE_MAX (1U << 18)
/* Debian's largest libraries need a few million; the limit bounds the time for a forged file. */
#define INSTRUCTION_BUDGET (256ULL << 20)

static uint64_t pointer_value(struct cfi_bytes *b, uint8_t format)
{
	switch (format) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return bytes_uint(b, 8);
	case DW_EH_PE_uleb128:
		return bytes_uleb(b);
	case DW_EH_PE_udata2:
		return bytes_uint(b, 2);
	case DW_EH_PE_udata4:
		return bytes_uint(b, 4);
	case DW_EH_PE_sleb128:
		return (uint64_t)bytes_sleb(b);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int16_t)bytes_uint(b, 2);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int32_t)bytes_uint(b, 4);
	default:
		b->bad = true;
		return 0;
	}
}

uint64_t cfi_pointer(struct cfi_bytes *b, uint8_t encoding, const struct cfi_section *s, uint64_t function)
{
	uint64_t here = s->address + (uint64_t)(b->at - s->data), base = 0, value;

	switch (encoding & 0x70) {
	case DW_EH_PE_absptr:
		break;
	case DW_EH_PE_pcrel:
		base = here;
		break;
	case DW_EH_PE_textrel:
		base = s->text_base;
		break;
	case DW_EH_PE_datarel:
		base = s->data_base;
		break;
	case DW_EH_PE_funcrel:
		base = function;
		break;
	case DW_EH_PE_aligned:
		bytes_skip(b, -here & 7);
		break;
	default:
		b->bad = true;
	}
	value = pointer_value(b, encoding & 0x0f);
	if (b->bad)
		return 0;
	value += base;
	if ((encoding & DW_EH_PE_indirect) && s->load(s->arg, value, &value))
		b->bad = true;
	return value;
}

static void augmentation_data(struct cfi_cie *cie, const char *letters, struct cfi_bytes *b,
			      const struct cfi_section *section)
{
	for (; *letters; letters++)
		switch (*letters) {
		case 'R':
			cie->encoding = (uint8_t)bytes_uint(b, 1);
			break;
		case 'L':
			bytes_skip(b, 1);
			break;
		case 'P': {
			/* Only its length matters, and an indirect one need not be loadable. */
			uint8_t encoding = (uint8_t)bytes_uint(b, 1);

			if (encoding != DW_EH_PE_omit)
				cfi_pointer(b, encoding & (uint8_t)~DW_EH_PE_indirect, section, 0);
			break;
		}
		case 'S':
			cie->signal = true;
			break;
		case 'B': /* aarch64's pointer authentication keys: no data */
			break;
		default:
			b->bad = true;
			return;
		}
}

static void augmentation_read(struct cfi_cie *cie, const char *letters, struct cfi_bytes *b,
			      const struct cfi_section *section)
{
	struct cfi_bytes data;
	uint64_t size;

	if (letters[0] != 'z') { /* no data, hence no letter that needs any: GNU as writes "S" in .debug_frame */
		cie->signal = !strcmp(letters, "S");
		if (letters[0] && !cie->signal)
			b->bad = true;
		return;
	}
	cie->augmented = true;
	size = bytes_uleb(b);
	data = *b;
	bytes_skip(b, size);
	data.end = b->at;
	augmentation_data(cie, letters + 1, &data, section);
	if (data.bad)
		b->bad = true;
}

static void cie_read(struct cfi_entries *e, struct cfi_cie *cie, struct cfi_bytes *b)
{
	uint8_t version = (uint8_t)bytes_uint(b, 1);
	const char *letters = (const char *)b->at;
	const uint8_t *nul = memchr(b->at, 0, (size_t)(b->end - b->at));

	cie->encoding = DW_EH_PE_absptr;
	cie->broken = true;
	if (!nul || (version != 1 && version != 3 && version != 4))
		return;
	b->at = nul + 1;
	if (!strcmp(letters, "eh")) { /* GCC 2: a pointer to the exception table */
		bytes_skip(b, 8);
		letters = "";
	}
	if (version == 4 && (bytes_uint(b, 1) != 8 || bytes_uint(b, 1) != 0))
		return; /* address and segment selector size */
	cie->code_align = bytes_uleb(b);
	cie->data_align = bytes_sleb(b);
	cie->ra_register = version == 1 ? bytes_uint(b, 1) : bytes_uleb(b);
	augmentation_read(cie, letters, b, &e->section);
	if (!b->bad)
		cie->broken = !cfi_run_initial(e, cie, b->at, (size_t)(b->end - b->at));
}

static int cie_compare(const void *key, const void *element)
{
	uint32_t offset = *(const uint32_t *)key;
	const struct cfi_cie *cie = element;

	return offset < cie->offset ? -1 : offset > cie->offset;
}

static const struct cfi_cie *cie_find(const struct cfi_entries *e, uint64_t offset, uint32_t last)
{
	uint32_t key = (uint32_t)offset;

	if (offset >= e->section.size || !e->cies.count)
		return NULL;
	if (e->cies.at[last].offset == key)
		return &e->cies.at[last];
	return bsearch(&key, e->cies.at, e->cies.count, sizeof(*e->cies.at), cie_compare);
}

struct entry {
	uint32_t offset;
	uint64_t id;	    /* of a CIE, or the position of an FDE's CIE */
	uint32_t id_offset; /* .eh_frame's CIE pointers count back from here */
	bool cie;
	struct cfi_bytes body;
};

/* Reads the entry at *offset and advances it: 1, 0 at the end, -EBADMSG. Skips empty entries (terminators, padding). */
static int entry_next(const struct cfi_section *s, size_t *offset, struct entry *entry)
{
	struct cfi_bytes b = {s->data + *offset, s->data + s->size, false};
	unsigned int word = 4;
	uint64_t length;

	do {
		if (b.end - b.at < 4)
			return 0;
		entry->offset = (uint32_t)(b.at - s->data);
		length = bytes_uint(&b, 4);
		if (length == 0 && s->unbounded)
			return 0;
	} while (length == 0);
	if (length == 0xffffffff) {
		length = bytes_uint(&b, 8);
		word = s->eh ? 4 : 8;
	}
	entry->body = b;
	bytes_skip(&b, length);
	if (b.bad)
		return -EBADMSG;
	entry->body.end = b.at;
	*offset = (size_t)(b.at - s->data);
	entry->id_offset = (uint32_t)(entry->body.at - s->data);
	entry->id = bytes_uint(&entry->body, word);
	if (s->eh)
		entry->cie = entry->id == 0;
	else
		entry->cie = entry->id == (word == 8 ? UINT64_MAX : UINT32_MAX);
	return entry->body.bad ? -EBADMSG : 1;
}

static int cie_add(struct cfi_entries *e, struct entry *entry)
{
	struct cfi_cie *cie;

	if (e->cies.count == CIE_MAX)
		return -EBADMSG;
	if (VEC_RESERVE(&e->cies, 1))
		return -ENOMEM;
	cie = memset(&e->cies.at[e->cies.count], 0, sizeof(*cie));
	cie->offset = entry->offset;
	cie_read(e, cie, &entry->body);
	e->cies.count++;
	return 0;
}

static int fde_add(struct cfi_entries *e, struct entry *entry, uint32_t *last_cie)
{
	const struct cfi_section *s = &e->section;
	struct cfi_bytes *b = &entry->body;
	const struct cfi_cie *cie = cie_find(e, s->eh ? entry->id_offset - entry->id : entry->id, *last_cie);
	uint64_t start, size;

	if (!cie)
		return -EBADMSG;
	*last_cie = (uint32_t)(cie - e->cies.at);
	start = cfi_pointer(b, cie->encoding, s, 0);
	size = pointer_value(b, cie->encoding & 0x0f);
	if (cie->augmented)
		bytes_skip(b, bytes_uleb(b));
	if (b->bad)
		return -EBADMSG;
	/* Functions that the linker dropped remain in .debug_frame at addresses outside of the code. */
	if (size == 0 || start > UINT32_MAX || size > UINT32_MAX - start || !s->is_code(s->arg, start, start + size))
		return 0;
	if (e->fdes.count == e->fdes_max)
		return -EBADMSG;
	return VEC_PUSH(&e->fdes, (struct cfi_fde){
					  .start = (uint32_t)start,
					  .end = (uint32_t)(start + size),
					  .cie = *last_cie,
					  .program = (uint32_t)(b->at - s->data),
					  .program_bytes = (uint32_t)(b->end - b->at),
				  });
}

/* Skips only the entry itself when its length is plausible but its content is not. */
static int entries_pass(struct cfi_entries *e, bool cies, uint32_t *bad)
{
	uint32_t last_cie = 0;
	size_t offset = 0;
	struct entry entry;
	int err;

	while ((err = entry_next(&e->section, &offset, &entry)) > 0) {
		if (stint_over())
			return -ETIME;
		if (entry.cie != cies)
			continue;
		err = cies ? cie_add(e, &entry) : fde_add(e, &entry, &last_cie);
		if (err == -EBADMSG)
			++*bad;
		else if (err)
			return err;
	}
	if (err == -EBADMSG && !cies)
		++*bad;
	return 0;
}

int cfi_entries_read(struct cfi_entries *e, const struct cfi_section *section, uint32_t fdes_max)
{
	uint32_t bad = 0;
	int err;

	memset(e, 0, sizeof(*e));
	e->section = *section;
	e->fdes_max = fdes_max;
	e->budget = INSTRUCTION_BUDGET;
	err = entries_pass(e, true, &bad);
	if (!err)
		err = entries_pass(e, false, &bad);
	if (bad)
		log_debug("%u broken entries in %s left out", bad, section->eh ? ".eh_frame" : ".debug_frame");
	if (!err && bad && !e->fdes.count)
		err = -EBADMSG;
	if (err)
		cfi_entries_free(e);
	return err;
}

void cfi_entries_free(struct cfi_entries *e)
{
	if (!e)
		return;
	free(e->cies.at);
	free(e->fdes.at);
	memset(e, 0, sizeof(*e));
}
