/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdlib.h>

#include "base/base64.h"

static void check(const char *bytes, size_t size, const char *want)
{
    char *text = tg_base64(bytes, size);
    REQUIRE(text);
    CHECK_EQ_S(text, want);
    free(text);
}

/* The first ones are of RFC 4648, without their padding. */
TEST(bytes_become_letters_without_padding)
{
    check("", 0, "");
    check("f", 1, "Zg");
    check("fo", 2, "Zm8");
    check("foo", 3, "Zm9v");
    check("foobar", 6, "Zm9vYmFy");
    check("\xff\xfe\x00\xfb", 4, "//4A+w");
}

TEST_MAIN()
