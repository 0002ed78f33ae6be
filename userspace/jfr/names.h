// SPDX-License-Identifier: Apache-2.0
/* Names as JFR has them: those of class files. */
#ifndef BRAID_JFR_NAMES_H
#define BRAID_JFR_NAMES_H

#include <stddef.h>

/* "[Ljava/lang/String;" of "java.lang.String[]". A pointer that the caller frees, or NULL without memory. */
char *jfr_class_name(const char *name, size_t length);

/* The length of the class in "demo.Main.work"; 0: there is none. */
size_t jfr_class_length(const char *method);

#endif
