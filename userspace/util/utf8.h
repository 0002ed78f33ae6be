// SPDX-License-Identifier: Apache-2.0
/* Makes text that a JVM or another process wrote safe to store and to print. */
#ifndef BRAID_UTIL_UTF8_H
#define BRAID_UTIL_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* C0 and C1 controls, line separators, and the marks that reorder text (Unicode's Bidi_Control). */
bool utf8_steers(uint32_t c);

/* Writes a unit of UTF-16, or of ISO 8859-1, as modified UTF-8, which has surrogates one by one. Returns the bytes. */
#define UTF8_UNIT_MAX 3
size_t utf8_put_unit(char *to, uint16_t unit);

/* The same of a String's array: units of two bytes if `wide`, else of one. For each byte, `to` has room for two. */
size_t utf8_put_units(char *to, const uint8_t *units, size_t bytes, bool wide);

/*
 * Modified UTF-8 to UTF-8: surrogate pairs become one character, an overlong zero becomes U+2400 (a real zero would end
 * the string), invalid bytes become U+FFFD; plain UTF-8 is unchanged. Writes at most size - 1 bytes and a zero, and
 * truncates at a character's border. Returns the length.
 */
size_t utf8_from_modified(char *to, size_t size, const void *from, size_t length);

/* The same, and characters that control a terminal become '?'. */
size_t utf8_printable(char *to, size_t size, const void *from, size_t length);

/*
 * "Ljava/lang/String;" or "java/lang/String" or "[I" to "java.lang.String", "int[]", in UTF-8 as above.
 *
 * Hidden classes keep their suffix: the text after the last '+', '.' or '/' when it is "0x" and hexadecimal digits or,
 * after a '/', only decimal digits (JDK 8). It is always written with a '/'. So HotSpot's symbol "a/B$$Lambda+0x1f",
 * JVM TI's signature "La/B$$Lambda.0x1f;" and the external name "a/B$$Lambda/0x1f" all become "a.B$$Lambda/0x1f".
 */
size_t class_name_from_signature(char *to, size_t size, const char *signature, size_t length);

#endif
