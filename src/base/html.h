/* SPDX-License-Identifier: Apache-2.0 */
/* Documents inside of pages. */
#ifndef TG_BASE_HTML_H
#define TG_BASE_HTML_H

#include <stddef.h>
#include <stdio.h>

/* Writes JSON into a <script> element. A browser searches for the end of that element before it parses the JSON, so
 * '<', '>' and '&' are escaped; JSON has them in strings alone, where it can. Returns how many bytes it wrote. */
size_t tg_html_put_json(FILE *file, const char *text, size_t size);

#endif
