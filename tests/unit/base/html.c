/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "test.h"

#include <stdlib.h>

#include "base/html.h"

TEST(json_in_a_page_cannot_end_its_element)
{
    static const char json[] = "{\"a\": \"</script><!-- & -->\"}";
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    CHECK_EQ_U(tg_html_put_json(file, json, strlen(json)), strlen(json) + 5 * 5);
    fclose(file);
    CHECK_EQ_S(text, "{\"a\": \"\\u003c/script\\u003e\\u003c!-- \\u0026 --\\u003e\"}");
    free(text);
}

TEST_MAIN()
