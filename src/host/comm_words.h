/* SPDX-License-Identifier: Apache-2.0 */
/* Why a call of communication was refused, in words. */
#ifndef TG_HOST_COMM_WORDS_H
#define TG_HOST_COMM_WORDS_H

#include "common/comm_call.h"
#include <taskglass/status.h>

/* BAD_ARGUMENT with a message that says what is wrong and what would be right. `args` is what the call was
 * given, as far as it is known. */
tg_status tg_comm_refuse(enum tg_comm_fault fault, const struct tg_comm_asked *asked,
                         const struct tg_args *args, struct tg_error *error);

#endif
