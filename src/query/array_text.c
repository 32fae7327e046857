/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints an array as NumPy does. Two passes go over the elements that are shown: the first finds
 * their common format, the second prints. Floats are positional ("1.  2.5") as long as their
 * magnitudes are close to each other and to one, else scientific ("1.0e-05 2.5e+00").
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/array.h>
#include <taskglass/dtype.h>
#include <taskglass/numeric.h>

#include "query/array_pass.h"
#include "query/array_print.h"

enum { MOST_DIGITS = 8 }; /* after the point */
enum { ASK_ELEMENTS = 4096 };

struct format {
    bool is_float, scientific;
    double least, most; /* magnitudes, without zero and specials */
    int whole;          /* columns before the point, with the sign; for integers, all columns */
    int fraction;       /* columns after the point */
    int width;          /* of an element */
};

struct printer {
    FILE *file;
    const struct tg_array *array;
    const struct tg_array_layout *layout;
    bool elide;
    struct format format;
    int column;
    int owed; /* spaces to write before the next word; none at the end of a line */
    const struct tg_array_asked *asked; /* may be NULL */
    unsigned unasked;                   /* elements since it was last asked */
    bool is_stopped;
};

/* Room for a double of 308 digits. */
struct word {
    char text[350];
};

static uint64_t bits_at(const struct tg_array *array, int64_t index)
{
    tg_array_pass(array, index);
    return tg_load_bits(array->dtype, array->bytes, index);
}

static void format_plain(struct word *word, unsigned dtype, uint64_t bits)
{
    struct tg_value_text plain;
    snprintf(word->text, sizeof word->text, "%s", tg_value_format(dtype, bits, &plain));
}

static double value_at(const struct tg_array *array, int64_t index)
{
    tg_array_pass(array, index);
    return tg_load(array->dtype, array->bytes, index);
}

/* Every loop over elements calls this for each of them, and ends when it returns false. */
static bool goes_on(struct printer *printer)
{
    if (printer->asked && !printer->is_stopped && ++printer->unasked == ASK_ELEMENTS) {
        printer->unasked = 0;
        printer->is_stopped = !printer->asked->goes_on(printer->asked->context);
    }
    return !printer->is_stopped;
}

/* --- the elements that are shown ------------------------------------------------------------ */

typedef void (*visit_fn)(struct printer *printer, int64_t index);

/* The number of entries shown at each end of a dimension; all of them if none is left out. */
static int64_t edge_of(const struct printer *printer, int dim)
{
    int64_t extent = printer->array->shape[dim];
    return printer->elide && extent > 2 * (int64_t)printer->layout->edge ? printer->layout->edge
                                                                         : extent;
}

static void visit_shown(struct printer *printer, int dim, int64_t index, visit_fn visit)
{
    const struct tg_array *array = printer->array;
    if (dim == array->ndim) {
        if (goes_on(printer))
            visit(printer, index);
        return;
    }
    int64_t extent = array->shape[dim], edge = edge_of(printer, dim);
    for (int64_t i = 0; i < extent && !printer->is_stopped; i++) {
        if (i == edge && edge < extent)
            i = extent - edge;
        visit_shown(printer, dim + 1, index * extent + i, visit);
    }
}

/* --- floats --------------------------------------------------------------------------------- */

/* The number of digits after the first one in the shortest text. */
static int more_digits(const char *shortest)
{
    int digits = 0, zeros = 0;
    for (; *shortest && *shortest != 'e'; shortest++) {
        if (*shortest < '0' || *shortest > '9' || (digits == 0 && *shortest == '0'))
            continue;
        zeros = *shortest == '0' ? zeros + 1 : 0; /* zeros at the end of an integer do not count */
        digits++;
    }
    return digits > zeros ? digits - zeros - 1 : 0;
}

static int least_of(int a, int b)
{
    return a < b ? a : b;
}

static int most_of(int a, int b)
{
    return a > b ? a : b;
}

/* The text whose digits decide how many are shown. The digits that identify a float of less than 16
 * bits would make 0.1 of its 0.125, so those of its exact value count. */
static const char *shortest_of(unsigned dtype, uint64_t bits, struct tg_value_text *text)
{
    if (tg_bits_of(dtype) >= 16)
        return tg_value_format(dtype, bits, text);
    return tg_value_format(TG_FLOAT32, tg_encode(TG_FLOAT32, tg_decode(dtype, bits)), text);
}

/* "-1.25", "3.": as many digits as the value needs, but no more than NumPy shows. */
static void format_positional(struct word *word, unsigned dtype, uint64_t bits)
{
    struct tg_value_text shortest;
    double value = tg_decode(dtype, bits);
    int exponent = value == 0 ? 0 : (int)floor(log10(fabs(value)));
    shortest_of(dtype, bits, &shortest);
    int fraction = most_of(0, more_digits(shortest.text) - exponent);
    snprintf(word->text, sizeof word->text, "%#.*f", least_of(fraction, MOST_DIGITS), value);
    for (char *end = word->text + strlen(word->text) - 1; *end == '0'; end--)
        *end = '\0'; /* the loop stops at the point, which is always there */
}

/* "1.25e-05", "1.e-05". */
static void format_scientific(struct word *word, unsigned dtype, uint64_t bits, int fraction)
{
    double value = tg_decode(dtype, bits);
    snprintf(word->text, sizeof word->text, "%#.*e", fraction, value);
}

static bool is_special(double value)
{
    return isnan(value) || isinf(value);
}

static void measure_range(struct printer *printer, int64_t index)
{
    struct format *format = &printer->format;
    double size = fabs(value_at(printer->array, index));
    if (is_special(size) || size == 0)
        return;
    if (format->most == 0 || size < format->least)
        format->least = size;
    if (size > format->most)
        format->most = size;
}

static void measure_float(struct printer *printer, int64_t index)
{
    const struct tg_array *array = printer->array;
    struct format *format = &printer->format;
    uint64_t bits = bits_at(array, index);
    struct word word;
    if (is_special(tg_decode(array->dtype, bits)))
        return;
    if (format->scientific) {
        struct tg_value_text shortest;
        int digits = more_digits(shortest_of(array->dtype, bits, &shortest));
        format->fraction = most_of(format->fraction, least_of(digits, MOST_DIGITS));
        return;
    }
    format_positional(&word, array->dtype, bits);
    int whole = (int)strcspn(word.text, ".");
    format->whole = most_of(format->whole, whole);
    format->fraction = most_of(format->fraction, (int)strlen(word.text) - whole - 1);
}

/* A pass of its own, because the number of digits is known only now. */
static void measure_width(struct printer *printer, int64_t index)
{
    const struct tg_array *array = printer->array;
    struct format *format = &printer->format;
    uint64_t bits = bits_at(array, index);
    struct word word;
    if (is_special(tg_decode(array->dtype, bits)))
        format_plain(&word, array->dtype, bits);
    else if (format->scientific)
        format_scientific(&word, array->dtype, bits, format->fraction);
    else
        return;
    format->width = most_of(format->width, (int)strlen(word.text));
}

static void measure_floats(struct printer *printer)
{
    struct format *format = &printer->format;
    visit_shown(printer, 0, 0, measure_range);
    format->scientific = format->most > 0 && (format->most >= 1e8 || format->least < 1e-4 ||
                                              format->most / format->least > 1000);
    visit_shown(printer, 0, 0, measure_float);
    if (!format->scientific && format->whole > 0)
        format->width = format->whole + 1 + format->fraction;
    visit_shown(printer, 0, 0, measure_width);
}

static void format_float(struct word *word, const struct printer *printer, int64_t index)
{
    const struct tg_array *array = printer->array;
    uint64_t bits = bits_at(array, index);
    if (is_special(tg_decode(array->dtype, bits))) {
        format_plain(word, array->dtype, bits);
    } else if (printer->format.scientific) {
        format_scientific(word, array->dtype, bits, printer->format.fraction);
    } else {
        format_positional(word, array->dtype, bits);
        size_t length = strlen(word->text);
        int behind = (int)(length - strcspn(word->text, ".")) - 1;
        snprintf(word->text + length, sizeof word->text - length, "%*s",
                 printer->format.fraction - behind, "");
    }
}

/* --- everything else ------------------------------------------------------------------------ */

static void format_integer(struct word *word, const struct printer *printer, int64_t index)
{
    uint64_t bits = bits_at(printer->array, index);
    if (printer->array->dtype == TG_BOOL)
        snprintf(word->text, sizeof word->text, "%s", bits ? "True" : "False");
    else
        format_plain(word, printer->array->dtype, bits);
}

static void measure_integer(struct printer *printer, int64_t index)
{
    struct word word;
    format_integer(&word, printer, index);
    printer->format.width = most_of(printer->format.width, (int)strlen(word.text));
}

static void measure(struct printer *printer)
{
    printer->format.is_float = tg_dtype_is_float((int)printer->array->dtype);
    if (printer->array->dtype == TG_BOOL && printer->array->ndim > 0)
        printer->format.width = (int)strlen("False"); /* even if no element is False */
    if (printer->format.is_float)
        measure_floats(printer);
    else
        visit_shown(printer, 0, 0, measure_integer);
}

/* --- brackets and lines --------------------------------------------------------------------- */

static void new_line(struct printer *printer, int count, int indent)
{
    for (int i = 0; i < count; i++)
        fputc('\n', printer->file);
    fprintf(printer->file, "%*s", indent, "");
    printer->column = indent;
    printer->owed = 0;
}

static void put_text(struct printer *printer, const char *text, int width)
{
    int length = (int)strlen(text), used = length;
    while (used > 0 && text[used - 1] == ' ')
        used--;
    int before = printer->owed + most_of(0, width - length);
    fprintf(printer->file, "%*s%.*s", before, "", used, text);
    printer->owed = length - used;
    printer->column += most_of(width, length);
}

/* Writes one entry of the innermost dimension, on the next line if it does not fit on this one. */
static void put_word(struct printer *printer, const char *text, int width, int indent,
                     int line_width, bool is_first)
{
    int length = most_of(width, (int)strlen(text));
    if (!is_first) {
        printer->owed++;
        printer->column++;
    }
    if (printer->column + length > line_width && printer->column > indent)
        new_line(printer, 1, indent);
    put_text(printer, text, width);
}

static void put_element(struct printer *printer, int64_t index, int indent, int line_width,
                        bool is_first)
{
    struct word word;
    if (printer->format.is_float)
        format_float(&word, printer, index);
    else
        format_integer(&word, printer, index);
    put_word(printer, word.text, printer->format.width, indent, line_width, is_first);
}

static void put_row(struct printer *printer, int64_t index, int dim, int line_width)
{
    int64_t extent = printer->array->shape[dim], edge = edge_of(printer, dim);
    for (int64_t i = 0; i < extent && goes_on(printer); i++) {
        if (i == edge && edge < extent) {
            put_word(printer, "...", 0, dim + 1, line_width, false);
            i = extent - edge;
        }
        put_element(printer, index * extent + i, dim + 1, line_width, i == 0);
    }
}

static void put_dimension(struct printer *printer, int64_t index, int dim, int line_width)
{
    const struct tg_array *array = printer->array;
    put_text(printer, "[", 0);
    if (dim == array->ndim - 1) {
        put_row(printer, index, dim, line_width);
    } else {
        int64_t extent = array->shape[dim], edge = edge_of(printer, dim);
        for (int64_t i = 0; i < extent && !printer->is_stopped; i++) {
            if (i > 0)
                new_line(printer, array->ndim - 1 - dim, dim + 1);
            if (i == edge && edge < extent) {
                put_text(printer, "...", 0);
                new_line(printer, array->ndim - 1 - dim, dim + 1);
                i = extent - edge;
            }
            put_dimension(printer, index * extent + i, dim + 1, line_width - 1);
        }
    }
    if (!printer->is_stopped)
        put_text(printer, "]", 0);
}

/* False if the array contradicts itself, so that printing it would read beyond its bytes. */
static bool makes_sense(const struct tg_array *array)
{
    int64_t n = 1;
    if (!tg_dtype_valid((int)array->dtype) || array->ndim < 0 || array->ndim > TG_MAX_DIMS)
        return false;
    for (int i = 0; i < array->ndim; i++)
        if (array->shape[i] < 0 || __builtin_mul_overflow(n, array->shape[i], &n))
            return false;
    return n == array->elements && (n == 0 || array->bytes != NULL);
}

bool tg_array_print_asking(FILE *file, const struct tg_array *array,
                           const struct tg_array_layout *layout, const struct tg_array_asked *asked)
{
    static const struct tg_array_layout usual = {.width = 100, .most = 1000, .edge = 3};
    if (file == NULL || array == NULL || !makes_sense(array))
        return true;
    if (layout == NULL || layout->edge < 0)
        layout = &usual;
    struct printer printer = {.file = file, .array = array, .layout = layout, .asked = asked};
    printer.elide = array->elements > layout->most;
    if (array->elements == 0) {
        fputs("[]\n", file);
        return true;
    }
    measure(&printer);
    if (printer.is_stopped)
        return false;
    if (array->ndim == 0)
        put_element(&printer, 0, 0, layout->width, true);
    else
        put_dimension(&printer, 0, 0, layout->width - 1);
    if (!printer.is_stopped)
        fputc('\n', file);
    return !printer.is_stopped;
}

void tg_array_print(FILE *file, const struct tg_array *array, const struct tg_array_layout *layout)
{
    (void)tg_array_print_asking(file, array, layout, NULL);
}
