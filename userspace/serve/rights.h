// SPDX-License-Identifier: Apache-2.0
/* The server needs no rights but to what it has opened. */
#ifndef BRAID_SERVE_RIGHTS_H
#define BRAID_SERVE_RIGHTS_H

/*
 * Gives up root and capabilities for good; another user stays the same. Where root cannot become another user (a user
 * namespace that has no other one), it stays root without capabilities, with a warning. 0 or a negative errno.
 */
int rights_drop(void);

#endif
