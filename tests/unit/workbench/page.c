/* SPDX-License-Identifier: Apache-2.0 */
/* A page without a server: what is in it, and what cannot get out of it. */
#define _GNU_SOURCE 1
#include "unit/workbench/made.h"

static struct tg_workbench_page page;
static char file[400];

/* A run of two tasks; record 0 is a tensor with values. */
static void make_run(void)
{
    const struct tensor tensor = tensor_random(TG_FLOAT32, 2, (const int64_t[]){3, 5});
    numbers_begin();
    CHECK_EQ_I(tg_dump_add_kernel(numbers_writer, 1, TG_AIV, "</script><b>"), TG_OK);
    numbers_add(&tensor);
    made_task(UINT64_C(0x100000002), 10, 20);
    tg_dump_account(numbers_writer, &(struct tg_dump_account){.attempted = numbers_task});
    CHECK_EQ_I(tg_dump_finish(numbers_writer, &dump_error), TG_OK);
    tg_dump_destroy(numbers_writer);
    free(tensor.bytes);
    snprintf(file, sizeof file, "%s.html", dump_dir);
    (void)remove(file);
}

static tg_status write_page(uint64_t most, bool overwrite)
{
    const struct tg_workbench_page_config config = {.most = most, .overwrite = overwrite};
    dump_error = (struct tg_error){0};
    return tg_workbench_write_page(dump_dir, file, &config, &page, &dump_error);
}

static char *written(void)
{
    size_t size;
    char *text = dump_read_file(file, &size);
    CHECK_EQ_U(size, page.bytes);
    (void)remove(file);
    return text;
}

static const char *name(void)
{
    return strrchr(dump_dir, '/') + 1;
}

static void check_request(const char *text, const char *request)
{
    char want[400];
    snprintf(want, sizeof want, "\n\"%s\": ", request);
    char *at = strstr(want, "RUN");
    char filled[800];
    if (at)
        snprintf(filled, sizeof filled, "%.*s%s%s", (int)(at - want), want, name(), at + 3);
    if (!CHECK(strstr(text, at ? filled : want)))
        fprintf(stderr, "%s\n", at ? filled : want);
}

TEST(a_page_has_the_answers_to_what_it_asks)
{
    static const char *const requests[] = {
        "runs",
        "run?run=RUN",
        "timeline?run=RUN",
        "edges?run=RUN",
        "rings?run=RUN",
        "explain?run=RUN",
        "task?run=RUN&task=0",
        "task?run=RUN&task=1%3A2",
        "records?run=RUN&first=0&count=100",
        "tensor?run=RUN&record=0",
        "tensor?run=RUN&record=2",
        "stats?run=RUN&record=0",
        "histogram?run=RUN&record=0&bins=64",
        "heatmap?run=RUN&record=0&rows=0&cols=1&at=0%2C0&level=0&row=0&col=0",
        "values?run=RUN&record=0&rows=0&cols=1&at=0%2C0&row=0&col=0",
    };
    make_run();
    REQUIRE(write_page(0, false) == TG_OK);
    CHECK_EQ_U(page.tensors, 1);
    CHECK_EQ_U(page.left_out, 0);
    char *text = written();
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        check_request(text, requests[i]);
    CHECK_HAS(text, "\": {\"http\": 409,"); /* there is no deps.json */
    free(text);
}

/* Counts an element that begins so. */
static unsigned count(const char *text, const char *word)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, word)); at++)
        n++;
    return n;
}

TEST(a_page_runs_its_script_alone_and_loads_nothing)
{
    make_run();
    REQUIRE(write_page(0, false) == TG_OK);
    char *text = written();
    CHECK_HAS(text, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ");
    CHECK_HAS(text, "script-src 'sha256-");
    CHECK(!strstr(text, "unsafe"));
    CHECK_EQ_U(count(text, "<script src"), 0);
    CHECK_EQ_U(count(text, "<link rel=\"stylesheet\""), 0);
    CHECK_EQ_U(count(text, "<script>"), 1);
    CHECK_EQ_U(count(text, "<script type=\"application/json\" id=\"answers\">{"), 1);
    CHECK_EQ_U(count(text, "</script><b>"), 0);
    free(text);
}

TEST(the_files_of_the_page_can_be_put_into_one)
{
    size_t size;
    const char *type;
    const char *html = tg_workbench_file("", &type, &size);
    CHECK(memmem(html, size, "<link rel=\"stylesheet\" href=\"app.css\">", 37) != NULL);
    CHECK(memmem(html, size, "<script src=\"app.js\" defer></script>", 36) != NULL);
    const char *js = tg_workbench_file("app.js", &type, &size);
    CHECK(memmem(js, size, "</script", 8) == NULL && memmem(js, size, "<!--", 4) == NULL);
    const char *css = tg_workbench_file("app.css", &type, &size);
    CHECK(memmem(css, size, "</style", 7) == NULL);
    CHECK(!tg_workbench_file("../run.json", &type, &size));
    CHECK(!tg_workbench_file(NULL, NULL, NULL));
}

TEST(a_file_that_exists_is_kept)
{
    make_run();
    REQUIRE(write_page(0, false) == TG_OK);
    CHECK_EQ_I(write_page(0, false), TG_BAD_ARGUMENT);
    CHECK_EQ_I(write_page(0, true), TG_OK);
    free(written());
}

TEST(a_file_of_the_run_is_never_overwritten)
{
    make_run();
    snprintf(file, sizeof file, "%s/tensor_dump/tensor_dump.rec", dump_dir);
    CHECK_EQ_I(write_page(0, true), TG_BAD_ARGUMENT);
}

TEST(a_run_that_does_not_fit_is_refused_and_leaves_nothing)
{
    make_run();
    CHECK_EQ_I(write_page(4000, false), TG_BAD_ARGUMENT);
    CHECK_HAS(dump_error.text, "taskglass serve");
    CHECK(access(file, F_OK) != 0);
}

TEST(values_that_do_not_fit_are_left_out)
{
    make_run();
    REQUIRE(write_page(0, false) == TG_OK);
    const uint64_t whole = page.bytes;
    free(written());
    size_t js;
    (void)tg_workbench_file("app.js", NULL, &js);
    REQUIRE(write_page(whole - js - 1000, false) == TG_OK); /* the budget is of the answers */
    CHECK_EQ_U(page.tensors, 0);
    CHECK_EQ_U(page.left_out, 1);
    char *text = written();
    check_request(text, "tensor?run=RUN&record=0");
    CHECK(!strstr(text, "\n\"values?"));
    free(text);
}

static int cancel(void *context, uint64_t done, uint64_t total)
{
    (void)context;
    CHECK(done <= total);
    return done == 2;
}

TEST(a_page_can_be_cancelled)
{
    make_run();
    const struct tg_workbench_page_config config = {.progress = cancel};
    CHECK_EQ_I(tg_workbench_write_page(dump_dir, file, &config, &page, &dump_error), TG_CANCELLED);
    CHECK(access(file, F_OK) != 0);
}

TEST(a_folder_of_runs_is_no_run)
{
    dump_make_dir();
    CHECK_EQ_I(write_page(0, false), TG_BAD_ARGUMENT);
    CHECK_HAS(dump_error.text, "is not a run");
}

TEST_MAIN()
