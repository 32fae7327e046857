/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the page, which web/ builds and which are embedded in the library. */
#include <string.h>
#include <taskglass/workbench.h>

extern const unsigned char tg_workbench_index_html[], tg_workbench_app_js[], tg_workbench_app_css[];
extern const size_t tg_workbench_index_html_size, tg_workbench_app_js_size,
    tg_workbench_app_css_size;

const void *tg_workbench_file(const char *name, const char **type, size_t *size)
{
    const struct {
        const char *name, *type;
        const unsigned char *bytes;
        size_t size;
    } files[] = {
        {"", "text/html; charset=utf-8", tg_workbench_index_html, tg_workbench_index_html_size},
        {"app.js", "text/javascript; charset=utf-8", tg_workbench_app_js, tg_workbench_app_js_size},
        {"app.css", "text/css; charset=utf-8", tg_workbench_app_css, tg_workbench_app_css_size},
    };
    for (size_t i = 0; name && i < sizeof files / sizeof files[0]; i++)
        if (strcmp(files[i].name, name) == 0) {
            if (type)
                *type = files[i].type;
            if (size)
                *size = files[i].size;
            return files[i].bytes;
        }
    return NULL;
}
