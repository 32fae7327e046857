/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the user whether a module that only a recording names may be loaded. */
#ifndef TG_CLI_TRUST_H
#define TG_CLI_TRUST_H

#include <taskglass/trust.h>

/* The function for `ask` of the library's configs; NULL if there is no terminal to ask on. */
tg_trust_fn cli_trust_ask(void);

#endif
