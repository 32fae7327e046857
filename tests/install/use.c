/* SPDX-License-Identifier: Apache-2.0 */
/* A user's program: checks that the headers it was compiled with belong to the library it runs
 * with. */
#include <stdio.h>
#include <string.h>
#include <taskglass/taskglass.h>

int main(void)
{
    printf("library %s, headers %s\n", tg_version(), TG_VERSION_STRING);
    return strcmp(tg_version(), TG_VERSION_STRING) != 0;
}
