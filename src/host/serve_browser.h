/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows an address in the user's browser. The address holds a secret, and other users can read command lines; so the
 * browser gets the name of a file that only this user can read, and the file leads to the address.
 */
#ifndef TG_HOST_SERVE_BROWSER_H
#define TG_HOST_SERVE_BROWSER_H

#include <taskglass/status.h>

struct tg_serve_browser {
    char file[512]; /* "": none was made */
};

tg_status tg_serve_browser_open(struct tg_serve_browser *browser, const char *address,
                                struct tg_error *error);
/* Removes the file. The browser stays. */
void tg_serve_browser_end(struct tg_serve_browser *browser);

#endif
