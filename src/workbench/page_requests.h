/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of the requests that the page makes, as requestText in web/src/api.ts writes them: a page without a server
 * finds its answers by them, so names, order and escapes of parameters are the same. tests/web opens such a page.
 */
#ifndef TG_WORKBENCH_PAGE_REQUESTS_H
#define TG_WORKBENCH_PAGE_REQUESTS_H

#include <stdint.h>
#include <taskglass/array.h>
#include <taskglass/status.h>

/* Room for any of them: a key of 255 bytes takes three characters for each. */
enum { TG_PAGE_REQUEST = 2048 };

/* "NAME?run=RUN", and "&REST" behind it unless `rest` is NULL. */
void tg_page_request(char request[TG_PAGE_REQUEST], const char *name, const char *run,
                     const char *rest);
void tg_page_request_task(char request[TG_PAGE_REQUEST], const char *run, uint64_t id);
void tg_page_request_records(char request[TG_PAGE_REQUEST], const char *run, uint64_t first,
                             uint64_t count);
/* "NAME?run=RUN&record=INDEX" and `rest`. */
void tg_page_request_record(char request[TG_PAGE_REQUEST], const char *name, const char *run,
                            uint64_t record, const char *rest);

/* Calls `each` with every request about the values of a record: statistics, the histogram, and all tiles and blocks of
 * the plane that the page shows first. Ends with the first status that is not TG_OK. */
typedef tg_status (*tg_page_value_fn)(void *context, const char *request, struct tg_error *error);
tg_status tg_page_walk_values(const char *run, uint64_t record, const struct tg_array *array,
                              tg_page_value_fn each, void *context, struct tg_error *error);

#endif
