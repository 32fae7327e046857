/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles against a model that looks at one element after the other. */
#define _GNU_SOURCE 1
#include "unit/workbench/numbers.h"

#include <float.h>

enum { CELLS = 128 };

/* A plane, and one tile of it. */
struct view {
    int rows, cols;
    int64_t at[TG_MAX_DIMS];
    unsigned level;
    int64_t row, col; /* of the tile */
};

static int64_t extent_of(const struct tensor *tensor, int dim)
{
    return dim < 0 ? 1 : tensor->shape[dim];
}

/* Element number of (row, col) in the plane, counted in row-major order. */
static int64_t element_at(const struct tensor *tensor, const struct view *view, int64_t row,
                          int64_t col)
{
    int64_t element = 0;
    for (int i = 0; i < tensor->ndim; i++) {
        int64_t index = i == view->rows ? row : i == view->cols ? col : view->at[i];
        element = element * tensor->shape[i] + index;
    }
    return element;
}

/* What a cell must show. */
struct want {
    double least, most;
    long double sum;
    int64_t finite, all, zeros;
    unsigned kinds;
};

/* Smallest normal number, from the types' own tables. */
static double normal_of(unsigned dtype)
{
    switch (dtype) {
    case TG_FLOAT64:
        return DBL_MIN;
    case TG_FLOAT32:
    case TG_BFLOAT16:
        return (double)FLT_MIN;
    case TG_FLOAT16:
    case TG_FLOAT8_E5M2:
        return 0x1p-14;
    case TG_FLOAT8_E4M3FN:
        return 0x1p-6;
    case TG_FLOAT4_E2M1FN:
        return 1;
    default:
        return 0;
    }
}

static void want_element(struct want *want, unsigned dtype, double value)
{
    want->all++;
    if (isnan(value))
        want->kinds |= 1;
    else if (isinf(value))
        want->kinds |= value < 0 ? 2 | 16 : 2;
    else {
        want->least = want->finite == 0 || value < want->least ? value : want->least;
        want->most = want->finite == 0 || value > want->most ? value : want->most;
        want->sum += (long double)value;
        want->finite++;
        want->zeros += value == 0;
        want->kinds |= value == 0 ? 4 : fabs(value) < normal_of(dtype) ? 8 : 0;
    }
}

static struct want want_of(const struct tensor *tensor, const struct view *view, int64_t cell_row,
                           int64_t cell_col)
{
    struct want want = {0};
    const int64_t side = INT64_C(1) << view->level;
    const int64_t height = extent_of(tensor, view->rows), width = extent_of(tensor, view->cols);
    const int64_t top = (view->row * CELLS + cell_row) * side;
    const int64_t left = (view->col * CELLS + cell_col) * side;
    for (int64_t row = top; row < top + side && row < height; row++)
        for (int64_t col = left; col < left + side && col < width; col++)
            want_element(&want, tensor->dtype,
                         tg_load(tensor->dtype, tensor->bytes, element_at(tensor, view, row, col)));
    return want;
}

static bool is_near(float got, double want, double size)
{
    const double most = (double)FLT_MAX;
    want = want > most ? most : want < -most ? -most : want;
    return fabs((double)got - want) <= size * 1e-6 || (float)want == got;
}

static bool check_cell(const struct reply *reply, int64_t i, const struct want *want,
                       unsigned level)
{
    const float *mean = reply_column(reply, "mean"), *least = reply_column(reply, "least");
    const float *most = reply_column(reply, "most");
    const uint8_t *kinds = reply_column(reply, "kinds"), *zero = reply_column(reply, "all_zero");
    bool good = mean && kinds && kinds[i] == want->kinds && (level == 0) == !least &&
                (level == 0) == !most && (level == 0) == !zero;
    if (!good)
        return false;
    if (want->finite == 0)
        good = isnan(mean[i]) && (!least || (isnan(least[i]) && isnan(most[i])));
    else
        good = is_near(mean[i], (double)(want->sum / want->finite),
                       fmax(fabs(want->least), fabs(want->most))) &&
               (!least || (is_near(least[i], want->least, 0) && is_near(most[i], want->most, 0)));
    return good && (!zero || zero[i] == (want->zeros == want->all));
}

static int64_t wrap; /* not 0: the tensor is recorded in one dimension, and asked for in rows */

static void make_request(char *text, size_t room, const struct tensor *tensor,
                         const struct view *view)
{
    if (wrap > 0) {
        (void)snprintf(text, room,
                       "heatmap?record=0&wrap=%" PRId64 "&level=%u&row=%" PRId64 "&col=%" PRId64,
                       wrap, view->level, view->row, view->col);
        return;
    }
    size_t used = (size_t)snprintf(
        text, room,
        "heatmap?record=0&rows=%d&cols=%d&level=%u&row=%" PRId64 "&col=%" PRId64 "&at=", view->rows,
        view->cols, view->level, view->row, view->col);
    for (int i = 0; i < tensor->ndim; i++)
        used +=
            (size_t)snprintf(text + used, room - used, "%s%" PRId64, i > 0 ? "," : "", view->at[i]);
}

static void check_tile(const struct tensor *tensor, const struct view *view)
{
    char request[500];
    make_request(request, sizeof request, tensor, view);
    struct reply reply = ask("%s", request);
    const int64_t side = INT64_C(1) << view->level;
    const int64_t down = (extent_of(tensor, view->rows) + side - 1) / side - view->row * CELLS;
    const int64_t right = (extent_of(tensor, view->cols) + side - 1) / side - view->col * CELLS;
    const int64_t height = down < CELLS ? down : CELLS, width = right < CELLS ? right : CELLS;
    int64_t elements = 0;
    bool good = CHECK_EQ_I(reply.answer.status, 200) &&
                CHECK_EQ_I((int64_t)reply_number(&reply, "height"), height) &&
                CHECK_EQ_I((int64_t)reply_number(&reply, "width"), width);
    for (int64_t i = 0; good && i < height * width; i++) {
        struct want want = want_of(tensor, view, i / width, i % width);
        elements += want.all;
        good = CHECK(check_cell(&reply, i, &want, view->level));
        if (!good)
            fprintf(stderr, "cell %" PRId64 ", %" PRId64 "\n", i / width, i % width);
    }
    good = good && CHECK_HAS(reply.text, "\"sampled\": false") &&
           CHECK_EQ_I((int64_t)reply_number(&reply, "looked_at"), elements) &&
           CHECK_EQ_I((int64_t)reply_number(&reply, "elements"), elements);
    if (!good)
        fprintf(stderr, "%s of %s: %s\n", request, tg_dtype_name((int)tensor->dtype), reply.text);
    reply_free(&reply);
}

/* Every tile of every level of a plane. */
static void check_plane(const struct tensor *tensor, struct view view)
{
    const int64_t height = extent_of(tensor, view.rows), width = extent_of(tensor, view.cols);
    const int64_t longer = height > width ? height : width;
    for (view.level = 0;; view.level++) {
        const int64_t side = CELLS * (INT64_C(1) << view.level);
        for (view.row = 0; view.row * side < height; view.row++)
            for (view.col = 0; view.col * side < width; view.col++)
                check_tile(tensor, &view);
        if (side >= longer)
            return;
    }
}

TEST(tiles_of_every_type_show_what_the_model_shows)
{
    for (unsigned dtype = 1; dtype < TG_DTYPE_END; dtype++) {
        struct tensor tensor = tensor_random(dtype, 2, (int64_t[]){261, 131});
        numbers_open_one(&tensor);
        check_plane(&tensor, (struct view){.rows = 0, .cols = 1});
        check_plane(&tensor, (struct view){.rows = 1, .cols = 0});
        numbers_close();
        free(tensor.bytes);
    }
}

TEST(tiles_of_odd_shapes_show_what_the_model_shows)
{
    static const int64_t shapes[][2] = {{1, 1},     {1, 700},   {700, 1},
                                        {127, 129}, {128, 128}, {3, 513}};
    static const unsigned dtypes[] = {TG_INT4, TG_FLOAT32, TG_FLOAT64};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++) {
            struct tensor tensor = tensor_random(dtypes[d], 2, shapes[i]);
            numbers_open_one(&tensor);
            check_plane(&tensor, (struct view){.rows = 0, .cols = 1});
            check_plane(&tensor, (struct view){.rows = 1, .cols = 0});
            numbers_close();
            free(tensor.bytes);
        }
}

TEST(a_vector_is_one_row)
{
    struct tensor tensor = tensor_random(TG_INT4, 1, (int64_t[]){70001});
    numbers_open_one(&tensor);
    check_plane(&tensor, (struct view){.rows = -1, .cols = 0});
    numbers_close();
    free(tensor.bytes);
}

TEST(a_vector_can_be_wrapped_into_rows)
{
    static const unsigned dtypes[] = {TG_INT4, TG_FLOAT32};
    static const int64_t widths[] = {1, 7, 300, 999};
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++)
        for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
            struct tensor vector = tensor_random(dtypes[d], 1, (int64_t[]){1001}), rows = vector;
            rows.ndim = 2;
            rows.shape[0] = 1001 / widths[w];
            rows.shape[1] = widths[w];
            numbers_open_one(&vector);
            wrap = widths[w];
            check_plane(&rows, (struct view){.rows = 0, .cols = 1});
            wrap = 0;
            numbers_close();
            free(vector.bytes);
        }
}

TEST(a_wrong_wrap_is_refused)
{
    struct tensor vector = tensor_random(TG_INT8, 1, (int64_t[]){10});
    struct tensor matrix = tensor_random(TG_INT8, 2, (int64_t[]){10, 10});
    numbers_begin();
    numbers_add(&vector);
    numbers_add(&matrix);
    numbers_open();
    CHECK_REPLY(200, "\"plane\": [0, 0]", "heatmap?record=0&wrap=11");
    CHECK_REPLY(200, "\"plane\": [2, 5]", "heatmap?record=0&wrap=5");
    CHECK_REPLY(200, "\"height\": 3", "values?record=0&wrap=3");
    CHECK_REPLY(400, "'wrap'", "heatmap?record=0&wrap=0");
    CHECK_REPLY(400, "'wrap'", "heatmap?record=0&wrap=65537");
    CHECK_REPLY(400, "'wrap'", "heatmap?record=0&wrap=-1");
    CHECK_REPLY(400, "'rows'", "heatmap?record=0&wrap=5&rows=-1");
    CHECK_REPLY(400, "one dimension", "heatmap?record=1&wrap=5");
    numbers_close();
    free(vector.bytes);
    free(matrix.bytes);
}

TEST(every_plane_of_eight_dimensions_shows_what_the_model_shows)
{
    static const int64_t shape[] = {2, 1, 3, 1, 2, 2, 131, 3};
    struct tensor tensor = tensor_random(TG_FLOAT4_E2M1FN, 8, shape);
    numbers_open_one(&tensor);
    for (int rows = -1; rows < 8; rows++)
        for (int cols = 0; cols < 8; cols++) {
            struct view view = {.rows = rows, .cols = cols};
            for (int i = 0; i < 8; i++)
                view.at[i] = i == rows || i == cols ? 0 : shape[i] - 1 - (shape[i] > 2);
            if (rows != cols)
                check_plane(&tensor, view);
        }
    numbers_close();
    free(tensor.bytes);
}

TEST(the_default_plane_is_that_of_the_last_dimensions)
{
    struct tensor tensor = tensor_random(TG_FLOAT32, 3, (int64_t[]){2, 5, 7});
    numbers_open_one(&tensor);
    struct reply plain = ask("heatmap?record=0"),
                 named = ask("heatmap?record=0&rows=1&cols=2&at=0,9,9");
    CHECK_EQ_I(plain.answer.status, 200);
    CHECK_EQ_S(plain.text, named.text);
    CHECK_EQ_MEM(plain.bytes, named.bytes, 35 * sizeof(float));
    reply_free(&plain);
    reply_free(&named);
    numbers_close();
    free(tensor.bytes);
}

TEST(a_tensor_without_elements_has_one_empty_tile)
{
    struct tensor tensor = tensor_make(TG_FLOAT32, 3, (int64_t[]){4, 0, INT64_C(1) << 40});
    numbers_open_one(&tensor);
    CHECK_REPLY(200, "\"height\": 0", "heatmap?record=0");
    CHECK_REPLY(200, "\"elements\": 0", "heatmap?record=0&rows=0&cols=2&at=3,99,5");
    CHECK_REPLY(400, "'row'", "heatmap?record=0&row=1");
    CHECK_REPLY(400, "'level'", "heatmap?record=0&level=1");
    numbers_close();
    free(tensor.bytes);
}

TEST(a_tensor_without_dimensions_and_a_scalar_are_one_cell)
{
    struct tensor tensor = tensor_make(TG_FLOAT32, 0, NULL);
    tg_store(TG_FLOAT32, tensor.bytes, 0, 2.5);
    numbers_begin();
    numbers_add(&tensor);
    struct tg_record scalar = dump_scalar(numbers_task++, TG_INT32, (uint32_t)-7);
    CHECK(tg_dump_append(numbers_writer, &scalar));
    numbers_open();
    struct reply reply = ask("heatmap?record=0");
    CHECK_NEAR((double)((const float *)reply_column(&reply, "mean"))[0], 2.5, 0);
    reply_free(&reply);
    reply = ask("heatmap?record=1&rows=-1&cols=0&at=0");
    CHECK_NEAR((double)((const float *)reply_column(&reply, "mean"))[0], -7, 0);
    reply_free(&reply);
    numbers_close();
    free(tensor.bytes);
}

TEST(finite_numbers_stay_finite)
{
    struct tensor tensor = tensor_make(TG_FLOAT64, 2, (int64_t[]){1, 300});
    for (int64_t i = 0; i < 300; i++)
        tg_store(TG_FLOAT64, tensor.bytes, i, i % 2 ? -DBL_MAX : DBL_MAX);
    numbers_open_one(&tensor);
    check_plane(&tensor, (struct view){.rows = 0, .cols = 1});
    struct reply reply = ask("heatmap?record=0&level=0");
    CHECK_NEAR((double)((const float *)reply_column(&reply, "mean"))[0], (double)FLT_MAX, 0);
    CHECK_EQ_U(((const uint8_t *)reply_column(&reply, "kinds"))[0], 0);
    reply_free(&reply);
    numbers_close();
    free(tensor.bytes);
}

/* --- tensors that are too large to look at completely ------------------------------------------ */

/* A record of a hole: gigabytes of zeros that take no room on the disk. */
static void open_hole(const struct tensor *tensor)
{
    numbers_begin();
    struct tg_record record = tensor_record(tensor);
    record.position = tg_dump_reserve(numbers_writer, tensor->size);
    CHECK(tg_dump_payload(numbers_writer, record.position + tensor->size - 1, "", 1));
    CHECK(tg_dump_append(numbers_writer, &record));
    numbers_open();
}

TEST(a_giant_is_sampled_and_says_so)
{
    struct tensor tensor = {.dtype = TG_FLOAT32, .ndim = 2, .shape = {32768, 32768}};
    tensor.elements = INT64_C(1) << 30;
    tensor.size = UINT64_C(4) << 30;
    open_hole(&tensor);
    struct reply reply = ask("heatmap?record=0&level=8");
    CHECK_EQ_I(reply.answer.status, 200);
    CHECK_HAS(reply.text, "\"sampled\": true");
    CHECK_EQ_I((int64_t)reply_number(&reply, "elements"), tensor.elements);
    const double looked_at = reply_number(&reply, "looked_at");
    CHECK(looked_at >= 128 * 128 && looked_at <= 32 << 20);
    const uint8_t *zero = reply_column(&reply, "all_zero");
    for (int i = 0; zero && i < 128 * 128; i++)
        if (!CHECK(zero[i] == 1))
            break;
    CHECK_HAS(reply.text, "\"levels\": 9");
    reply_free(&reply);
    CHECK_REPLY(200, "\"sampled\": false", "heatmap?record=0&level=0&row=255&col=255");
    CHECK_REPLY(400, "'row'", "heatmap?record=0&level=0&row=256");
    CHECK_REPLY(200, "\"sampled\": true", "heatmap?record=0&level=8&rows=1&cols=0");
    numbers_close();
}

TEST(a_hole_that_is_too_large_is_refused_with_the_reason)
{
    struct tensor tensor = {.dtype = TG_FLOAT32, .ndim = 1, .shape = {INT64_C(5) << 30}};
    tensor.elements = tensor.shape[0];
    tensor.size = UINT64_C(20) << 30;
    open_hole(&tensor);
    CHECK_REPLY(409, "hole", "heatmap?record=0");
    CHECK_REPLY(200, "\"readable\": false", "tensor?record=0");
    numbers_close();
}

/* --- requests that are wrong ----------------------------------------------------------------- */

TEST(numbers_that_are_out_of_range_are_refused)
{
    static const char *const wrong[] = {
        "rows=1&cols=1",
        "rows=2",
        "rows=-2",
        "rows=",
        "rows=99999999999999999999",
        "cols=-1",
        "cols=2",
        "cols=1x",
        "rows=0x0",
        "at=0",
        "at=0,0,0",
        "at=",
        "at=0,",
        "at=,0",
        "at=-1,0",
        "at=0,-1",
        "at=0;0",
        "at=0,0,",
        "rows=-1&at=300,0",
        "rows=-1&cols=0&at=0,200",
        "rows=-1&at=18446744073709551616,0",
        "level=3",
        "level=-1",
        "level=64",
        "level=18446744073709551615",
        "row=3",
        "col=2",
        "level=2&row=1",
        "row=18446744073709551615",
        "col=-1",
        "row=1.0",
        "row=%2B1",
        "surprise=1",
        "record=1",
    };
    struct tensor tensor = tensor_random(TG_FLOAT32, 2, (int64_t[]){300, 200});
    numbers_open_one(&tensor);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK_REPLY(400, "\"BAD_ARGUMENT\"", "heatmap?record=0&%s", wrong[i]);
        if (strncmp(wrong[i], "level", 5) != 0 && strcmp(wrong[i], "row=3") != 0 &&
            strcmp(wrong[i], "col=2") != 0)
            CHECK_REPLY(400, "\"BAD_ARGUMENT\"", "values?record=0&%s", wrong[i]);
    }
    CHECK_REPLY(400, "'record'", "heatmap?level=0");
    CHECK_REPLY(400, "'record'", "heatmap?record=-1");
    CHECK_REPLY(400, "'record'", "heatmap?record=18446744073709551615");
    CHECK_REPLY(404, "no record 1", "heatmap?record=1");
    CHECK_REPLY(404, "no record", "heatmap?record=9223372036854775807");
    numbers_close();
    free(tensor.bytes);
}

TEST_MAIN()
