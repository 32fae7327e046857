/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass top: follows a run from another terminal. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/json.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/print.h"
#include "cli/term.h"
#include "cli/top.h"

#define LEAST_INTERVAL 0.05
#define MOST_INTERVAL 3600.0
/* A run that has only begun does not answer for some milliseconds, and longer on a busy machine. */
#define BEGIN_SECONDS 1.0
enum { BEGIN_LOOK_MS = 20 };

struct request {
    const char *dir;
    struct cli_count rank;
    double interval;
    struct cli_count count;
    bool once, json;
};

static int take_interval(void *request, const struct cli_option *option, const char *value)
{
    struct request *r = request;
    char *end;
    double seconds = strtod(value, &end);
    if (end == value || *end || value[strspn(value, "0123456789.")] ||
        !(seconds >= LEAST_INTERVAL && seconds <= MOST_INTERVAL))
        return cli_error("--%s %s: must be a number of seconds from %g to %g", option->name, value,
                         LEAST_INTERVAL, MOST_INTERVAL);
    r->interval = seconds;
    return CLI_OK;
}

static const struct cli_option options[] = {
    CLI_CALL("interval", "SECONDS", take_interval, "ask this often", .range = "from 0.05 to 3600",
             .fallback = "1"),
    CLI_COUNT(struct request, count, "count", "N", "end after N answers; 0: when the run ends",
              .fallback = "0"),
    CLI_FLAG(struct request, once, "once",
             "show what the run does now, and end, as --count 1 does"),
    CLI_RANK(struct request, rank),
    CLI_JSON(struct request, json, "print each answer as one line, for programs"),
};

/* ── the terminal ──────────────────────────────────────────────────────────────────────── */

struct screen {
    bool in_place; /* draw each page over the last */
    int drawn;     /* lines of the last page */
    bool has_keys; /* keys are read one by one, and not shown */
    struct termios before;
};

static void screen_begin(struct screen *screen, const struct request *r)
{
    const char *term = getenv("TERM");
    struct termios raw;
    *screen = (struct screen){0};
    screen->in_place =
        !r->json && !r->once && isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
    if (!screen->in_place || !isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) != getpgrp() ||
        tcgetattr(STDIN_FILENO, &screen->before) != 0)
        return;
    raw = screen->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    screen->has_keys = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

static void screen_end(struct screen *screen)
{
    if (screen->has_keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &screen->before);
}

/* Goes back to the begin of the last page and erases it. */
static void screen_erase(struct screen *screen)
{
    if (screen->in_place && screen->drawn > 0)
        printf("\033[%dA\r\033[J", screen->drawn);
    screen->drawn = 0;
}

/* Waits for that time; true if the user wants to end: q, or Ctrl-C. */
static bool wait_for_end(const struct screen *screen, double seconds)
{
    struct pollfd keys = {screen->has_keys ? STDIN_FILENO : -1, POLLIN, 0};
    char key;
    if (cli_interrupt_caught())
        return true;
    if (poll(&keys, 1, (int)ceil(seconds * 1e3)) <= 0)
        return cli_interrupt_caught() != 0;
    return read(STDIN_FILENO, &key, 1) == 1 && (key == 'q' || key == 'Q' || key == 4);
}

/* ── the end of the run ────────────────────────────────────────────────────────────────── */

static bool has_socket(const char *dir)
{
    struct stat info;
    char *path;
    if (asprintf(&path, "%s/" TG_LIVE_SOCKET, dir) < 0)
        return false;
    bool has = lstat(path, &info) == 0;
    free(path);
    return has;
}

/* NULL: how the run ended, or what it does, is not known for that reason. */
static void print_end_json(const struct tg_live_end *end, const char *reason)
{
    struct tg_json json;
    tg_json_start(&json, stdout);
    tg_json_begin_line_object(&json);
    tg_json_put_uint(&json, "version", TG_LIVE_VERSION);
    tg_json_put_string(&json, "phase", end ? "ended" : NULL);
    tg_json_put_string(&json, "result", end ? end->result : "not known");
    if (end) {
        tg_json_put_uint(&json, "exit_code", (uint64_t)end->exit_code);
        tg_json_put_string(&json, "error", end->error[0] ? end->error : NULL);
        tg_json_key(&json, "tasks");
        tg_json_begin_object(&json);
        tg_json_put_uint(&json, "total", end->tasks);
        tg_json_put_uint(&json, "finished", end->finished);
        tg_json_end_object(&json);
        tg_json_put_real(&json, "elapsed", end->seconds);
    } else {
        tg_json_put_string(&json, "reason", reason);
    }
    tg_json_end_object(&json);
    (void)tg_json_finish(&json);
}

static void print_end(const char *dir, const struct tg_live_end *end)
{
    struct cli_text time;
    struct cli_shown shown;
    cli_print("the run in %s has ended: %s, %" PRIu64 " of %" PRIu64 " tasks, %s\n",
              cli_show(&shown, dir), end->result, end->finished, end->tasks,
              cli_format_seconds(&time, end->seconds));
    if (end->error[0])
        cli_print("  %s\n", end->error);
}

/* One line on stderr, and with --json also a document. Returns the exit code. */
static int fail(const struct request *r, const struct tg_error *error)
{
    if (r->json)
        print_end_json(NULL, error->text);
    return cli_fail(error);
}

__attribute__((format(printf, 2, 3))) static int not_known(const struct request *r,
                                                           const char *format, ...)
{
    char text[8800]; /* two paths, as long as they are shown */
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (r->json)
        print_end_json(NULL, text);
    return cli_error("%s", text);
}

/* The run does not answer any more, or never did. Returns the exit code: that the run failed is its own
 * exit code's business, and top has shown it. */
static int say_end(const struct request *r, const char *dir)
{
    struct tg_live_end end;
    struct tg_error error;
    struct cli_shown shown;
    tg_status status = tg_live_get_end(dir, &end, &error);
    if (status == TG_OK && r->json)
        print_end_json(&end, NULL);
    else if (status == TG_OK)
        print_end(dir, &end);
    if (status == TG_OK)
        return CLI_OK;
    if (status != TG_NOT_FOUND)
        return fail(r, &error);
    cli_show(&shown, dir);
    return has_socket(dir)
               ? not_known(r,
                           "the run in '%s' was killed; 'taskglass recover %s' completes its "
                           "recording, if it has one",
                           shown.text, cli_show_word(&(struct cli_shown){0}, dir))
               : not_known(r,
                           "no run answers in '%s', and it has no run.json that says how one "
                           "ended",
                           shown.text);
}

/* ── following ─────────────────────────────────────────────────────────────────────────── */

/* Waits a moment for the directory of a run that was started at the same time. */
static bool await_directory(const char *path)
{
    struct stat info;
    for (double waited = 0; waited < BEGIN_SECONDS; waited += BEGIN_LOOK_MS * 1e-3) {
        if (stat(path, &info) == 0)
            return S_ISDIR(info.st_mode);
        poll(NULL, 0, BEGIN_LOOK_MS);
    }
    return false;
}

/* Connects, and waits a moment for a run that has only begun. A socket at which nobody answers is that of a
 * killed run; but the first look at it may come between a connect that was too early and its making. */
static tg_status connect_to(const char *dir, struct tg_live **live, struct tg_error *error)
{
    struct tg_live_end end;
    bool had_socket = false;
    for (double waited = 0;; waited += BEGIN_LOOK_MS * 1e-3) {
        tg_status status = tg_live_open(dir, live, error);
        if (status != TG_NOT_FOUND || had_socket || waited >= BEGIN_SECONDS ||
            cli_interrupt_caught() || tg_live_get_end(dir, &end, NULL) != TG_NOT_FOUND)
            return status;
        had_socket = has_socket(dir);
        poll(NULL, 0, BEGIN_LOOK_MS);
    }
}

static void show(struct screen *screen, struct cli_top_past *past,
                 const struct tg_live_status *status, bool is_first)
{
    int height = screen->in_place ? cli_term_height() - 1 : 0;
    cli_top_note(past, status);
    screen_erase(screen);
    if (!screen->in_place && !is_first)
        putchar('\n');
    screen->drawn = cli_top_print(past, status, height > 0 ? height : 0);
    fflush(stdout);
}

static tg_status ask(const struct request *r, struct screen *screen, struct tg_live *live,
                     struct cli_top_past *past, bool is_first, struct tg_error *error)
{
    struct tg_live_status answer;
    const char *line;
    if (r->json) {
        tg_status status = tg_live_ask(live, TG_LIVE_ALL, &line, error);
        if (status == TG_OK) {
            puts(line);
            fflush(stdout);
        }
        return status;
    }
    tg_status status = tg_live_look(live, TG_LIVE_ALL, &answer, error);
    if (status == TG_OK)
        show(screen, past, &answer, is_first);
    return status;
}

/* Below the last page, which stays. */
static void say_late(struct screen *screen, const struct tg_error *error)
{
    FILE *stream = screen->in_place ? stdout : stderr;
    fprintf(stream, "taskglass: %s\n", error->text);
    fflush(stream);
    screen->drawn += screen->in_place;
}

/* Until the run ends, the user wants no more, or enough answers have come. */
static int follow(const struct request *r, struct screen *screen, const char *dir)
{
    struct tg_live *live = NULL;
    struct tg_error error = {TG_OK, ""};
    struct cli_top_past *past = calloc(1, sizeof *past);
    tg_status status = past ? connect_to(dir, &live, &error) : TG_NO_MEMORY;
    uint64_t most = r->once ? 1 : r->count.number, answers = 0;
    bool wants_end = false;
    while (status == TG_OK && !wants_end) {
        status = ask(r, screen, live, past, answers == 0, &error);
        answers += status == TG_OK;
        if (status == TG_TIMED_OUT && most == 1) { /* who asks once does not wait for it to go on */
            status = error.status = TG_IO_ERROR;
        } else if (status == TG_TIMED_OUT || status == TG_BUSY) { /* it is stopped; it may go on */
            say_late(screen, &error);
            tg_live_close(live);
            live = NULL;
            status = tg_live_open(dir, &live, &error);
        }
        wants_end =
            (most > 0 && answers >= most) || (status == TG_OK && wait_for_end(screen, r->interval));
    }
    tg_live_close(live);
    free(past);
    screen_end(screen);
    cli_interrupt_pass_on();
    if (wants_end && status == TG_OK)
        return CLI_OK;
    return status == TG_NOT_FOUND ? say_end(r, dir) : fail(r, &error);
}

static int top(struct cli *cli, void *request)
{
    struct request *r = request;
    struct tg_error error;
    struct screen screen;
    struct cli_shown shown;
    char *dir;
    (void)cli;
    if (r->once && r->count.given && r->count.number != 1)
        return cli_error("--once and --count contradict each other; leave one out");
    if (r->interval <= 0)
        r->interval = 1;
    if (cli_top_find(r->dir, &dir, &error) != TG_OK)
        return fail(r, &error);
    if (!await_directory(dir)) {
        int code = not_known(r, "there is no directory '%s'", cli_show(&shown, dir));
        free(dir);
        return code;
    }
    cli_interrupt_catch();
    screen_begin(&screen, r);
    int code = follow(r, &screen, dir);
    free(dir);
    return code;
}

/* A page that is drawn again and again has room for one rank. */
static const char *refuse(const void *request)
{
    const struct request *r = request;
    return r->once ? NULL : "top follows one rank; --once shows all of them";
}

static const struct cli_example examples[] = {
    {"", "Follow the newest run under outputs/ until it ends; q ends the command."},
    {"outputs/RUN --once", "Show what a run does now."},
    {"--json --interval 5", "Print an answer every five seconds, for programs."},
    {0},
};

static const struct cli_ranks_way ranks_way = {
    .rank = offsetof(struct request, rank),
    .newest = cli_top_newest,
    .refuse = refuse,
};

const struct cli_verb cli_verb_top = {
    .name = "top",
    .rank = 25,
    .section = CLI_LOOK,
    .usage = "[DIR] [--once] [--json]",
    .summary = "Follow a run that goes on: tasks, rates, cores, rings, time left.",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .request_size = sizeof(struct request),
    .operand = cli_take_one,
    .noun = "directory",
    .member = offsetof(struct request, dir),
    .expects = CLI_RUN,
    .run = top,
    .ranks = &ranks_way,
    .examples = examples,
};
