/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workbench. An input is a request to a small run that is well; or, behind a line feed, the journal or manifest of
 * a run, which gets every request. Behind a carriage return the records of a journal first get the checks that they
 * should have. There is always an answer, it is one JSON document or columns that lie within
 * their bytes, and no terminal obeys its texts.
 */
#define _GNU_SOURCE 1
#include "fuzz/recording.h"

#include <ftw.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <taskglass/wire/stream.h>
#include <taskglass/workbench.h>

#include "base/json_pull.h"
#include "recording/writer.h"
#include "workbench/bench.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char scratch[32];
static struct tg_workbench *bench;

/* --- runs ----------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)type, (void)where;
    return remove(path);
}

static void remove_all(void)
{
    tg_workbench_close(bench);
    (void)nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void write_file(const char *name, const void *bytes, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", scratch, name);
    FILE *file = fopen(path, "wb");
    HOLDS(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static void make_folder(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", scratch, name);
    HOLDS(mkdir(path, 0700) == 0);
}

static void add_record(struct tg_dump_writer *writer, uint64_t task, unsigned stage)
{
    static const float values[12] = {1, -2, 0, 3.5F};
    struct tg_record record = {.type = TG_RECORD_ARGUMENT,
                               .flags = TG_RECORD_CONTIGUOUS | TG_RECORD_PAYLOAD,
                               .task_id = task,
                               .kernel = {TG_NO_KERNEL, 0, TG_NO_KERNEL},
                               .stage = (uint8_t)stage,
                               .role = TG_IN,
                               .dtype = TG_FLOAT32,
                               .ndim = 2,
                               .core = 1,
                               .data_ptr = 0x1000,
                               .shape = {3, 4},
                               .strides = {4, 1},
                               .bytes = sizeof values,
                               .stored = sizeof values,
                               .time = 1000 + 100 * task + 10 * stage};
    record.position = tg_dump_reserve(writer, sizeof values);
    HOLDS(tg_dump_payload(writer, record.position, values, sizeof values));
    HOLDS(tg_dump_append(writer, &record));
}

static void make_good_run(void)
{
    static const char deps[] = "{\"tasks\": [{\"task_id\": 0, \"after\": []}, {\"task_id\": 1, "
                               "\"after\": [0], \"kind\": [\"raw\"]}]}";
    struct tg_dump_writer *writer;
    char path[64];
    make_folder("run");
    snprintf(path, sizeof path, "%s/run", scratch);
    HOLDS(tg_dump_create(path, TG_LEVEL_FULL, TG_POLICY_BLOCK, 0, &writer, NULL) == TG_OK);
    HOLDS(tg_dump_add_kernel(writer, 0, TG_AIV, "add") == TG_OK);
    add_record(writer, TG_TASK_NONE, TG_STAGE_ORCHESTRATION);
    for (uint64_t i = 0; i < 4; i++)
        add_record(writer, i / 2, i % 2);
    HOLDS(tg_dump_finish(writer, NULL) == TG_OK);
    tg_dump_destroy(writer);
    write_file("run/deps.json", deps, strlen(deps));
    HOLDS(tg_workbench_open(&(struct tg_workbench_config){.path = path}, &bench, NULL) == TG_OK);
}

static void make_scratch(void)
{
    if (scratch[0])
        return;
    snprintf(scratch, sizeof scratch, "/tmp/taskglass_fuzz_XXXXXX");
    HOLDS(mkdtemp(scratch));
    atexit(remove_all);
    make_good_run();
    make_folder("odd");
    make_folder("odd/tensor_dump");
}

/* --- answers -------------------------------------------------------------------------------- */

static void check_json(const char *text, size_t size)
{
    struct tg_pull pull;
    tg_pull_start(&pull, text, size);
    while (tg_pull_next(&pull) > TG_PULL_END)
        ;
    HOLDS(pull.token == TG_PULL_END);
    for (size_t i = 0; i < size; i++)
        HOLDS((unsigned char)text[i] >= ' ' || text[i] == '\n');
}

/* Every column of the header lies within the bytes. */
static void check_columns(const struct tg_workbench_answer *answer)
{
    const unsigned char *head = answer->part[0].bytes;
    uint32_t word[4];
    HOLDS(answer->part[0].size >= sizeof word && answer->part[0].size % 8 == 0);
    memcpy(word, head, sizeof word);
    HOLDS(word[0] == UINT32_C(0x43574754) && word[1] == 1 && word[2] <= answer->part[0].size - 16);
    char *text = strndup((const char *)head + 16, word[2]);
    check_json(text, word[2]);
    uint64_t offset, count;
    char type[4];
    unsigned columns = 0;
    for (const char *at = strstr(text, "\"columns\": ["); (at = strstr(at, "{\"name\": \""));
         at++) {
        HOLDS(sscanf(strstr(at, "\"type\""),
                     "\"type\": \"%3[a-z0-9]\", \"offset\": %" SCNu64 ", \"count\": %" SCNu64, type,
                     &offset, &count) == 3);
        const uint64_t width = (uint64_t)atoi(type + 1) / 8;
        HOLDS(offset <= answer->part[1].size && count <= (answer->part[1].size - offset) / width);
        columns++;
    }
    HOLDS(columns > 0);
    free(text);
}

static void ask(struct tg_workbench *asked, const char *request)
{
    struct tg_workbench_answer answer;
    tg_workbench_ask(asked, request, &answer);
    const int s = answer.status;
    HOLDS(s == 200 || s == 400 || s == 404 || s == 409 || s == 413 || s == 500);
    if (strcmp(answer.type, "application/json") == 0)
        check_json(answer.part[0].bytes, answer.part[0].size);
    else if (!answer.file[0])
        check_columns(&answer);
    tg_workbench_answer_free(&answer);
}

/* Any bytes as a recording: each request gets its answer. */
static void ask_everything(const uint8_t *data, size_t size)
{
    static const char *const requests[] = {
        "runs",
        "run?run=odd",
        "timeline?run=odd",
        "edges?run=odd",
        "task?run=odd&task=0",
        "task?run=odd&task=1:1",
        "records?run=odd",
        "records?run=odd&task=0-9&stage=after",
        "tensor?run=odd&record=0",
        "tensor?run=odd&record=1",
        "stats?run=odd&record=0",
        "histogram?run=odd&record=0",
        "heatmap?run=odd&record=0&level=0&row=0&col=0",
        "values?run=odd&record=0&row=0&col=0",
        "npy?run=odd&record=0",
        "difference?run=odd&record=0&other=odd&other_record=1&mode=ulp&level=0&row=0&col=0",
        "rings?run=odd",
        "explain?run=odd"};
    static const char payload[FUZZ_PAYLOAD];
    struct tg_workbench *odd;
    char path[128];
    const bool is_journal = tg_journal_begins(data, size);
    (void)snprintf(path, sizeof path, "%s/odd/tensor_dump/tensor_dump.%s", scratch,
                   is_journal ? "json" : "rec");
    (void)remove(path);
    write_file(is_journal ? "odd/tensor_dump/tensor_dump.rec" : "odd/tensor_dump/tensor_dump.json",
               data, size);
    write_file("odd/tensor_dump/tensor_dump.bin", payload, sizeof payload);
    snprintf(path, sizeof path, "%s/odd", scratch);
    if (tg_workbench_open(&(struct tg_workbench_config){.path = path}, &odd, NULL) != TG_OK)
        return;
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        ask(odd, requests[i]);
    tg_workbench_close(odd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    make_scratch();
    char *text = strndup((const char *)data, size);
    if (size > 0 && (data[0] == '\n' || data[0] == '\r')) {
        unsigned char *bytes = malloc(size);
        memcpy(bytes, data + 1, size - 1);
        if (data[0] == '\r')
            fuzz_seal(bytes, size - 1);
        ask_everything(bytes, size - 1);
        free(bytes);
    } else {
        ask(bench, text);
    }
    free(text);
    return 0;
}
