/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls the C interface at random: any function, in any order, with handles that are open or NULL, and
 * with numbers, texts and structs that may be nonsense. Only what C cannot notice is left out: handles
 * that were closed before, and pointers to less memory than a function writes. The bytes of the input say
 * which call comes next and what it is given.
 *
 * With TASKGLASS_DEVICE_PROGRAM and TASKGLASS_TEST_WORKLOADS in the environment (ctest sets them) there
 * is a device too, on which graphs are built and run. What runs and exports write goes into a scratch
 * folder.
 */
#define _GNU_SOURCE 1
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/analysis.h>
#include <taskglass/array.h>
#include <taskglass/check.h>
#include <taskglass/export.h>
#include <taskglass/json.h>
#include <taskglass/layout.h>
#include <taskglass/npy.h>
#include <taskglass/outputs.h>
#include <taskglass/query.h>
#include <taskglass/recover.h>
#include <taskglass/replay.h>
#include <taskglass/scope_stats.h>
#include <taskglass/taskglass.h>
#include <taskglass/verify.h>
#include <unistd.h>

enum { MOST_CALLS = 24 };

/* ── what the input says ───────────────────────────────────────────────────────────────────── */

static const uint8_t *at, *end;
static uint64_t state;

/* After the end of the input come bytes that depend on it, so that a short input makes many calls. */
static uint8_t byte(void)
{
    state = state * UINT64_C(6364136223846793005) + (at < end ? *at : 0) + 1;
    return at < end ? *at++ : (uint8_t)(state >> 56);
}

static uint64_t number(void)
{
    static const uint64_t odd[] = {
        0,     1,         2,          3,         16,         255,        256,        65535,
        65536, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX, 1ull << 32, 1ull << 48, 4096};
    uint8_t which = byte();
    return which < sizeof odd / sizeof odd[0] ? odd[which] : which;
}

static double real(void)
{
    static const double odd[] = {0, 1, -1, 0.5, 1e300, -1e300, NAN, INFINITY, -INFINITY};
    uint8_t which = byte();
    return which < sizeof odd / sizeof odd[0] ? odd[which] : which;
}

static const char *text(void)
{
    static const char *const odd[] = {
        NULL,     "",       "0",       "full",  "task",       "1-",
        "kernel", "*",      "npz",     "json",  "cores",      "a2a3sim",
        "1:2",    "stage",  "before",  "index", "dump-level", "999999999999",
        "%s%n",   "\xff\1", "task=;=", "rtol",  "1e-3",       "float32=0.1"};
    return odd[byte() % (sizeof odd / sizeof odd[0])];
}

/* A folder, a file, and what does not exist. In "taken", files stand where a run makes its
 * folders. No path leads out of the scratch folder to a place where root could make something. */
static char scratch[32], folder[48], no_folder[48], taken[48], missing[48];
static bool scratch_used; /* by the present input */

static const char *path(void)
{
    static const char *const odd[] = {
        NULL,      "",    "/dev/null", "/proc/nowhere/at/all", "relative/nowhere", folder,
        no_folder, taken, missing};
    scratch_used = true;
    return odd[byte() % (sizeof odd / sizeof odd[0])];
}

/* The pointer, or now and then NULL. */
#define maybe(pointer) (byte() % 16 == 3 ? NULL : (pointer))

/* Bytes of the input, as many as there are, for a struct that may hold nonsense. */
static void nonsense(void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)bytes)[i] = byte();
}

/* ── the scratch folder ────────────────────────────────────────────────────────────────────── */

static void must(bool done)
{
    if (done)
        return;
    perror(scratch);
    abort();
}

static int remove_entry(const char *name, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type, (void)walk;
    return remove(name);
}

static void remove_scratch(void)
{
    (void)nftw(scratch, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_file(const char *where, const char *name)
{
    char made[80];
    snprintf(made, sizeof made, "%s%s", where, name);
    FILE *stream = fopen(made, "w");
    must(stream != NULL && fputs("not a folder", stream) >= 0 && fclose(stream) == 0);
}

/* Every input begins with the same files, so that it always does the same. */
static void make_scratch(void)
{
    if (scratch[0] == '\0') {
        const char *temporary = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        snprintf(scratch, sizeof scratch, "%s/fuzz-api-XXXXXX", temporary);
        must(mkdtemp(scratch) != NULL);
        atexit(remove_scratch);
        snprintf(folder, sizeof folder, "%s/folder", scratch);
        snprintf(no_folder, sizeof no_folder, "%s/file", scratch);
        snprintf(taken, sizeof taken, "%s/taken", scratch);
        snprintf(missing, sizeof missing, "%s/missing/at/all", scratch);
    } else if (scratch_used) {
        remove_scratch();
        must(mkdir(scratch, 0700) == 0);
    } else {
        return;
    }
    scratch_used = false;
    must(mkdir(folder, 0700) == 0 && mkdir(taken, 0700) == 0);
    make_file(no_folder, "");
    make_file(taken, "/tensor_dump");
    make_file(taken, "/scope_stats");
}

/* ── handles ───────────────────────────────────────────────────────────────────────────────── */

static struct tg_error error;
static struct tg_recording *recording;
static struct tg_query *query;
static struct tg_settings *settings;
static struct tg_diff *diff;
static struct tg_blame *blame;
static struct tg_find *find;
static struct tg_scope_stats *stats;
static struct tg_export_names *names;
static struct tg_device *device; /* stays open from input to input */
static struct tg_module *module;
static struct tg_graph *graph;
static struct tg_run *run;
static uint64_t memory; /* of the device: 16 bytes */
static struct tg_json json;
static char json_buffer[512];

static void close_diff(void)
{
    tg_blame_close(blame);
    tg_diff_close(diff);
    blame = NULL;
    diff = NULL;
}

static void close_recording(void)
{
    close_diff();
    tg_find_close(find);
    tg_recording_close(recording);
    find = NULL;
    recording = NULL;
}

static void close_graph(void)
{
    tg_run_destroy(run);
    tg_graph_destroy(graph);
    run = NULL;
    graph = NULL;
}

static void close_all(void)
{
    close_recording();
    close_graph();
    tg_query_destroy(query);
    tg_settings_destroy(settings);
    tg_scope_stats_close(stats);
    tg_export_names_destroy(names);
    query = NULL;
    settings = NULL;
    stats = NULL;
    names = NULL;
}

/* Opens the device once, if there is a program for it. */
static void open_device(void)
{
    static bool tried;
    const char *program = getenv("TASKGLASS_DEVICE_PROGRAM");
    const char *workloads = getenv("TASKGLASS_TEST_WORKLOADS");
    struct tg_device_config config = {.cores = 3, .memory = 64 << 20, .device_program = program};
    char file[4096];
    if (tried || program == NULL || workloads == NULL)
        return;
    tried = true;
    snprintf(file, sizeof file, "%s/rings.so", workloads);
    if (tg_device_open(&config, &device, &error) == TG_OK)
        (void)tg_device_load(device, file, &module, &error);
    if (module != NULL)
        (void)tg_device_alloc(device, 16, &memory, &error);
}

/* ── structs that may hold nonsense ────────────────────────────────────────────────────────── */

static struct tg_entry any_entry(void)
{
    struct tg_entry entry = {.kernel = {"a", NULL, ""}};
    if (byte() % 2 == 0 && tg_recording_get(recording, byte(), &entry))
        return entry;
    nonsense(&entry.record, sizeof entry.record);
    return entry;
}

static struct tg_args any_args(void)
{
    static const uint64_t after[2] = {0, TG_TASK_NONE};
    struct tg_args args;
    tg_args_init(&args);
    args.n_tensors = byte() % 20;
    for (int i = 0; i < TG_MAX_TENSORS; i++) {
        int64_t shape[2] = {(int64_t)number(), 1};
        args.role[i] = byte() % 5;
        args.tensor[i] = tg_tensor_make(number(), byte() % 24, byte() % 3, shape);
    }
    if (byte() % 4 == 0)
        nonsense(&args.tensor[0], sizeof args.tensor[0]);
    args.n_scalars = byte() % 20;
    memset(args.scalar, byte(), sizeof args.scalar);
    args.n_after = byte() % 20;
    args.after[0] = number();
    args.more_after = maybe(after);
    args.n_more_after = byte() % 3;
    return args;
}

/* Arguments with which the module's orchestration works: a tensor and what to do. */
static struct tg_args good_args(void)
{
    const int64_t elements = 2;
    struct tg_args args;
    tg_args_init(&args);
    tg_args_inout(&args, tg_tensor_make(memory, TG_INT64, 1, &elements));
    for (int i = 0; i < 4; i++)
        tg_args_i64(&args, i == 1);
    return args;
}

/* Adds a task that can run: it adds one to an element. */
static void add_good_task(void)
{
    const int64_t elements = 1;
    struct tg_args args;
    tg_args_init(&args);
    tg_args_inout(&args, tg_tensor_make(memory, TG_INT64, 1, &elements));
    tg_args_i64(&args, 1);
    (void)tg_graph_add(graph, tg_module_kernel(module, "add"), &args, NULL, &error);
}

/* ── calls ─────────────────────────────────────────────────────────────────────────────────── */

static void call_names(void)
{
    unsigned n = (unsigned)number();
    tg_verdict_name(n), tg_reason_name(n), tg_reason_text(n), tg_guilt_name(n), tg_guilt_text(n);
    tg_find_kind_name(n), tg_find_kind_text(n), tg_trace_name(n), tg_trace_text(n), tg_sign_name(n);
    tg_sign_text(n), tg_dtype_name((int)n), tg_dtype_bits((int)n), tg_dtype_valid((int)n);
    tg_dtype_is_float((int)n), tg_dtype_is_signed((int)n), tg_export_type(n), tg_stage_name(n);
    tg_record_role_name(n), tg_kind_name(n), tg_level_name(n), tg_policy_name(n), tg_loss_name(n);
    tg_recording_state_name(n), tg_role_name(n), tg_scope_resource_name(n),
        tg_scope_verdict_name(n);
    tg_status_name((tg_status)n), tg_status_text((tg_status)n), tg_status_advice((tg_status)n);
    tg_status_exit_code((tg_status)n), tg_problem_name(n), tg_version(), tg_platform_count();
    (void)tg_tolerance_default((int)n);
    (void)tg_dtype_from_name(text());
    (void)tg_scope_share(number(), number());
}

static void call_tables(void)
{
    struct tg_platform_info platform;
    struct tg_runtime_info runtime;
    struct tg_export_format_info format;
    struct tg_layout_info layout;
    (void)tg_platform_get((uint32_t)number(), maybe(&platform));
    (void)tg_runtime_get((uint32_t)number(), maybe(&runtime));
    (void)tg_export_format_get((uint32_t)number(), maybe(&format));
    (void)tg_layout_get((uint32_t)number(), maybe(&layout));
}

static void call_values(void)
{
    static const double bytes[8] = {1, 2, 3};
    static double room[8];
    struct tg_tensor_stats measured;
    struct tg_comparison comparison;
    struct tg_tolerance tolerance = {real(), real()};
    struct tg_output_check check;
    struct tg_value_text out;
    int dtype = (int)number();
    int64_t elements = byte() % 8 == 0 ? -(int64_t)number() : byte() % 8;
    (void)tg_tensor_measure(dtype, maybe(bytes), elements, maybe(&measured), &error);
    (void)tg_tensor_compare(dtype, maybe(bytes), maybe(bytes), elements, maybe(&tolerance),
                            byte() % 2, maybe(&comparison), &error);
    tg_check_close(dtype, maybe(bytes), maybe(bytes), byte() % 8, real(), real(), maybe(&check));
    tg_check_add(NULL, number(), maybe(&check));
    (void)tg_dtype_load(dtype, maybe(bytes), byte() % 8);
    tg_dtype_store(dtype, maybe(room), byte() % 8, real());
    (void)tg_value_format((unsigned)dtype, number(), maybe(&out));
    (void)tg_content_hash(maybe(bytes), byte() % 64);
}

static void call_settings(void)
{
    struct tg_setting_info info;
    if (settings == NULL)
        (void)tg_settings_create(maybe(&settings), &error);
    (void)tg_settings_set(maybe(settings), text(), text(), maybe(&error));
    (void)tg_settings_check(maybe(settings), &error);
    (void)tg_settings_get(maybe(settings), (uint32_t)number(), maybe(&info));
    (void)tg_settings_text(maybe(settings), text());
    (void)tg_settings_count(maybe(settings), text());
    (void)tg_settings_number(maybe(settings), text(), (uint32_t)number());
    (void)tg_settings_seconds(maybe(settings), text());
    (void)tg_settings_choice(maybe(settings), text());
    (void)tg_settings_flag(maybe(settings), text());
}

static void call_json(void)
{
    struct tg_json *j = maybe(&json);
    switch (byte() % 16) {
    case 0:
        tg_json_start_buffer(j, json_buffer, byte() * 2u, -1, number());
        break;
    case 1:
        (void)tg_json_finish(j);
        break;
    case 2:
        tg_json_begin_object(j), tg_json_key(j, text());
        break;
    case 3:
        tg_json_end_object(j);
        break;
    case 4:
        tg_json_begin_line_array(j);
        break;
    case 5:
        tg_json_end_array(j);
        break;
    case 6:
        tg_json_string(j, text());
        break;
    case 7:
        tg_json_real(j, real()), tg_json_float(j, (float)real());
        break;
    case 8:
        tg_json_value(j, (unsigned)number(), number());
        break;
    case 9:
        tg_json_put_string(j, text(), text()), tg_json_put_uint(j, text(), number());
        break;
    case 10:
        tg_json_put_hex(j, text(), number()), tg_json_put_real(j, text(), real());
        break;
    case 11:
        tg_json_put_bool(j, text(), byte() % 2), tg_json_null(j), tg_json_bool(j, byte() % 2);
        break;
    case 12:
        tg_json_begin_line_object(j), tg_json_plain_key(j, "k", byte() % 2);
        break;
    case 13:
        tg_json_begin_array(j), tg_json_int(j, (int64_t)number()), tg_json_uint(j, number());
        break;
    case 14:
        tg_json_quoted_int(j, (int64_t)number()), tg_json_quoted_uint(j, number());
        break;
    default:
        tg_json_hex(j, number()), tg_json_end_line(j), tg_json_flush(j);
    }
}

static void call_query(void)
{
    struct tg_entry entry = any_entry();
    uint64_t index = number(), last;
    if (query == NULL)
        (void)tg_query_create(maybe(&query), &error);
    (void)tg_query_add(maybe(query), text(), text(), maybe(&error));
    (void)tg_query_is_empty(maybe(query));
    (void)tg_query_get_range(maybe(query), text(), number(), maybe(&index), maybe(&last));
    (void)tg_query_has_word(maybe(query), text(), text());
    (void)tg_query_matches(maybe(query), number(), maybe(&entry));
    (void)tg_query_next(maybe(query), maybe(recording), maybe(&index), maybe(&entry));
}

static void call_recording(void)
{
    struct tg_recording_info info;
    struct tg_verification verified;
    struct tg_recovery recovered;
    struct tg_entry entry;
    char command[64];
    if (recording == NULL)
        (void)tg_recording_open(
            byte() % 4 ? TASKGLASS_TEST_SOURCE_DIR "/tests/golden/dump_tensor_v1" : path(),
            maybe(&recording), &error);
    tg_recording_get_info(maybe(recording), maybe(&info));
    (void)tg_recording_get(maybe(recording), number(), maybe(&entry));
    (void)tg_recording_command(maybe(recording), text(), maybe(command), byte() % sizeof command);
    (void)tg_recording_stored(maybe(recording));
    (void)tg_recording_cut_off(maybe(recording));
    (void)tg_recording_why_empty(maybe(recording));
    if (byte() % 16 == 0)
        (void)tg_recording_verify(maybe(recording), NULL, NULL, maybe(&verified), &error);
    if (byte() % 16 == 0)
        (void)tg_recording_recover(path(), maybe(&recovered), &error);
}

static void call_entry(void)
{
    static FILE *sink;
    struct tg_entry entry = any_entry();
    struct tg_array_layout layout = {(int)number(), (int64_t)number(), (int)number()};
    struct tg_array array;
    struct tg_tensor_stats measured;
    struct tg_value_text out;
    struct tg_export_name name;
    if (sink == NULL)
        sink = fopen("/dev/null", "w");
    if (names == NULL)
        names = tg_export_names_create();
    (void)tg_recording_payload(maybe(recording), maybe(&entry));
    (void)tg_entry_measure(maybe(recording), maybe(&entry), maybe(&measured));
    (void)tg_scalar_format(maybe(&entry.record), maybe(&out));
    (void)tg_export_names_make(maybe(names), number(), maybe(&entry), maybe(&name));
    if (tg_array_of(maybe(recording), maybe(&entry), &array))
        tg_array_print(maybe(sink), maybe(&array), maybe(&layout));
    array.ndim = (int)number();
    array.dtype = (unsigned)number();
    array.shape[0] = (int64_t)number();
    tg_array_print(maybe(sink), maybe(&array), maybe(&layout));
}

static void call_diff(void)
{
    struct tg_tolerance_rule rule = {.absolute = real(), .relative = real()};
    struct tg_diff_options options = {.rules = maybe(&rule), .n_rules = byte() % 2};
    struct tg_diff_info info;
    struct tg_diff_task task;
    struct tg_diff_pair pair;
    struct tg_diff_result result;
    struct tg_diff_edge edge;
    struct tg_diff_summary summary;
    struct tg_blame_info blamed;
    struct tg_suspect suspect;
    enum tg_verdict verdict;
    const char *reason;
    (void)tg_tolerance_rule_parse(text(), byte() % 2, maybe(&rule), &error);
    if (diff == NULL)
        (void)tg_diff_open(maybe(recording), maybe(recording), maybe(&options), maybe(&diff),
                           &error);
    if (blame == NULL && byte() % 2)
        (void)tg_blame_open(maybe(diff), maybe(&blame), &error);
    if (byte() % 8 == 0)
        (void)tg_diff_add_noise(maybe(diff), maybe(recording), &error);
    tg_diff_get_info(maybe(diff), maybe(&info));
    (void)tg_diff_get_task(maybe(diff), number(), maybe(&task));
    (void)tg_diff_get_pair(maybe(diff), number(), maybe(&pair));
    (void)tg_diff_compare(maybe(diff), number(), maybe(&result));
    (void)tg_diff_reason(maybe(diff), number(), maybe(&verdict));
    (void)tg_diff_compare_edges(maybe(diff), maybe(&reason), &error);
    (void)tg_diff_get_edge(maybe(diff), number(), maybe(&edge));
    tg_diff_summarize(maybe(diff), maybe(&summary));
    tg_blame_get_info(maybe(blame), maybe(&blamed));
    (void)tg_blame_get_suspect(maybe(blame), number(), maybe(&suspect));
}

static void call_find(void)
{
    struct tg_find_info info;
    struct tg_find_finding finding;
    struct tg_find_feed feed;
    struct tg_find_between between;
    if (find == NULL)
        (void)tg_find_open(maybe(recording), (enum tg_find_kind)(byte() % 10), NULL, NULL,
                           maybe(&find), &error);
    tg_find_get_info(maybe(find), maybe(&info));
    (void)tg_find_get_finding(maybe(find), number(), maybe(&finding));
    (void)tg_find_get_feed(maybe(find), number(), number(), maybe(&feed));
    (void)tg_find_get_between(maybe(find), number(), number(), maybe(&between));
}

static void call_scopes(void)
{
    struct tg_scope_stats_info info;
    struct tg_scope_row row = {0};
    struct tg_scope_need need;
    struct tg_scope_setting setting;
    struct tg_scope_sample sample = {0};
    if (stats == NULL)
        (void)tg_scope_stats_open(
            byte() % 4 ? TASKGLASS_TEST_SOURCE_DIR "/tests/golden/scope_stats_v6" : path(), NULL,
            NULL, maybe(&stats), &error);
    tg_scope_stats_get_info(maybe(stats), maybe(&info));
    (void)tg_scope_stats_site(maybe(stats), (uint32_t)number());
    (void)tg_scope_stats_capacity(maybe(stats), (unsigned)number(), (uint32_t)number());
    (void)tg_scope_stats_fanin(maybe(stats), (uint32_t)number());
    (void)tg_scope_stats_get_row(maybe(stats), (uint32_t)number(), maybe(&row));
    (void)tg_scope_stats_nearest(maybe(stats), maybe(&row));
    tg_scope_stats_get_need(maybe(stats), (unsigned)number(), (uint32_t)number(), maybe(&need));
    tg_scope_stats_get_setting(maybe(stats), (unsigned)number(), maybe(&setting));
    tg_scope_stats_get_memory(maybe(stats), maybe(&setting));
    (void)tg_scope_used(maybe(&sample), (unsigned)number());
}

/* Calls that would start a process, with nonsense that must keep them from it, or write files. */
static void call_rest(void)
{
    struct tg_export_config export = {text(), path(), query, number(), false, false, NULL, NULL};
    struct tg_export_result exported;
    struct tg_replay_config replay = {.module = path(), .repeat = byte() % 2};
    struct tg_replay_result replayed;
    struct tg_reference_config reference = {.module = path(), .limit = real()};
    struct tg_workload_file *file = NULL;
    struct tg_execute_config config = {
        .case_name = text(), .n_set = byte() % 2, .argc = byte() % 2};
    struct tg_execution *execution = NULL;
    struct tg_execution_info info;
    struct tg_output output;
    struct tg_npy_file *npy = NULL;
    char **list = NULL;
    uint32_t count = 0;
    (void)tg_recording_export(maybe(recording), maybe(&export), maybe(&exported), &error);
    (void)tg_replay_task(maybe(settings), NULL, number(), maybe(&replay), maybe(&replayed), &error);
    (void)tg_replay_bundle(NULL, number(), maybe(&replay), path(), &error);
    (void)tg_reference_run(maybe(recording), maybe(&reference), NULL, NULL, &error);
    (void)tg_reference_check(maybe(recording), path(), NULL, NULL, &error);
    if (tg_workload_open(maybe(settings), path(), maybe(&file), &error) == TG_OK)
        tg_workload_close(file);
    (void)tg_workload_get(NULL), tg_workload_path(NULL);
    if (tg_workload_names(maybe(settings), maybe(&list), maybe(&count), &error) == TG_OK)
        tg_workload_names_free(list, count);
    (void)tg_execute(maybe(settings), NULL, maybe(&config), maybe(&execution), &error);
    tg_execution_get(execution, maybe(&info));
    (void)tg_execution_output(execution, (uint32_t)number(), maybe(&output));
    if (tg_npy_open(path(), maybe(&npy), &error) == TG_OK)
        (void)tg_npy_value(tg_npy_get(npy, (uint32_t)number()), (int64_t)number());
    tg_npy_close(npy);
}

static void call_device(void)
{
    struct tg_device_config config = {.platform = text(), .cores = (uint32_t)number() | 1 << 20};
    struct tg_device_info info;
    struct tg_device *other = NULL;
    struct tg_module *loaded = NULL;
    uint64_t address = number(), word = 0;
    (void)tg_device_open(&config, maybe(&other), &error); /* too many cores */
    tg_device_close(other);
    tg_device_get_info(maybe(device), maybe(&info));
    if (tg_device_alloc(maybe(device), byte() % 4 ? byte() : number(), maybe(&address), &error) ==
            TG_OK &&
        byte() % 8)
        (void)tg_device_free(device, address, &error);
    (void)tg_device_free(maybe(device), number(), &error);
    (void)tg_device_copy_in(maybe(device), number(), maybe(&word), byte() % 9, &error);
    (void)tg_device_copy_out(maybe(device), maybe(&word), number(), byte() % 9, &error);
    (void)tg_device_map(maybe(device), number(), number());
    (void)tg_device_load(maybe(device), path(), maybe(&loaded), &error);
    (void)tg_module_kernel(maybe(module), text());
}

static void call_graph(void)
{
    struct tg_args args = any_args();
    uint32_t kernel[TG_PARTS] = {(uint32_t)number(), (uint32_t)number(), (uint32_t)number()};
    uint64_t task;
    if (graph == NULL)
        (void)tg_graph_create(maybe(module), maybe(&graph), &error);
    (void)tg_graph_reserve(maybe(graph), byte(), byte());
    for (int i = byte() % 4; i > 0; i--)
        add_good_task();
    (void)tg_graph_add(maybe(graph), kernel[0], maybe(&args), maybe(&task), &error);
    (void)tg_graph_add_mix(maybe(graph), maybe(kernel), maybe(&args), maybe(&task), &error);
    (void)tg_graph_add_edge(maybe(graph), number(), number(), &error);
    (void)tg_graph_tasks(maybe(graph)), tg_graph_edges(maybe(graph));
    (void)tg_graph_check(maybe(graph), &error);
    if (run == NULL && byte() % 4 == 0)
        tg_graph_clear(maybe(graph));
    if (run == NULL && byte() % 8 == 0)
        (void)tg_graph_reset(maybe(graph), &error);
    if (run == NULL && byte() % 4 == 0)
        (void)tg_graph_upload(maybe(graph), &error);
}

static void call_orchestrate(void)
{
    struct tg_rings rings = {.task_window = {(uint32_t)number()}, .tensormap = (uint32_t)number()};
    struct tg_args bad = any_args(), good = good_args();
    close_graph();
    bad.n_tensors = TG_MAX_TENSORS + 1; /* the orchestration itself must not see nonsense */
    (void)tg_graph_orchestrate(maybe(module), (enum tg_runtime_kind)number(), &bad, NULL, &graph,
                               &error);
    close_graph();
    (void)tg_graph_orchestrate(maybe(module), (enum tg_runtime_kind)(byte() % 4), maybe(&good),
                               byte() % 2 ? &rings : NULL, maybe(&graph), &error);
}

static void call_run(void)
{
    struct tg_args args = any_args();
    struct tg_record_config record = {.level = byte() % 8,
                                      .policy = byte() % 4,
                                      .filter = text(),
                                      .output_dir = path(),
                                      .arena = number(),
                                      .buffers = (uint32_t)number(),
                                      .wait_limit = real(),
                                      .orchestration = maybe(&args),
                                      .transport = byte() % 4};
    struct tg_run_config config = {.timeout = real(), .record = &record, .scope_stats = path()};
    struct tg_run_result result;
    uint64_t finished, total;
    if (byte() % 2)
        config = (struct tg_run_config){.timeout = 5};
    if (run == NULL)
        (void)tg_run_start(maybe(graph), maybe(&config), maybe(&run), &error);
    else if (byte() % 2)
        (void)tg_graph_run(graph, &config, maybe(&result), &error); /* BUSY, or after the run */
    tg_run_progress(maybe(run), maybe(&finished), maybe(&total));
    if (byte() % 4 == 0)
        tg_run_cancel(maybe(run));
    (void)tg_run_wait(maybe(run), byte() % 4 * 1e-4, &error);
    tg_run_get_result(maybe(run), maybe(&result));
}

static void call_close(void)
{
    switch (byte() % 6) {
    case 0:
        close_recording();
        break;
    case 1:
        close_diff();
        break;
    case 2:
        close_graph();
        break;
    case 3:
        tg_run_destroy(run);
        run = NULL;
        break;
    case 4:
        tg_query_destroy(query);
        query = NULL;
        break;
    default:
        tg_scope_stats_close(stats);
        stats = NULL;
    }
}

static void (*const calls[])(void) = {
    call_names,  call_tables,    call_values,    call_settings, call_json,  call_json,
    call_query,  call_recording, call_recording, call_entry,    call_diff,  call_find,
    call_scopes, call_rest,      call_device,    call_graph,    call_graph, call_orchestrate,
    call_run,    call_run,       call_close,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    at = data;
    state = size;
    end = data + size;
    make_scratch();
    open_device();
    tg_json_start_buffer(&json, json_buffer, sizeof json_buffer, -1, 0);
    for (int i = 0; i < MOST_CALLS; i++)
        calls[byte() % (sizeof calls / sizeof calls[0])]();
    close_all();
    return 0;
}
