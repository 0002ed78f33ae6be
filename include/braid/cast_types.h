/* SPDX-License-Identifier: Apache-2.0 */
/* Structures of the kernel that the programs reach by bpf_rdonly_cast(), and read by plain loads then. */
#ifndef BRAID_CAST_TYPES_H
#define BRAID_CAST_TYPES_H

#define BRAID_CAST_TYPES(TYPE) TYPE(file) TYPE(inode) TYPE(list_head) TYPE(sock) TYPE(socket) TYPE(task_struct)

enum braid_cast_type {
#define BRAID_CAST_TYPE(name) BRAID_CAST_##name,
	BRAID_CAST_TYPES(BRAID_CAST_TYPE)
#undef BRAID_CAST_TYPE
		BRAID_CAST_COUNT
};

/* The number of no helper function, which stands in calls of bpf_rdonly_cast() until they are loaded. */
#define BRAID_CALL_RDONLY_CAST 0x63617374

#endif
