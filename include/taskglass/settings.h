/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings: one table of name, type, default, help and environment name (`taskglass config`
 * prints it). A value set by tg_settings_set wins over the environment, and the environment over
 * the default. An empty environment variable counts as unset; in a setuid program all do.
 * tg_settings_create alone reads the variables of the table.
 *
 * A handle belongs to one thread at a time.
 */
#ifndef TASKGLASS_SETTINGS_H
#define TASKGLASS_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a setting's value is. */
enum tg_setting_type {
    TG_SETTING_TEXT,    /* any text */
    TG_SETTING_COUNT,   /* a whole number, 0 and up */
    TG_SETTING_BYTES,   /* a whole number with an optional K, M, G or T (powers of 1024) */
    TG_SETTING_SECONDS, /* a number of seconds, fractions allowed */
    TG_SETTING_FLAG,    /* on or off: 1, yes, true, on; 0, no, false, off */
    TG_SETTING_CHOICE,  /* one of the words of `choices` */
    TG_SETTING_LIST,    /* any text; setting it again appends a ';' and the new text */
    TG_SETTING_COUNTS,  /* one whole number for all four rings, or four with commas */
    TG_SETTING_SIZES    /* the same, each written as TG_SETTING_BYTES */
};

/* Where a setting's value came from. */
enum tg_setting_source { TG_FROM_DEFAULT, TG_FROM_ENVIRONMENT, TG_FROM_CALLER };

/* A setting, and the value in force. */
struct tg_setting_info {
    const char *name;        /* "device-memory": the option is --device-memory */
    const char *environment; /* "TASKGLASS_DEVICE_MEMORY" */
    const char *help;        /* one line */
    const char *fallback;    /* the default, as text */
    const char *choices;     /* a choice's words, "off meta hash"; else NULL */
    const char *alone;       /* the value if the option is given without one; NULL: it needs one */
    const char *value;       /* the current value as text; lives until it is set again */
    enum tg_setting_type type;
    enum tg_setting_source source;
    const char *group; /* what it is about: "device", "recording", "rings", "files" */
    const char
        *placeholder; /* a word for its value in a usage text: "NAME", "BYTES"; of a flag NULL */
};

struct tg_settings;

/* Creates the table with the defaults and the values of the environment. BAD_ARGUMENT: the
 * environment has an invalid value; the error names the variable. */
TG_API tg_status tg_settings_create(struct tg_settings **settings, struct tg_error *error);
TG_API void tg_settings_destroy(struct tg_settings *settings);

/* BAD_ARGUMENT: the value does not fit the type; NOT_FOUND: no such setting. Whether a number is in its
 * range is checked by tg_settings_check. */
TG_API tg_status tg_settings_set(struct tg_settings *settings, const char *name, const char *value,
                                 struct tg_error *error);

/* BAD_ARGUMENT: a number is outside the range that its help names; the error names the option, or the
 * variable of the environment, and the range. Runs check the settings that they are given. */
TG_API tg_status tg_settings_check(const struct tg_settings *settings, struct tg_error *error);

/* Setting `number` of the table; false past its end. */
TG_API bool tg_settings_get(const struct tg_settings *settings, uint32_t number,
                            struct tg_setting_info *info);

/* A value by name. Asking for an unknown name or for the wrong type is a programming error and gives
 * "", 0 or false; tg_settings_text works for every type. tg_settings_count is for counts and for
 * bytes. */
TG_API const char *tg_settings_text(const struct tg_settings *settings, const char *name);
TG_API uint64_t tg_settings_count(const struct tg_settings *settings, const char *name);
/* For TG_SETTING_COUNTS and TG_SETTING_SIZES: value `number`, 0 to 3; a single value is for all. */
TG_API uint64_t tg_settings_number(const struct tg_settings *settings, const char *name,
                                   uint32_t number);
TG_API double tg_settings_seconds(const struct tg_settings *settings, const char *name);
/* A choice: the number of its word among the choices, from 0. Those of dump-tensor, dump-policy and
 * dump-transport are enum tg_record_level, tg_record_policy and tg_transport. */
TG_API uint32_t tg_settings_choice(const struct tg_settings *settings, const char *name);
TG_API bool tg_settings_flag(const struct tg_settings *settings, const char *name);

#ifdef __cplusplus
}
#endif
#endif
