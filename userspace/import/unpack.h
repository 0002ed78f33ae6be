// SPDX-License-Identifier: Apache-2.0
/* Whole files in memory, unpacked if they are packed by gzip. */
#ifndef BRAID_IMPORT_UNPACK_H
#define BRAID_IMPORT_UNPACK_H

#include "input.h"

#define UNPACK_MAX (1ULL << 30) /* bytes, packed or not */
#define UNPACK_FREE (4U << 20)	/* bytes that a file of any size may have */
#define UNPACK_RATIO 100U	/* of larger ones, bytes for each packed byte: profiles have 3 to 20 */

/* Takes the rest of the file. `to` is the caller's to free. 0 or a negative errno, also with a reason. */
int unpack_all(struct input *in, input_bytes *to);

#endif
