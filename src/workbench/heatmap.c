/* SPDX-License-Identifier: Apache-2.0 */
/* `heatmap`: a tile of a tensor. */
#include "analysis/compare_decode.h"
#include "workbench/cells.h"
#include "workbench/requests.h"

static bool read_elements(void *elements, uint64_t first, uint64_t step, int count, double *value)
{
    return tg_elements_read(elements, first, step, count, value);
}

tg_status tg_request_heatmap(struct tg_request_context *context, struct tg_error *error)
{
    struct tg_shown shown;
    struct tg_plane plane;
    struct tg_tile tile;
    struct tg_elements elements;
    tg_status status = tg_shown_take_readable(context->run, context->ask, "record", &shown, error);
    if (status == TG_OK)
        status = tg_plane_take(&shown, context->ask, &plane, error);
    if (status == TG_OK)
        status = tg_tile_take(&plane, context->ask, &tile, error);
    if (status == TG_OK)
        status = tg_ask_check_all_used(context->ask, error);
    if (status != TG_OK)
        return status;
    tg_elements_init(&elements, &shown.array);
    const struct tg_cell_source source = {.read = read_elements,
                                          .array = {&elements},
                                          .context = &elements,
                                          .normal = tg_smallest_normal(shown.array.dtype)};
    return tg_cells_answer(context->answer, &plane, &tile, &source, error);
}
