/* SPDX-License-Identifier: Apache-2.0 */
/* Makes answers: JSON, columns, files and errors. */
#define _GNU_SOURCE 1
#include "workbench/answer.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "workbench/bench.h"

static const char json_type[] = "application/json";
static const char bytes_type[] = "application/octet-stream";

/* What an answer owns, behind struct tg_workbench_answer.own. */
struct own {
    char *text;
    unsigned char *bytes;
    struct tg_bench_run *run;
};

static tg_status refuse_size(struct tg_error *error)
{
    return tg_error_set(error, TG_UNSUPPORTED, "the answer would be larger than %llu MiB",
                        (unsigned long long)(TG_ANSWER_MOST >> 20));
}

/* --- JSON ----------------------------------------------------------------------------------- */

tg_status tg_answer_value(struct tg_answer *answer, struct tg_error *error)
{
    answer->stream = open_memstream(&answer->text, &answer->size);
    if (!answer->stream)
        return tg_error_set(error, TG_NO_MEMORY, "out of memory");
    tg_json_start(&answer->json, answer->stream);
    return TG_OK;
}

tg_status tg_answer_json(struct tg_answer *answer, struct tg_error *error)
{
    tg_status status = tg_answer_value(answer, error);
    answer->is_object = status == TG_OK;
    if (answer->is_object)
        tg_json_begin_object(&answer->json);
    return status;
}

/* Ends the document; `text` is then complete. */
static tg_status end_json(struct tg_answer *answer, struct tg_error *error)
{
    if (answer->is_object)
        tg_json_end_object(&answer->json);
    tg_status status = tg_json_finish(&answer->json);
    bool is_closed = fclose(answer->stream) == 0;
    answer->stream = NULL;
    answer->is_too_large = status == TG_OK && is_closed && answer->size > TG_ANSWER_MOST;
    if (answer->is_too_large)
        return refuse_size(error);
    if (status == TG_OK && is_closed)
        return TG_OK;
    if (status == TG_BAD_ARGUMENT)
        return tg_error_set(error, TG_BAD_ARGUMENT, "the answer is not one JSON object");
    return tg_error_set(error, TG_NO_MEMORY, "out of memory");
}

/* --- columns -------------------------------------------------------------------------------- */

static const char *const type_names[] = {"u8", "u16", "u32", "u64", "f32", "f64"};
static const unsigned char type_sizes[] = {1, 2, 4, 8, 4, 8};

static size_t aligned(size_t size)
{
    return (size + TG_ANSWER_ALIGN - 1) / TG_ANSWER_ALIGN * TG_ANSWER_ALIGN;
}

tg_status tg_columns_add(struct tg_columns *columns, const char *name, enum tg_column_type type,
                         uint64_t count, struct tg_error *error)
{
    const size_t offset = aligned(columns->used);
    if (columns->count == TG_ANSWER_COLUMNS || offset > TG_ANSWER_MOST ||
        count > (TG_ANSWER_MOST - offset) / type_sizes[type])
        return refuse_size(error);
    const size_t end = offset + (size_t)count * type_sizes[type];
    if (!columns->bytes || end > columns->room) {
        const size_t room = aligned(end) + columns->room / 2 + TG_ANSWER_ALIGN;
        unsigned char *moved = realloc(columns->bytes, room);
        if (!moved)
            return tg_error_set(error, TG_NO_MEMORY, "out of memory");
        columns->bytes = moved;
        columns->room = room;
    }
    memset(columns->bytes + columns->used, 0, offset - columns->used);
    columns->used = end;
    columns->column[columns->count++] =
        (struct tg_answer_column){.name = name, .type = type, .count = count, .offset = offset};
    return TG_OK;
}

void *tg_columns_at(const struct tg_columns *columns, unsigned number)
{
    return columns->bytes + columns->column[number].offset;
}

void tg_columns_free(struct tg_columns *columns)
{
    free(columns->bytes);
    *columns = (struct tg_columns){0};
}

void *tg_answer_column(struct tg_answer *answer, const char *name, enum tg_column_type type,
                       uint64_t count, struct tg_error *error)
{
    struct tg_columns *columns = &answer->columns;
    tg_status status = tg_columns_add(columns, name, type, count, error);
    answer->is_too_large = answer->is_too_large || status == TG_UNSUPPORTED;
    return status == TG_OK ? tg_columns_at(columns, columns->count - 1) : NULL;
}

void tg_answer_share(struct tg_answer *answer, const struct tg_columns *columns,
                     struct tg_bench_run *run)
{
    answer->shared = columns;
    answer->run = run;
    tg_bench_keep(run);
}

/* NULL: the answer has none. */
static const struct tg_columns *columns_of(const struct tg_answer *answer)
{
    return answer->shared ? answer->shared : answer->columns.count > 0 ? &answer->columns : NULL;
}

static void put_columns(struct tg_json *json, const struct tg_columns *columns)
{
    tg_json_key(json, "columns");
    tg_json_begin_array(json);
    for (unsigned i = 0; i < columns->count; i++) {
        tg_json_begin_line_object(json);
        tg_json_put_string(json, "name", columns->column[i].name);
        tg_json_put_string(json, "type", type_names[columns->column[i].type]);
        tg_json_put_uint(json, "offset", columns->column[i].offset);
        tg_json_put_uint(json, "count", columns->column[i].count);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

static void put_u32(unsigned char *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

/* Puts what comes before the columns in place of the JSON text. */
static tg_status make_head(struct tg_answer *answer, struct tg_error *error)
{
    enum { FIXED = 16 };
    const size_t header = aligned(answer->size), size = FIXED + header;
    unsigned char *head = calloc(1, size);
    if (!head)
        return tg_error_set(error, TG_NO_MEMORY, "out of memory");
    put_u32(head, UINT32_C(0x43574754));
    put_u32(head + 4, 1);
    put_u32(head + 8, (uint32_t)answer->size);
    memcpy(head + FIXED, answer->text, answer->size);
    free(answer->text);
    answer->text = (char *)head;
    answer->size = size;
    return TG_OK;
}

/* --- files ---------------------------------------------------------------------------------- */

tg_status tg_answer_file(struct tg_answer *answer, const char *name, const void *head, size_t size,
                         struct tg_bench_run *run, const void *mapped, size_t mapped_size,
                         struct tg_error *error)
{
    answer->text = malloc(size + 1);
    if (!answer->text)
        return tg_error_set(error, TG_NO_MEMORY, "out of memory");
    memcpy(answer->text, head, size);
    answer->size = size;
    (void)snprintf(answer->file, sizeof answer->file, "%s", name);
    answer->mapped = mapped;
    answer->mapped_size = mapped_size;
    answer->run = run;
    tg_bench_keep(run);
    return TG_OK;
}

/* --- the end -------------------------------------------------------------------------------- */

static int http_status(tg_status status)
{
    switch (status) {
    case TG_OK:
        return 200;
    case TG_BAD_ARGUMENT:
        return 400;
    case TG_NOT_FOUND:
        return 404;
    case TG_UNSUPPORTED:
        return 409;
    default:
        return 500;
    }
}

static void set_static(struct tg_workbench_answer *made, const char *text)
{
    made->part[0].bytes = text;
    made->part[0].size = strlen(text);
}

static void free_parts(struct tg_answer *answer)
{
    if (answer->stream)
        (void)fclose(answer->stream);
    free(answer->text);
    tg_columns_free(&answer->columns);
    if (answer->run)
        tg_bench_give_back(answer->run);
    *answer = (struct tg_answer){0};
}

/* The error as a document; without memory a fixed one. */
static void make_error(int http, tg_status status, const struct tg_error *error,
                       struct tg_workbench_answer *made)
{
    struct tg_answer answer = {0};
    struct tg_error ignored;
    struct own *own = calloc(1, sizeof *own);
    *made = (struct tg_workbench_answer){.status = http, .type = json_type};
    if (!own || tg_answer_json(&answer, &ignored) != TG_OK) {
        free(own);
        set_static(made, "{\"error\": {\"status\": \"NO_MEMORY\", \"text\": \"out of memory\"}}\n");
        return;
    }
    tg_json_key(&answer.json, "error");
    tg_json_begin_object(&answer.json);
    tg_json_put_string(&answer.json, "status", tg_status_name(status));
    tg_json_put_string(&answer.json, "text", error->text);
    tg_json_end_object(&answer.json);
    if (end_json(&answer, &ignored) != TG_OK) {
        free(own);
        free_parts(&answer);
        set_static(made, "{\"error\": {\"status\": \"NO_MEMORY\", \"text\": \"out of memory\"}}\n");
        return;
    }
    own->text = answer.text;
    made->part[0].bytes = answer.text;
    made->part[0].size = answer.size;
    made->own = own;
}

static tg_status make(struct tg_answer *answer, struct tg_workbench_answer *made,
                      struct tg_error *error)
{
    const struct tg_columns *columns = columns_of(answer);
    struct own *own = calloc(1, sizeof *own);
    tg_status status = own ? TG_OK : tg_error_set(error, TG_NO_MEMORY, "out of memory");
    if (status == TG_OK && columns)
        put_columns(&answer->json, columns);
    if (status == TG_OK && answer->stream)
        status = end_json(answer, error);
    if (status == TG_OK && columns)
        status = make_head(answer, error);
    if (status != TG_OK) {
        free(own);
        return status;
    }
    *own = (struct own){.text = answer->text, .bytes = answer->columns.bytes, .run = answer->run};
    const bool is_json = !columns && !answer->file[0];
    *made = (struct tg_workbench_answer){
        .status = 200, .type = is_json ? json_type : bytes_type, .own = own};
    memcpy(made->file, answer->file, sizeof made->file);
    made->part[0].bytes = answer->text;
    made->part[0].size = answer->size;
    made->part[1].bytes = columns ? columns->bytes : answer->mapped;
    made->part[1].size = columns ? columns->used : answer->mapped_size;
    return TG_OK;
}

void tg_answer_finish(struct tg_answer *answer, tg_status status, const struct tg_error *error,
                      struct tg_workbench_answer *made)
{
    struct tg_error own = {0};
    if (status == TG_OK) {
        status = make(answer, made, &own);
        error = &own;
    }
    if (status == TG_OK) {
        *answer = (struct tg_answer){0};
        return;
    }
    make_error(answer->is_too_large ? 413 : http_status(status), status, error, made);
    free_parts(answer);
}

void tg_workbench_answer_free(struct tg_workbench_answer *answer)
{
    struct own *own = answer ? answer->own : NULL;
    if (!own)
        return;
    free(own->text);
    free(own->bytes);
    if (own->run)
        tg_bench_give_back(own->run);
    free(own);
    *answer = (struct tg_workbench_answer){0};
}
