/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdlib.h>
#include <taskglass/settings.h>

#include "base/ring_limits.h"

static struct tg_settings *settings;
static struct tg_error error;

/* Creates settings from a clean environment with one variable (NULL: none). */
static tg_status create(const char *variable, const char *value)
{
    struct tg_setting_info info;
    tg_status status = tg_settings_create(&settings, &error);
    if (status == TG_OK)
        for (uint32_t i = 0; tg_settings_get(settings, i, &info); i++)
            unsetenv(info.environment);
    tg_settings_destroy(settings);
    if (variable)
        setenv(variable, value, 1);
    status = tg_settings_create(&settings, &error);
    if (variable)
        unsetenv(variable);
    return status;
}

static void destroy(void)
{
    tg_settings_destroy(settings);
    settings = NULL;
}

static tg_status set(const char *name, const char *value)
{
    return tg_settings_set(settings, name, value, &error);
}

TEST(defaults_are_in_force_when_nothing_is_set)
{
    REQUIRE(create(NULL, NULL) == TG_OK);
    CHECK_EQ_S(tg_settings_text(settings, "platform"), "a2a3sim");
    CHECK_EQ_S(tg_settings_text(settings, "runtime"), "host_build_graph");
    CHECK_EQ_U(tg_settings_count(settings, "cores"), 0);
    CHECK_EQ_U(tg_settings_count(settings, "schedulers"), 0);
    CHECK_EQ_U(tg_settings_count(settings, "device-memory"), (uint64_t)4 << 30);
    CHECK_NEAR(tg_settings_seconds(settings, "timeout"), 10, 0);
    CHECK_EQ_S(tg_settings_text(settings, "output"), "");
    CHECK(!tg_settings_flag(settings, "deps"));
    CHECK_EQ_S(tg_settings_text(settings, "device-program"), "");
    CHECK_EQ_S(tg_settings_text(settings, "workload-path"), "");
    destroy();
}

TEST(every_default_is_a_value_its_own_setting_accepts)
{
    struct tg_setting_info info;
    REQUIRE(create(NULL, NULL) == TG_OK);
    for (uint32_t i = 0; tg_settings_get(settings, i, &info); i++)
        CHECK_EQ_I(set(info.name, info.fallback), TG_OK);
    destroy();
}

/* "device-memory" is TASKGLASS_DEVICE_MEMORY. */
static bool is_variable_of(const char *environment, const char *name)
{
    static const char prefix[] = "TASKGLASS_";
    if (strncmp(environment, prefix, strlen(prefix)) != 0)
        return false;
    environment += strlen(prefix);
    for (; *name; name++, environment++)
        if (*environment != (*name == '-' ? '_' : *name - 'a' + 'A'))
            return false;
    return !*environment;
}

TEST(every_variable_is_named_after_its_setting)
{
    struct tg_setting_info info;
    uint32_t n = 0;
    REQUIRE(create(NULL, NULL) == TG_OK);
    for (; tg_settings_get(settings, n, &info); n++) {
        CHECK(is_variable_of(info.environment, info.name));
        CHECK(info.help[0] != '\0');
        CHECK_EQ_S(info.value, info.fallback);
        CHECK_EQ_I(info.source, TG_FROM_DEFAULT);
    }
    CHECK(n >= 10);
    CHECK(!tg_settings_get(settings, UINT32_MAX, &info));
    destroy();
}

/* Where the value of "cores" came from. */
static enum tg_setting_source source_of_cores(void)
{
    struct tg_setting_info info;
    for (uint32_t i = 0; tg_settings_get(settings, i, &info); i++)
        if (strcmp(info.name, "cores") == 0)
            return info.source;
    return TG_FROM_DEFAULT;
}

TEST(the_environment_wins_over_the_default)
{
    REQUIRE(create("TASKGLASS_CORES", "6") == TG_OK);
    CHECK_EQ_U(tg_settings_count(settings, "cores"), 6);
    CHECK_EQ_I(source_of_cores(), TG_FROM_ENVIRONMENT);
    destroy();
}

TEST(the_caller_wins_over_the_environment)
{
    REQUIRE(create("TASKGLASS_CORES", "6") == TG_OK);
    CHECK_EQ_I(set("cores", "9"), TG_OK);
    CHECK_EQ_U(tg_settings_count(settings, "cores"), 9);
    CHECK_EQ_S(tg_settings_text(settings, "cores"), "9");
    CHECK_EQ_I(source_of_cores(), TG_FROM_CALLER);
    destroy();
}

TEST(an_empty_variable_counts_as_unset)
{
    REQUIRE(create("TASKGLASS_CORES", "") == TG_OK);
    CHECK_EQ_U(tg_settings_count(settings, "cores"), 0);
    CHECK_EQ_I(source_of_cores(), TG_FROM_DEFAULT);
    destroy();
}

TEST(an_error_in_the_environment_names_the_variable)
{
    CHECK_EQ_I(create("TASKGLASS_TIMEOUT", "soon"), TG_BAD_ARGUMENT);
    CHECK(settings == NULL);
    CHECK_EQ_S(error.text,
               "TASKGLASS_TIMEOUT: 'soon' is not a number of seconds, such as 10 or 0.5");
}

TEST(an_error_of_the_caller_names_the_option)
{
    REQUIRE(create(NULL, NULL) == TG_OK);
    CHECK_EQ_I(set("cores", "many"), TG_BAD_ARGUMENT);
    CHECK_EQ_S(error.text, "--cores: 'many' is not a whole number");
    destroy();
}

TEST(an_unknown_setting_is_not_found)
{
    REQUIRE(create(NULL, NULL) == TG_OK);
    CHECK_EQ_I(set("coers", "4"), TG_NOT_FOUND);
    CHECK_HAS(error.text, "--coers");
    CHECK_EQ_I(set(NULL, "4"), TG_NOT_FOUND);
    CHECK_EQ_I(set("cores", NULL), TG_BAD_ARGUMENT);
    destroy();
}

TEST(a_bad_value_leaves_the_old_one_in_force)
{
    REQUIRE(create(NULL, NULL) == TG_OK);
    CHECK_EQ_I(set("cores", "9"), TG_OK);
    CHECK_EQ_I(set("cores", "-1"), TG_BAD_ARGUMENT);
    CHECK_EQ_U(tg_settings_count(settings, "cores"), 9);
    CHECK_EQ_S(tg_settings_text(settings, "cores"), "9");
    destroy();
}

TEST(a_setting_can_be_set_to_its_own_text)
{
    REQUIRE(create(NULL, NULL) == TG_OK);
    CHECK_EQ_I(set("output", "here"), TG_OK);
    CHECK_EQ_I(set("output", tg_settings_text(settings, "output")), TG_OK);
    CHECK_EQ_S(tg_settings_text(settings, "output"), "here");
    destroy();
}

static void check_refused(const char *name, const char *const *values, size_t n)
{
    REQUIRE(create(NULL, NULL) == TG_OK);
    for (size_t i = 0; i < n; i++) {
        if (!CHECK_EQ_I(set(name, values[i]), TG_BAD_ARGUMENT))
            fprintf(stderr, "  --%s '%s'\n", name, values[i]);
        CHECK_HAS(error.text, values[i]);
        CHECK(strchr(error.text, '\n') == NULL);
    }
    destroy();
}
#define CHECK_REFUSED(name, ...)                            \
    check_refused(name, (const char *const[]){__VA_ARGS__}, \
                  sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

TEST(a_count_is_a_whole_number_of_32_bits)
{
    REQUIRE(create(NULL, NULL) == TG_OK);
    CHECK_EQ_I(set("cores", "4294967295"), TG_OK);
    CHECK_EQ_U(tg_settings_count(settings, "cores"), UINT32_MAX);
    CHECK_EQ_I(set("cores", "007"), TG_OK);
    CHECK_EQ_U(tg_settings_count(settings, "cores"), 7);
    destroy();
    CHECK_REFUSED("cores", "", " 4", "4 ", "-1", "+1", "1.5", "0x10", "4K", "4294967296",
                  "18446744073709551616", "99999999999999999999999");
}

static void check_bytes(const char *text, uint64_t bytes)
{
    CHECK_EQ_I(set("device-memory", text), TG_OK);
    CHECK_EQ_U(tg_settings_count(settings, "device-memory"), bytes);
}

TEST(bytes_have_an_optional_unit)
{
    REQUIRE(create(NULL, NULL) == TG_OK);
    check_bytes("1000", 1000);
    check_bytes("3K", 3 << 10);
    check_bytes("3m", 3 << 20);
    check_bytes("3G", (uint64_t)3 << 30);
    check_bytes("3t", (uint64_t)3 << 40);
    check_bytes("18446744073709551615", UINT64_MAX);
    check_bytes("16777215T", (uint64_t)16777215 << 40);
    destroy();
}

TEST(bytes_that_make_no_sense_are_refused)
{
    CHECK_REFUSED("device-memory", "", "K", "4P", "4KB", "4 G", "-4G", "1.5G",
                  "18446744073709551616", "16777216T", "18014398509481984K");
}

TEST(seconds_may_have_a_fraction)
{
    static const struct {
        const char *text;
        double seconds;
    } good[] = {{"1", 1}, {"0.5", 0.5}, {".25", 0.25}, {"3.", 3}, {"0.1", 0.1}, {"86400", 86400}};
    REQUIRE(create(NULL, NULL) == TG_OK);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        CHECK_EQ_I(set("timeout", good[i].text), TG_OK);
        CHECK_NEAR(tg_settings_seconds(settings, "timeout"), good[i].seconds, 0);
    }
    destroy();
}

TEST(seconds_that_make_no_sense_are_refused)
{
    CHECK_REFUSED("timeout", "", ".", "0", "0.0", "-1", "+1", "inf", "nan", "1e3", "0x1p3", "1,5",
                  "5s", " 5");
}

TEST(seconds_beyond_a_double_are_refused)
{
    char digits[401];
    REQUIRE(create(NULL, NULL) == TG_OK);
    memset(digits, '9', 400);
    digits[400] = '\0';
    CHECK_EQ_I(set("timeout", digits), TG_BAD_ARGUMENT);
    destroy();
}

TEST(a_flag_is_on_or_off)
{
    const char *on[] = {"1", "yes", "true", "on"}, *off[] = {"0", "no", "false", "off"};
    REQUIRE(create(NULL, NULL) == TG_OK);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ_I(set("deps", on[i]), TG_OK);
        CHECK(tg_settings_flag(settings, "deps"));
        CHECK_EQ_I(set("deps", off[i]), TG_OK);
        CHECK(!tg_settings_flag(settings, "deps"));
    }
    destroy();
    CHECK_REFUSED("deps", "", "2", "maybe", "ON", "true ");
}

TEST(asking_for_what_is_not_there_gives_nothing)
{
    REQUIRE(create(NULL, NULL) == TG_OK);
    CHECK_EQ_S(tg_settings_text(settings, "nonsense"), "");
    CHECK_EQ_U(tg_settings_count(settings, "nonsense"), 0);
    CHECK_EQ_U(tg_settings_count(settings, "timeout"), 0);
    CHECK_NEAR(tg_settings_seconds(settings, "cores"), 0, 0);
    CHECK(!tg_settings_flag(settings, "platform"));
    destroy();
}

/* --- ranges ------------------------------------------------------------------------------------- */

static tg_status check_of(const char *name, const char *value)
{
    tg_status status = create(NULL, NULL);
    if (status == TG_OK)
        status = set(name, value);
    if (status == TG_OK)
        status = tg_settings_check(settings, &error);
    destroy();
    return status;
}

/* The ends of the range are accepted, and the numbers beside it are not. */
static void check_range(const char *name, uint64_t least, uint64_t most)
{
    const struct {
        uint64_t number;
        tg_status status;
    } tried[] = {{least, TG_OK},
                 {most, TG_OK},
                 {most + 1, TG_BAD_ARGUMENT},
                 {least > 0 ? least - 1 : most + 1, TG_BAD_ARGUMENT}};
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
        char text[32];
        snprintf(text, sizeof text, "%llu", (unsigned long long)tried[i].number);
        if (!CHECK_EQ_I(check_of(name, text), tried[i].status))
            fprintf(stderr, "  --%s %s\n", name, text);
    }
}

TEST(ranges_are_those_of_the_rings_and_of_the_device)
{
    check_range("ring-task-window", TG_LEAST_ENTRIES, TG_MOST_SLOTS);
    check_range("ring-dep-pool", TG_LEAST_ENTRIES, TG_MOST_DEPS);
    check_range("tensormap", TG_LEAST_ENTRIES, TG_MOST_MAP);
    check_range("ring-heap", TG_LEAST_HEAP, TG_MOST_HEAP);
    check_range("device-memory", 4 << 20, TG_MOST_MEMORY);
}

TEST(a_number_outside_its_range_is_named_with_the_range)
{
    CHECK_EQ_I(check_of("dump-wait", "99999999999"), TG_BAD_ARGUMENT);
    CHECK_EQ_S(error.text, "--dump-wait 99999999999: must be at most 1000000000 "
                           "(from 0.001 to 1000000000)");
    CHECK_EQ_I(check_of("ring-heap", "1K,255,1K,1K"), TG_BAD_ARGUMENT);
    CHECK_EQ_S(error.text,
               "--ring-heap 1K,255,1K,1K: must be at least 256 (0, or from 256 to 16T)");
    CHECK_EQ_I(check_of("ring-heap", "0"), TG_OK);
    REQUIRE(create("TASKGLASS_DUMP_BUFFERS", "1") == TG_OK);
    CHECK_EQ_I(tg_settings_check(settings, &error), TG_BAD_ARGUMENT);
    CHECK_HAS(error.text, "TASKGLASS_DUMP_BUFFERS 1: must be at least 2");
    CHECK_EQ_I(set("dump-buffers", "2"), TG_OK);
    CHECK_EQ_I(tg_settings_check(settings, &error), TG_OK);
    destroy();
}

TEST(the_defaults_are_in_their_ranges_and_the_help_names_these)
{
    struct tg_setting_info info;
    REQUIRE(create(NULL, NULL) == TG_OK);
    CHECK_EQ_I(tg_settings_check(settings, &error), TG_OK);
    for (uint32_t i = 0; tg_settings_get(settings, i, &info); i++) {
        bool is_number = info.type == TG_SETTING_COUNT || info.type == TG_SETTING_BYTES ||
                         info.type == TG_SETTING_SECONDS || info.type == TG_SETTING_COUNTS ||
                         info.type == TG_SETTING_SIZES;
        if (is_number)
            CHECK_HAS(info.help, "from ");
    }
    destroy();
}

TEST(control_characters_in_a_value_do_not_reach_the_message)
{
    REQUIRE(create(NULL, NULL) == TG_OK);
    CHECK_EQ_I(set("cores", "1\n2"), TG_BAD_ARGUMENT);
    CHECK_EQ_S(error.text, "--cores: '1 2' is not a whole number");
    destroy();
}

TEST_MAIN()
