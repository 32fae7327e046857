/* SPDX-License-Identifier: Apache-2.0 */
/* `values`: the elements of a block as texts. */
#include <inttypes.h>
#include <stdio.h>
#include <taskglass/numeric.h>

#include "workbench/elements.h"
#include "workbench/plane.h"
#include "workbench/requests.h"

typedef const char *(*text_fn)(unsigned dtype, uint64_t bits, struct tg_value_text *text);

static const char *hex_of(unsigned dtype, uint64_t bits, struct tg_value_text *text)
{
    (void)snprintf(text->text, sizeof text->text, "%0*" PRIx64, (int)tg_bits_of(dtype) / 4, bits);
    return text->text;
}

static void put_texts(struct tg_json *json, const char *key, const struct tg_array *array,
                      const struct tg_plane *plane, const struct tg_area *block, text_fn text_of)
{
    struct tg_value_text text;
    tg_json_key(json, key);
    tg_json_begin_array(json);
    for (uint64_t row = block->top; row < block->top + block->height; row++) {
        tg_json_begin_line_array(json);
        for (uint64_t col = block->left; col < block->left + block->width; col++) {
            const int64_t element = (int64_t)tg_plane_element(plane, row, col);
            tg_json_string(json, text_of(array->dtype,
                                         tg_load_bits(array->dtype, array->bytes, element), &text));
        }
        tg_json_end_array(json);
    }
    tg_json_end_array(json);
}

tg_status tg_request_values(struct tg_request_context *context, struct tg_error *error)
{
    struct tg_shown shown;
    struct tg_plane plane;
    struct tg_area block;
    struct tg_elements elements;
    tg_status status = tg_shown_take_readable(context->run, context->ask, "record", &shown, error);
    if (status == TG_OK)
        status = tg_plane_take(&shown, context->ask, &plane, error);
    if (status == TG_OK)
        status = tg_block_take(&plane, context->ask, &block, error);
    if (status == TG_OK)
        status = tg_ask_check_all_used(context->ask, error);
    if (status == TG_OK)
        status = tg_answer_json(context->answer, error);
    if (status != TG_OK)
        return status;
    struct tg_json *json = &context->answer->json;
    tg_json_put_uint(json, "height", block.height);
    tg_json_put_uint(json, "width", block.width);
    put_texts(json, "decimal", &shown.array, &plane, &block, tg_value_format);
    put_texts(json, "hex", &shown.array, &plane, &block, hex_of);
    tg_elements_init(&elements, &shown.array);
    for (uint64_t row = 0; row < block.height; row++)
        tg_elements_were_read(&elements, tg_plane_element(&plane, block.top + row, block.left),
                              plane.col_step, block.width);
    return TG_OK;
}
