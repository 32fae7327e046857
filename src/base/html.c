/* SPDX-License-Identifier: Apache-2.0 */
#include "base/html.h"

size_t tg_html_put_json(FILE *file, const char *text, size_t size)
{
    enum { ESCAPE = 6 };
    size_t written = 0;
    for (size_t i = 0; i < size; i++)
        if (text[i] == '<' || text[i] == '>' || text[i] == '&') {
            (void)fprintf(file, "\\u%04x", (unsigned)text[i]);
            written += ESCAPE;
        } else {
            (void)putc(text[i], file);
            written++;
        }
    return written;
}
