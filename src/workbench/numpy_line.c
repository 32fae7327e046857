/* SPDX-License-Identifier: Apache-2.0 */
/*
 *     import numpy; x = numpy.memmap('/runs/a/tensor_dump/tensor_dump.bin', '<f4', 'r', 4096, (3, 4))
 *     import taskglass; x = taskglass.Recording('/runs/a')[5].array(decode=True)
 */
#include "workbench/numpy_line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <taskglass/wire/dtype.h>

#include "query/npy_type.h"
#include "query/npy_write.h"

/* The characters of a Python literal; b'' if there are others than those of ASCII, so that they stay bytes. */
static void put_characters(FILE *file, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\'' || *c == '\\')
            (void)fprintf(file, "\\%c", *c);
        else if (*c >= ' ' && *c <= '~')
            (void)fputc(*c, file);
        else
            (void)fprintf(file, "\\x%02x", (unsigned)(unsigned char)*c);
    }
}

static bool is_ascii(const char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            return false;
    return true;
}

/* A path as a literal: that of `folder`, and `name` in it unless it is "". */
static void put_path(FILE *file, const char *folder, const char *name)
{
    char *whole = realpath(folder, NULL);
    const char *path = whole ? whole : folder;
    (void)fputs(is_ascii(path) && is_ascii(name) ? "'" : "b'", file);
    put_characters(file, path);
    if (*name) {
        (void)fputc('/', file);
        put_characters(file, name);
    }
    (void)fputc('\'', file);
    free(whole);
}

/* The elements of a scalar, and of an empty tensor, are in the line itself. */
static void put_literal(FILE *file, const struct tg_shown *shown, const char *descr)
{
    const struct tg_record *record = &shown->entry.record;
    if (record->kind == TG_KIND_SCALAR) {
        (void)fprintf(file, "numpy.array([0x%" PRIx64 "], '<u8').view('%s')[0]", record->value,
                      descr);
        return;
    }
    struct tg_npy_shape shape;
    (void)fprintf(file, "numpy.empty(%s, '%s')", tg_npy_shape_of(&shown->array, &shape), descr);
}

void tg_numpy_line(FILE *file, const struct tg_shown *shown)
{
    const struct tg_array *array = &shown->array;
    const struct tg_record *record = &shown->entry.record;
    struct tg_npy_descr descr;
    struct tg_npy_shape shape;
    if (tg_npy_held_as(array->dtype) != array->dtype) {
        (void)fputs("import taskglass; x = taskglass.Recording(", file);
        put_path(file, shown->run->path, "");
        (void)fprintf(file, ")[%" PRIu64 "].array(decode=True)", shown->index);
        return;
    }
    tg_npy_descr_of(array->dtype, &descr);
    (void)fputs("import numpy; x = ", file);
    if (record->kind == TG_KIND_SCALAR || array->elements == 0) {
        put_literal(file, shown, descr.text);
        return;
    }
    (void)fputs("numpy.memmap(", file);
    put_path(file, shown->run->info.dir, shown->run->info.payload);
    (void)fprintf(file, ", '%s', 'r', %" PRIu64 ", %s)", descr.text, record->position,
                  tg_npy_shape_of(array, &shape));
}
