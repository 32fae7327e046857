/* SPDX-License-Identifier: Apache-2.0 */
/* The function behind all exports. tests/e2e checks the contents of the files. */
#define _GNU_SOURCE 1
#include "unit/recording/recording.h"

#include <taskglass/export.h>

static struct tg_recording *recording;
static struct tg_export_result result;

static void open_ten(void)
{
    dump_make(10, 4);
    recording = dump_open(dump_dir);
}

static const char *target(const char *name)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/%s", dump_dir, name);
    return path;
}

static tg_status export_to(const struct tg_export_config *config)
{
    dump_error = (struct tg_error){0};
    result = (struct tg_export_result){0};
    return tg_recording_export(recording, config, &result, &dump_error);
}

static bool is_there(const char *name)
{
    return access(target(name), F_OK) == 0;
}

TEST(every_format_has_a_name_and_a_summary)
{
    struct tg_export_format_info info;
    uint32_t n = 0;
    for (; tg_export_format_get(n, &info); n++) {
        CHECK(*info.name && *info.summary && *info.ending == '.');
        CHECK(info.available || strcmp(info.name, "sqlite") == 0);
    }
    CHECK(n >= 7);
}

TEST(no_format_goes_away)
{
    static const char *const names[] = {"npy", "npz",   "safetensors", "sqlite",
                                        "csv", "trace", "txt"};
    struct tg_export_format_info info;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        uint32_t n = 0;
        while (tg_export_format_get(n, &info) && strcmp(info.name, names[i]) != 0)
            n++;
        CHECK(tg_export_format_get(n, &info));
    }
}

TEST(every_format_counts_what_it_has_written)
{
    struct tg_export_format_info info;
    open_ten();
    for (uint32_t n = 0; tg_export_format_get(n, &info); n++) {
        if (strcmp(info.name, "trace") == 0 || !info.available)
            continue; /* these records have no times */
        CHECK_EQ_I(
            export_to(&(struct tg_export_config){.format = info.name, .path = target(info.name)}),
            TG_OK);
        CHECK_EQ_U(result.written, 10);
        CHECK(is_there(info.name));
    }
    tg_recording_close(recording);
}

TEST(a_format_that_is_none_is_refused)
{
    open_ten();
    CHECK_EQ_I(export_to(&(struct tg_export_config){.format = "xls", .path = target("x")}),
               TG_BAD_ARGUMENT);
    CHECK_HAS(dump_error.text, "'xls'; the formats are npy");
    CHECK_EQ_I(export_to(&(struct tg_export_config){.path = target("x")}), TG_BAD_ARGUMENT);
    CHECK_EQ_I(export_to(&(struct tg_export_config){.format = "csv"}), TG_BAD_ARGUMENT);
    CHECK_EQ_I(export_to(&(struct tg_export_config){.format = "csv", .path = ""}), TG_BAD_ARGUMENT);
    tg_recording_close(recording);
}

TEST(the_result_and_the_error_are_optional)
{
    open_ten();
    struct tg_export_config config = {.format = "csv", .path = target("x")};
    CHECK_EQ_I(tg_recording_export(recording, &config, NULL, NULL), TG_OK);
    CHECK_EQ_I(tg_recording_export(recording, &config, NULL, NULL), TG_BAD_ARGUMENT);
    tg_recording_close(recording);
}

TEST(a_file_that_is_there_is_kept_unless_it_may_be_overwritten)
{
    open_ten();
    struct tg_export_config config = {.format = "csv", .path = target("x")};
    dump_write_file(config.path, "mine", 4);
    CHECK_EQ_I(export_to(&config), TG_BAD_ARGUMENT);
    CHECK_HAS(dump_error.text, "already exists");
    size_t size;
    char *bytes = dump_read_file(config.path, &size);
    CHECK_EQ_S(bytes, "mine");
    free(bytes);
    config.overwrite = true;
    CHECK_EQ_I(export_to(&config), TG_OK);
    tg_recording_close(recording);
}

TEST(a_query_and_a_limit_choose_the_records)
{
    struct tg_query *query;
    open_ten();
    REQUIRE(tg_query_create(&query, &dump_error) == TG_OK);
    CHECK_EQ_I(tg_query_add(query, "task", "3-8", &dump_error), TG_OK);
    struct tg_export_config config = {
        .format = "csv", .path = target("x"), .query = query, .overwrite = true};
    CHECK_EQ_I(export_to(&config), TG_OK);
    CHECK_EQ_U(result.written, 6);
    config.limit = 2;
    CHECK_EQ_I(export_to(&config), TG_OK);
    CHECK_EQ_U(result.written, 2);
    tg_query_destroy(query);
    tg_recording_close(recording);
}

/* --- progress ------------------------------------------------------------------------------- */

struct told {
    unsigned times;
    uint64_t last, total;
    bool stop;
};

static int tell(void *context, uint64_t done, uint64_t total)
{
    struct told *told = context;
    CHECK(done >= told->last && done <= total);
    told->times++;
    told->last = done;
    told->total = total;
    return told->stop;
}

TEST(progress_is_reported_and_grows)
{
    struct tg_export_format_info info;
    dump_make(500, 4);
    recording = dump_open(dump_dir);
    for (uint32_t n = 0; tg_export_format_get(n, &info); n++) {
        struct told told = {0};
        if (strcmp(info.name, "trace") == 0 || !info.available)
            continue;
        struct tg_export_config config = {.format = info.name,
                                          .path = target(info.name),
                                          .progress = tell,
                                          .progress_context = &told};
        CHECK_EQ_I(export_to(&config), TG_OK);
        CHECK(told.times > 0);
    }
    tg_recording_close(recording);
}

TEST(an_export_that_is_cancelled_leaves_nothing)
{
    struct tg_export_format_info info;
    dump_make(500, 4);
    recording = dump_open(dump_dir);
    for (uint32_t n = 0; tg_export_format_get(n, &info); n++) {
        struct told told = {.stop = true};
        if (strcmp(info.name, "trace") == 0 || strcmp(info.name, "npy") == 0 || !info.available)
            continue; /* each file of a folder is whole by itself */
        struct tg_export_config config = {.format = info.name,
                                          .path = target(info.name),
                                          .progress = tell,
                                          .progress_context = &told};
        CHECK_EQ_I(export_to(&config), TG_CANCELLED);
        CHECK_EQ_U(told.times, 1);
        CHECK(!is_there(info.name));
    }
    tg_recording_close(recording);
}

TEST_MAIN()
