// SPDX-License-Identifier: Apache-2.0
/*
 * What the parts of the CFI compiler share: decoded entries (entry.c), their interpreter (program.c), and the machine's
 * part (x86_64.c).
 */
#ifndef BRAID_UNWIND_CFI_H
#define BRAID_UNWIND_CFI_H

#include "util/vec.h"

#include <braid/unwind.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- bytes ---- */

/* A read beyond the end sets `bad`; from there on reads return 0. */
struct cfi_bytes {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
};

uint64_t bytes_uint(struct cfi_bytes *b, unsigned int size); /* size 1, 2, 4 or 8; little endian */
uint64_t bytes_uleb(struct cfi_bytes *b);
int64_t bytes_sleb(struct cfi_bytes *b);
const uint8_t *bytes_skip(struct cfi_bytes *b, uint64_t count);

/* ---- rules ---- */

enum cfi_how {
	CFI_UNSPECIFIED, /* the machine's default */
	CFI_UNDEFINED,
	CFI_SAME,
	CFI_OFFSET,	    /* *(cfa + offset) */
	CFI_VAL_OFFSET,	    /* cfa + offset */
	CFI_REGISTER,	    /* reg; for the CFA: reg + offset */
	CFI_EXPRESSION,	    /* *(value of expr); for the CFA: value of expr */
	CFI_VAL_EXPRESSION, /* value of expr */
	CFI_INVALID,
};

struct cfi_rule {
	enum cfi_how how;
	uint32_t reg;
	int64_t offset;
	const uint8_t *expr;
	size_t expr_bytes;
};

/* The registers whose rules the machine needs; CFI_RA is the return address. */
enum cfi_column { CFI_FP, CFI_SP, CFI_RA, CFI_COLUMNS, CFI_IGNORED = CFI_COLUMNS };

struct cfi_state {
	struct cfi_rule cfa;
	struct cfi_rule column[CFI_COLUMNS];
};

/* ---- entries ---- */

struct cfi_section {
	const uint8_t *data;
	size_t size;
	uint64_t address;   /* of data[0] in the image */
	uint64_t text_base; /* DW_EH_PE_textrel */
	uint64_t data_base; /* DW_EH_PE_datarel */
	bool eh;	    /* .eh_frame; else .debug_frame */
	bool unbounded;	    /* only a terminator marks its end */
	/* The 8 bytes in the file at an address, for DW_EH_PE_indirect. */
	int (*load)(void *arg, uint64_t address, uint64_t *value);
	/* Whether [start, end) is code of the image; other FDEs are skipped. */
	bool (*is_code)(void *arg, uint64_t start, uint64_t end);
	void *arg;
};

struct cfi_cie {
	uint32_t offset;
	bool broken;
	bool augmented; /* 'z' */
	bool signal;	/* 'S' */
	uint8_t encoding;
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_register;
	struct cfi_state initial;
};

struct cfi_fde {
	uint32_t start;
	uint32_t end;
	uint32_t cie; /* index */
	uint32_t program;
	uint32_t program_bytes;
};

struct cfi_entries {
	struct cfi_section section;
	VEC(struct cfi_cie) cies; /* sorted by offset */
	VEC(struct cfi_fde) fdes; /* in file order */
	uint32_t fdes_max;	  /* further ones are left out */
	uint64_t budget;	  /* number of instructions that may still be interpreted */
};

/*
 * Splits a section into CIEs and FDEs, up to the first invalid entry, and at most `fdes_max` of these. -EBADMSG when
 * there is no valid entry, -ETIME at the end of a stint (util/stint.h).
 */
int cfi_entries_read(struct cfi_entries *out, const struct cfi_section *section, uint32_t fdes_max);
void cfi_entries_free(struct cfi_entries *e);

/* Decodes a pointer, DW_EH_PE_*; sets b->bad when that fails. */
uint64_t cfi_pointer(struct cfi_bytes *b, uint8_t encoding, const struct cfi_section *s, uint64_t function);

/* ---- rows ---- */

typedef VEC(struct braid_unwind_row) cfi_rows;

/* The rule holds from pc on. pc never decreases; of several rules at one pc the last counts. -ENOMEM or -EFBIG. */
int rows_put(cfi_rows *rows, uint32_t pc, uint32_t rule);

/* ---- programs ---- */

/* Runs a CIE's initial instructions into cie->initial; false when they are invalid. */
bool cfi_run_initial(struct cfi_entries *e, struct cfi_cie *cie, const uint8_t *program, size_t size);

/* Adds the rows of an FDE within [lo, hi); an invalid program gives BRAID_CFA_UNSUPPORTED from there on. */
int cfi_run(struct cfi_entries *e, const struct cfi_fde *fde, uint32_t lo, uint32_t hi, cfi_rows *rows);

/* ---- the machine (x86_64.c) ---- */

extern const unsigned int machine_elf; /* EM_* */
extern const char *const machine_name;

enum cfi_column machine_column(uint64_t reg);
bool machine_is_ra(uint64_t reg);

/* Adds rows for [lo, hi), where the state does not change. */
int machine_rows(cfi_rows *rows, uint32_t lo, uint32_t hi, const struct cfi_state *state, bool signal);

/* A section of PLT slots without CFI. */
struct machine_plt {
	const char *name;
	uint32_t start;
	const uint8_t *code;
	size_t size;
};

bool machine_plt_known(const struct machine_plt *plt);
int machine_plt_rows(cfi_rows *rows, const struct machine_plt *plt, uint32_t lo, uint32_t hi);

/* ---- the table (table.c) ---- */

struct unwind_table;

/* Takes ownership of the rows, also on failure. */
int table_from_rows(struct unwind_table **out, struct braid_unwind_row *rows, size_t count);

#endif
