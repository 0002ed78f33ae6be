// SPDX-License-Identifier: Apache-2.0
/* What the path of a control group says of the container in it. */
#ifndef BRAID_ANALYZE_CGROUP_H
#define BRAID_ANALYZE_CGROUP_H

#define CONTAINER_NAME_MAX 64

/*
 * The container to which a control group belongs: the first 12 digits of its id, as container engines print them, or
 * the name of a machine (systemd-nspawn, LXC). Empty when the path names none.
 */
void cgroup_container(const char *cgroup, char to[CONTAINER_NAME_MAX]);

#endif
