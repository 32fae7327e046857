/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <taskglass/device.h>
#include <taskglass/race.h>
#include <taskglass/run.h>
#include <taskglass/settings.h>

#include "base/error.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The words that a setting accepts, separated by spaces, in the order of their numbers from 0. */
#define WORD(constant, number, word, meaning) " " word
static const char levels[] = TG_LEVEL_MAP(WORD);
static const char policies[] = TG_POLICY_MAP(WORD);
static const char transports[] = TG_TRANSPORT_MAP(WORD);
static const char races[] = TG_RACES_MAP(WORD);
static const char sandboxes[] = TG_SANDBOX_MAP(WORD);
static const char orchestrators[] = TG_ORCHESTRATOR_MAP(WORD);
#define ORCHESTRATORS (orchestrators + 1)
#define LEVELS (levels + 1)
#define POLICIES (policies + 1)
#define TRANSPORTS (transports + 1)
#define RACES (races + 1)
#define SANDBOXES (sandboxes + 1)

/*
 * The settings. `taskglass config` shows them in this order. A number has its range, both ends included,
 * written as the setting itself; help and messages name it. Ranges are checked by tg_settings_check,
 * because what is set last counts.
 */
static const struct row {
    const char *group; /* what it is about; the help lists each group under a heading */
    const char *name;
    const char *environment;
    const char *placeholder; /* stands for the value in a usage text; NULL: that of its type */
    enum tg_setting_type type;
    const char *fallback;
    const char *help;
    const char *choices;
    const char *alone;
    const char *least, *most; /* NULL: no range */
    bool or_zero;             /* 0 stands for the default and is in no range */
} table[] = {
#define PLAIN(group, name, environment, type, placeholder, fallback, help)                    \
    {                                                                                         \
        group, name, environment, placeholder, TG_SETTING_##type, fallback, help, NULL, NULL, \
            NULL, NULL, false                                                                 \
    }
#define FLAG(group, name, environment, help) \
    PLAIN(group, name, environment, FLAG, NULL, "off", help)
#define CHOICE(group, name, environment, placeholder, fallback, choices, alone, help)             \
    {                                                                                             \
        group, name, environment, placeholder, TG_SETTING_CHOICE, fallback, help, choices, alone, \
            NULL, NULL, false                                                                     \
    }
#define NUMBER(group, name, environment, type, fallback, least, most, help)  \
    {                                                                        \
        group, name, environment, NULL, TG_SETTING_##type, fallback,         \
            help "; from " least " to " most, NULL, NULL, least, most, false \
    }
#define OR_ZERO(group, name, environment, type, fallback, least, most, help)     \
    {                                                                            \
        group, name, environment, NULL, TG_SETTING_##type, fallback,             \
            help ", else from " least " to " most, NULL, NULL, least, most, true \
    }
    PLAIN("device", "platform", "TASKGLASS_PLATFORM", TEXT, "NAME", "a2a3sim",
          "the kind of device to open; `taskglass list` shows those of this machine"),
    PLAIN("device", "runtime", "TASKGLASS_RUNTIME", TEXT, "NAME", "host_build_graph",
          "how the graph is built; `taskglass list` shows the runtimes"),
    NUMBER("device", "cores", "TASKGLASS_CORES", COUNT, "0", "0", "65535",
           "cores of the device, AIC and AIV together; 0: as many as there are CPUs (cuda: "
           "multiprocessors), in whole blocks; `taskglass list` shows how many a platform has"),
    NUMBER("device", "schedulers", "TASKGLASS_SCHEDULERS", COUNT, "0", "0", "255",
           "threads that only schedule; 0: the cores schedule tasks themselves; `taskglass list` "
           "shows how many a platform has"),
    NUMBER("device", "device-memory", "TASKGLASS_DEVICE_MEMORY", BYTES, "4G", "4M", "16T",
           "memory of the device; a simulator takes it when it is first used, cuda all of it at "
           "once"),
    NUMBER("device", "timeout", "TASKGLASS_TIMEOUT", SECONDS, "10", "0.001", "1000000000",
           "report a hang after this many seconds without a finished task"),
    NUMBER("device", "load-timeout", "TASKGLASS_LOAD_TIMEOUT", SECONDS, "120", "0.001",
           "1000000000", "seconds that the device may take to load a module"),
    NUMBER("device", "linger", "TASKGLASS_LINGER", SECONDS, "0.005", "0", "3600",
           "cuda: seconds that the GPU's kernel stays after a run, busy, so that a next one starts "
           "sooner; 0: it leaves at once"),
    PLAIN("device", "schedule", "TASKGLASS_SCHEDULE", TEXT, "POLICY", "",
          "the order in which ready tasks start: fifo, lifo, random:SEED, adversarial:SEED, or "
          "order:A-B[,C-D...], where A completes before B starts; with --cores 1 the same every "
          "time; empty: any order"),
    NUMBER("device", "ranks", "TASKGLASS_RANKS", COUNT, "0", "0", "4096",
           "processes that run the workload together, each with a device of its own; 0: as many as "
           "mpirun started, else one"),
    CHOICE("device", "comm", "TASKGLASS_COMM", "WAY", "auto", "auto local mpi", NULL,
           "what carries data between ranks: shared memory (local), MPI, or what suits who started "
           "the ranks"),
    CHOICE(
        "device", "orchestrator", "TASKGLASS_ORCHESTRATOR", "PLACE", "auto", ORCHESTRATORS, NULL,
        "if the graph is built while it runs: on cuda, run the orchestration on a CPU of the host "
        "or on the GPU; simulators have threads of the device alone"),
    PLAIN("files", "output", "TASKGLASS_OUTPUT", TEXT, "DIR", "",
          "directory for the files of a run; empty: a new one under outputs/"),
    FLAG("recording", "deps", "TASKGLASS_DEPS",
         "write deps.json: every task with the tasks it waited for"),
    CHOICE(
        "recording", "races", "TASKGLASS_RACES", "WHEN", "off", RACES, NULL,
        "look for tasks that use the same bytes in no order: warn reports them, error also fails, "
        "before the graph runs if the host built it, else after a run recorded at level meta"),
    FLAG("files", "shared", "TASKGLASS_SHARED",
         "let others enter the run's directory as the umask says; else only its owner may"),
    PLAIN("files", "live", "TASKGLASS_LIVE", FLAG, NULL, "on",
          "answer `taskglass top` while the run is under way, on a socket in its directory"),
    FLAG("recording", "poison", "TASKGLASS_POISON",
         "fill memory with a pattern when it is handed out, so that find unwritten can prove what "
         "no task wrote"),
    CHOICE("recording", "dump-tensor", "TASKGLASS_DUMP_TENSOR", "LEVEL", "off", LEVELS, "full",
           "record the arguments of every task; the level says how much of them"),
    FLAG("recording", "dump-args", "TASKGLASS_DUMP_ARGS",
         "record only metadata and scalars, as --dump-tensor=meta does"),
    PLAIN(
        "recording", "dump-filter", "TASKGLASS_DUMP_FILTER", LIST, "FILTER", "",
        "record only what matches conditions, joined by commas: task=A-B, kernel=NAME, "
        "stage=before|after, role=in+out, arg=N; repeat the option, or separate filters with ';'"),
    CHOICE("recording", "dump-policy", "TASKGLASS_DUMP_POLICY", "POLICY", "block", POLICIES, NULL,
           "if a core records faster than the disk writes: wait, drop records, or overwrite "
           "payloads"),
    NUMBER("recording", "dump-arena", "TASKGLASS_DUMP_ARENA", BYTES, "4M", "4K", "64G",
           "how much payload a core can be ahead of the disk; each core takes this much memory"),
    NUMBER("recording", "dump-buffers", "TASKGLASS_DUMP_BUFFERS", COUNT, "16", "2", "65536",
           "record buffers of each core, 64 records each"),
    NUMBER("recording", "dump-wait", "TASKGLASS_DUMP_WAIT", SECONDS, "5", "0.001", "1000000000",
           "with policy block: seconds that a core waits for the host before it drops records"),
    CHOICE("recording", "dump-transport", "TASKGLASS_DUMP_TRANSPORT", "WAY", "auto", TRANSPORTS,
           NULL, "how the host gets the recording: it reads it in place if it can, or copies it"),
    FLAG("rings", "enable-scope-stats", "TASKGLASS_ENABLE_SCOPE_STATS",
         "if the device builds the graph: write what every scope used of its ring and the tensor "
         "map"),
    NUMBER("rings", "ring-task-window", "TASKGLASS_RING_TASK_WINDOW", COUNTS, "16384", "4",
           "1048576",
           "if the device builds the graph: task slots of each ring, or of the four with commas"),
    OR_ZERO("rings", "ring-heap", "TASKGLASS_RING_HEAP", SIZES, "0", "256", "16T",
            "likewise: memory of each ring for tg_alloc; 0: 256M, or less on a small device"),
    NUMBER("rings", "ring-dep-pool", "TASKGLASS_RING_DEP_POOL", COUNTS, "16384", "4", "67108864",
           "likewise: dependencies of each ring that are not met yet"),
    NUMBER("rings", "tensormap", "TASKGLASS_TENSORMAP", COUNT, "65536", "4", "67108864",
           "with tensormap_and_ringbuffer: tensors that unfinished tasks can use at a time"),
    PLAIN("device", "device-program", "TASKGLASS_DEVICE_PROGRAM", TEXT, "FILE", "",
          "program to start as the simulated device; empty: the installed one"),
    CHOICE(
        "device", "sandbox", "TASKGLASS_SANDBOX", "WORD", "on", SANDBOXES, NULL,
        "take rights away from the processes that run kernels and references; off: for tools that "
        "they would hinder"),
    PLAIN("files", "workload-path", "TASKGLASS_WORKLOAD_PATH", TEXT, "FOLDERS", "",
          "more folders to search for workloads, separated by colons"),
};

enum { SETTINGS = sizeof table / sizeof table[0] };

/* A checked value, in the form that the function for its type returns. */
union parsed {
    uint64_t number;     /* count, bytes: the same as numbers[0] */
    uint64_t numbers[4]; /* counts, sizes */
    double seconds;
    bool flag;
};

struct tg_settings {
    struct slot {
        char *text; /* the settings own it; NULL: the default */
        union parsed parsed;
        enum tg_setting_source source;
    } slot[SETTINGS];
};

/* Accepts digits only; strtoull alone would accept a sign, white space and an empty text. Sets *end
 * to the first character after the digits. */
static bool parse_digits(const char *text, uint64_t *number, const char **end)
{
    size_t digits = strspn(text, "0123456789");
    *end = text + digits;
    errno = 0;
    *number = strtoull(text, NULL, 10);
    return digits > 0 && errno == 0;
}

/* Each parser returns NULL, or the reason why the value is wrong. */
static const char *parse_count(const char *text, union parsed *parsed)
{
    const char *end;
    bool good = parse_digits(text, &parsed->number, &end);
    if (end == text || *end)
        return "is not a whole number";
    if (!good || parsed->number > UINT32_MAX)
        return "is more than 4294967295";
    return NULL;
}

/* The power of 1024 that the letter stands for; 0 for no letter, -1 for an unknown one. */
static int unit_power(const char *unit)
{
    static const char units[] = "KMGT";
    const char *found;
    if (!*unit)
        return 0;
    found = strchr(units, *unit >= 'a' && *unit <= 'z' ? *unit - 'a' + 'A' : *unit);
    return found && !unit[1] ? (int)(found - units) + 1 : -1;
}

static const char *parse_bytes(const char *text, union parsed *parsed)
{
    const char *end;
    bool good = parse_digits(text, &parsed->number, &end);
    int power = unit_power(end);
    if (end == text || power < 0)
        return "is not a size: a whole number of bytes, or one with K, M, G or T";
    if (!good || parsed->number > UINT64_MAX >> (10 * power))
        return "is larger than 64 bits can count";
    parsed->number <<= 10 * power;
    return NULL;
}

/* One number for all four rings, or one for each. */
static const char *parse_four(const char *text, bool sizes, union parsed *parsed)
{
    const char *wrong = sizes
                            ? "is not a size (a whole number of bytes, or one with K, M, G or T), "
                              "or four with commas"
                            : "is not a whole number up to 4294967295, or four with commas";
    uint32_t n = 0;
    for (;; text++) {
        char one[32];
        size_t length = strcspn(text, ",");
        union parsed number;
        if (n == 4 || length >= sizeof one)
            return wrong;
        memcpy(one, text, length);
        one[length] = '\0';
        if (sizes ? parse_bytes(one, &number) : parse_count(one, &number))
            return wrong;
        parsed->numbers[n++] = number.number;
        text += length;
        if (!*text)
            break;
    }
    if (n != 1 && n != 4)
        return wrong;
    for (; n < 4; n++)
        parsed->numbers[n] = parsed->numbers[0];
    return NULL;
}

/* Accepts decimal digits with a point only; strtod alone would accept hexadecimal, "inf", and the
 * decimal comma of the program's locale. */
static bool parse_decimal(const char *text, double *value)
{
    double whole = 0, unit = 1;
    size_t digits = 0;
    for (; *text >= '0' && *text <= '9'; text++, digits++)
        whole = whole * 10 + (*text - '0');
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++, digits++) {
            whole = whole * 10 + (*text - '0');
            unit *= 10;
        }
    *value = whole / unit;
    return digits > 0 && !*text && isfinite(whole) && isfinite(unit);
}

static const char *parse_seconds(const struct row *row, const char *text, union parsed *parsed)
{
    if (!parse_decimal(text, &parsed->seconds))
        return "is not a number of seconds, such as 10 or 0.5";
    if (parsed->seconds <= 0 && strcmp(row->least, "0") != 0)
        return "must be more than 0 seconds";
    return NULL;
}

static const char *parse_flag(const char *text, union parsed *parsed)
{
    static const char *const words[] = {"0", "1", "no", "yes", "false", "true", "off", "on"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(text, words[i]) == 0) {
            parsed->flag = i % 2;
            return NULL;
        }
    return "is neither on (1, yes, true, on) nor off (0, no, false, off)";
}

/* Compares the text with each word of `choices`. */
static const char *parse_choice(const char *choices, const char *text)
{
    size_t length = strlen(text);
    for (const char *word = choices; *word; word += strspn(word, " ")) {
        size_t size = strcspn(word, " ");
        if (size == length && memcmp(word, text, size) == 0)
            return NULL;
        word += size;
    }
    return "is not one of";
}

static const char *parse(const struct row *row, const char *text, union parsed *parsed)
{
    switch (row->type) {
    case TG_SETTING_TEXT:
    case TG_SETTING_LIST:
        return NULL;
    case TG_SETTING_CHOICE:
        return parse_choice(row->choices, text);
    case TG_SETTING_COUNT:
        return parse_count(text, parsed);
    case TG_SETTING_BYTES:
        return parse_bytes(text, parsed);
    case TG_SETTING_SECONDS:
        return parse_seconds(row, text, parsed);
    case TG_SETTING_FLAG:
        return parse_flag(text, parsed);
    case TG_SETTING_COUNTS:
    case TG_SETTING_SIZES:
        return parse_four(text, row->type == TG_SETTING_SIZES, parsed);
    }
    return "is a value of an unknown type";
}

/* The number of the setting's row; SETTINGS if there is none. */
static size_t find(const char *name)
{
    size_t i = 0;
    while (i < SETTINGS && (!name || strcmp(table[i].name, name) != 0))
        i++;
    return i;
}

static const char *text_of(const struct tg_settings *settings, size_t i)
{
    return settings->slot[i].text ? settings->slot[i].text : table[i].fallback;
}

/* A copy of the value. If the caller has set this list before, the earlier value comes first. */
static char *with_earlier(const struct tg_settings *settings, size_t i, const char *value,
                          enum tg_setting_source source)
{
    const struct slot *slot = &settings->slot[i];
    char *text;
    if (table[i].type != TG_SETTING_LIST || source != TG_FROM_CALLER ||
        slot->source != TG_FROM_CALLER || !slot->text || !*slot->text)
        return strdup(value);
    size_t size = strlen(slot->text) + 1 + strlen(value) + 1;
    text = malloc(size);
    if (text)
        snprintf(text, size, "%s;%s", slot->text, value);
    return text;
}

/* True for what was meant as a number, such as "-1" or "1e3": its message also names the range. */
static bool looks_like_number(const char *text)
{
    return text[strspn(text, " +-.,0123456789eExX")] == '\0';
}

/* Leaves the slot unchanged on failure. */
static tg_status assign(struct tg_settings *settings, size_t i, const char *value,
                        enum tg_setting_source source, struct tg_error *error)
{
    bool by_caller = source == TG_FROM_CALLER;
    const char *prefix = by_caller ? "--" : "";
    const char *name = by_caller ? table[i].name : table[i].environment;
    struct slot slot = {.source = source};
    const char *wrong;

    if (!value)
        return tg_error_set(error, TG_BAD_ARGUMENT, "%s%s: no value given", prefix, name);
    wrong = parse(&table[i], value, &slot.parsed);
    if (wrong && table[i].least && looks_like_number(value))
        return tg_error_set(error, TG_BAD_ARGUMENT, "%s%s: '%s' %s; %sfrom %s to %s", prefix, name,
                            value, wrong, table[i].or_zero ? "0, or " : "", table[i].least,
                            table[i].most);
    if (wrong)
        return tg_error_set(error, TG_BAD_ARGUMENT, "%s%s: '%s' %s%s%s", prefix, name, value, wrong,
                            table[i].choices ? ": " : "", table[i].choices ? table[i].choices : "");
    slot.text = with_earlier(settings, i, value, source);
    if (!slot.text)
        return tg_error_set(error, TG_NO_MEMORY, "%s%s: out of memory", prefix, name);
    free(settings->slot[i].text);
    settings->slot[i] = slot;
    return TG_OK;
}

static tg_status take_environment(struct tg_settings *settings, struct tg_error *error)
{
    for (size_t i = 0; i < SETTINGS; i++) {
        /* Of a setuid program the environment is somebody else's: it must not choose what runs. */
        const char *value = secure_getenv(table[i].environment);
        tg_status status = TG_OK;
        if (value && *value) /* `NAME= command` means in a shell that NAME is not set */
            status = assign(settings, i, value, TG_FROM_ENVIRONMENT, error);
        if (status != TG_OK)
            return status;
    }
    return TG_OK;
}

tg_status tg_settings_create(struct tg_settings **settings, struct tg_error *error)
{
    TG_REFUSE_NULL(error, settings);
    struct tg_settings *made = calloc(1, sizeof *made);
    tg_status status;

    *settings = NULL;
    if (!made)
        return tg_error_set(error, TG_NO_MEMORY, "out of memory for the settings");
    for (size_t i = 0; i < SETTINGS; i++)
        (void)parse(&table[i], table[i].fallback, &made->slot[i].parsed);
    status = take_environment(made, error);
    if (status != TG_OK) {
        tg_settings_destroy(made);
        return status;
    }
    *settings = made;
    return TG_OK;
}

void tg_settings_destroy(struct tg_settings *settings)
{
    if (!settings)
        return;
    for (size_t i = 0; i < SETTINGS; i++)
        free(settings->slot[i].text);
    free(settings);
}

tg_status tg_settings_set(struct tg_settings *settings, const char *name, const char *value,
                          struct tg_error *error)
{
    TG_REFUSE_NULL(error, settings);
    size_t i = find(name);
    if (i == SETTINGS)
        return tg_error_set(error, TG_NOT_FOUND,
                            "--%s: no such setting; `taskglass config` lists the settings",
                            name ? name : "");
    return assign(settings, i, value, TG_FROM_CALLER, error);
}

/* --- ranges ----------------------------------------------------------------------------------- */

/* -1: below the range, 1: above, 0: within. */
static int compare_numbers(const struct row *row, const union parsed *value, unsigned n)
{
    union parsed least, most;
    (void)parse(row, row->least, &least);
    (void)parse(row, row->most, &most);
    for (unsigned i = 0; i < n; i++) {
        uint64_t number = value->numbers[i];
        if (row->or_zero && number == 0)
            continue;
        if (number < least.numbers[0] || number > most.numbers[0])
            return number < least.numbers[0] ? -1 : 1;
    }
    return 0;
}

static int compare_seconds(const struct row *row, const union parsed *value)
{
    union parsed least, most;
    (void)parse(row, row->least, &least);
    (void)parse(row, row->most, &most);
    return value->seconds < least.seconds ? -1 : value->seconds > most.seconds ? 1 : 0;
}

static int compare_with_range(const struct row *row, const union parsed *value)
{
    bool is_four = row->type == TG_SETTING_COUNTS || row->type == TG_SETTING_SIZES;
    if (!row->least)
        return 0;
    if (row->type == TG_SETTING_SECONDS)
        return compare_seconds(row, value);
    return compare_numbers(row, value, is_four ? 4 : 1);
}

tg_status tg_settings_check(const struct tg_settings *settings, struct tg_error *error)
{
    TG_REFUSE_NULL(error, settings);
    for (size_t i = 0; i < SETTINGS; i++) {
        const struct row *row = &table[i];
        const struct slot *slot = &settings->slot[i];
        int where = compare_with_range(row, &slot->parsed);
        bool by_caller = slot->source == TG_FROM_CALLER;
        if (where != 0)
            return tg_error_set(error, TG_BAD_ARGUMENT,
                                "%s%s %s: must be at %s %s (%sfrom %s to %s)",
                                by_caller ? "--" : "", by_caller ? row->name : row->environment,
                                text_of(settings, i), where < 0 ? "least" : "most",
                                where < 0 ? row->least : row->most, row->or_zero ? "0, or " : "",
                                row->least, row->most);
    }
    return TG_OK;
}

/* For a type whose values all look alike; NULL: a flag, or a type whose settings have words of their own. */
static const char *placeholder_of(enum tg_setting_type type)
{
    static const char *const words[] = {
        [TG_SETTING_COUNT] = "N",         [TG_SETTING_BYTES] = "BYTES",
        [TG_SETTING_SECONDS] = "SECONDS", [TG_SETTING_COUNTS] = "N[,N,N,N]",
        [TG_SETTING_SIZES] = "BYTES[,…]",
    };
    return type < sizeof words / sizeof words[0] ? words[type] : NULL;
}

bool tg_settings_get(const struct tg_settings *settings, uint32_t number,
                     struct tg_setting_info *info)
{
    if (settings == NULL || info == NULL)
        return false;
    if (number >= SETTINGS)
        return false;
    info->name = table[number].name;
    info->environment = table[number].environment;
    info->help = table[number].help;
    info->fallback = table[number].fallback;
    info->choices = table[number].choices;
    info->alone = table[number].type == TG_SETTING_FLAG ? "on" : table[number].alone;
    info->value = text_of(settings, number);
    info->type = table[number].type;
    info->source = settings->slot[number].source;
    info->group = table[number].group;
    info->placeholder =
        table[number].placeholder ? table[number].placeholder : placeholder_of(table[number].type);
    return true;
}

/* Returns zeros for a wrong name or a wrong type, which are programming errors. */
static const union parsed *parsed_of(const struct tg_settings *settings, const char *name,
                                     enum tg_setting_type type)
{
    static const union parsed nothing;
    size_t i = find(name);
    return i < SETTINGS && table[i].type == type ? &settings->slot[i].parsed : &nothing;
}

const char *tg_settings_text(const struct tg_settings *settings, const char *name)
{
    if (settings == NULL)
        return "";
    size_t i = find(name);
    return i < SETTINGS ? text_of(settings, i) : "";
}

uint64_t tg_settings_count(const struct tg_settings *settings, const char *name)
{
    if (settings == NULL)
        return 0;
    size_t i = find(name);
    bool is_bytes = i < SETTINGS && table[i].type == TG_SETTING_BYTES;
    return parsed_of(settings, name, is_bytes ? TG_SETTING_BYTES : TG_SETTING_COUNT)->number;
}

uint64_t tg_settings_number(const struct tg_settings *settings, const char *name, uint32_t number)
{
    if (settings == NULL)
        return 0;
    size_t i = find(name);
    bool sizes = i < SETTINGS && table[i].type == TG_SETTING_SIZES;
    const union parsed *parsed =
        parsed_of(settings, name, sizes ? TG_SETTING_SIZES : TG_SETTING_COUNTS);
    return number < 4 ? parsed->numbers[number] : 0;
}

double tg_settings_seconds(const struct tg_settings *settings, const char *name)
{
    if (settings == NULL)
        return 0;
    return parsed_of(settings, name, TG_SETTING_SECONDS)->seconds;
}

uint32_t tg_settings_choice(const struct tg_settings *settings, const char *name)
{
    if (settings == NULL)
        return 0;
    size_t i = find(name);
    uint32_t number = 0;
    if (i == SETTINGS || table[i].type != TG_SETTING_CHOICE)
        return 0;
    const char *value = text_of(settings, i);
    for (const char *word = table[i].choices; *word; number++, word += strspn(word, " ")) {
        size_t size = strcspn(word, " ");
        if (strlen(value) == size && memcmp(word, value, size) == 0)
            return number;
        word += size;
    }
    return 0;
}

bool tg_settings_flag(const struct tg_settings *settings, const char *name)
{
    if (settings == NULL)
        return false;
    return parsed_of(settings, name, TG_SETTING_FLAG)->flag;
}
