// SPDX-License-Identifier: Apache-2.0
/* The server needs no rights but to what it has opened. */
#ifndef BRAID_SERVE_RIGHTS_H
#define BRAID_SERVE_RIGHTS_H

/*
 * Gives up root and capabilities for good; another user stays the same. Where there is no user `nobody` (a user namespace that
 * maps root alone), root stays, without capabilities. 0 or a negative errno.
 */
int rights_drop(void);

#endif
