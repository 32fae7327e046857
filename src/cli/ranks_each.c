/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets each rank answer in a process of its own. A verb keeps its state in its request and in a few
 * variables of its files, and one that replays has threads and handlers of signals; a process is the
 * cheapest way to begin with all of that anew.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <taskglass/ranks_answers.h>
#include <unistd.h>

#include "cli/print.h"
#include "cli/ranks.h"
#include "cli/term.h"

enum { SIGNALLED = 128, INDENT = 4 };

/* ── documents within a document ───────────────────────────────────────────────────────── */

/* Copies one JSON document to standard output as an element of the list: a member "rank" comes first, and
 * lines are indented. No line end is within a string of JSON, so every one may be followed by spaces. */
struct copier {
    uint32_t rank;
    enum { BEGIN, OPENED, INSIDE } state;
    unsigned lines; /* line ends that are held back, because those at the document's end go */
};

static void put_rank(const struct copier *copier)
{
    printf("{\n%*s\"rank\": %u", INDENT + 2, "", copier->rank);
}

static void put_byte(struct copier *copier, char byte)
{
    bool is_space = byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
    if (copier->state != INSIDE && is_space)
        return;
    if (copier->state == BEGIN) {
        put_rank(copier);
        copier->state = byte == '{' ? OPENED : INSIDE;
        if (byte != '{')
            printf(",\n%*s\"answer\": %c", INDENT + 2, "", byte);
        return;
    }
    if (copier->state == OPENED) {
        printf(byte == '}' ? "\n%*s" : ",\n%*s", byte == '}' ? INDENT : INDENT + 2, "");
        copier->state = INSIDE;
    }
    if (byte == '\n') {
        copier->lines++;
        return;
    }
    for (; copier->lines > 0; copier->lines--)
        printf("\n%*s", INDENT, "");
    putchar(byte);
}

static void put_reason(const struct copier *copier, const char *reason)
{
    struct tg_json json;
    put_rank(copier);
    printf(",\n%*s\"result\": \"not known\",\n%*s\"reason\": ", INDENT + 2, "", INDENT + 2, "");
    tg_json_start(&json, stdout);
    tg_json_string(&json, reason);
    (void)tg_json_finish(&json);
    printf("%*s}", INDENT, "");
}

static void copy_document(int from, struct copier *copier)
{
    char bytes[65536];
    ssize_t n;
    while ((n = read(from, bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR))
        for (ssize_t i = 0; i < n; i++)
            put_byte(copier, bytes[i]);
    if (copier->state == BEGIN)
        put_reason(copier, "the command printed no answer for this rank");
}

void cli_ranks_json_begin(void)
{
    fputs("{\n  \"ranks\": [", stdout);
}

void cli_ranks_json_end(const char *key, const char *text)
{
    fputs("\n  ]", stdout);
    if (key) {
        size_t length = strlen(text);
        while (length > 0 && text[length - 1] == '\n')
            length--;
        printf(",\n  \"%s\": ", key);
        for (size_t i = 0; i < length; i++) {
            putchar(text[i]);
            if (text[i] == '\n')
                fputs("  ", stdout);
        }
    }
    fputs("\n}\n", stdout);
}

/* ── processes ─────────────────────────────────────────────────────────────────────────── */

/* In the process of a rank. It ends with its parent, whoever ends that. */
static bool begin_child(const struct tg_ranks_rank *rank, int out, pid_t parent)
{
    char subject[32];
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(SIGNALLED + SIGTERM);
    snprintf(subject, sizeof subject, "rank %u: ", rank->rank);
    cli_error_set_subject(subject);
    if (out < 0)
        return true;
    bool is_good = dup2(out, STDOUT_FILENO) >= 0;
    close(out);
    return is_good;
}

static int await(pid_t child, uint32_t rank)
{
    int state;
    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR)
            return cli_error("cannot wait for the answer of rank %u: %s", rank, strerror(errno));
    if (WIFEXITED(state))
        return WEXITSTATUS(state);
    if (WTERMSIG(state) != SIGPIPE) /* nobody reads any more */
        (void)cli_error("rank %u: the command ended by signal %d", rank, WTERMSIG(state));
    return SIGNALLED + WTERMSIG(state);
}

static int fail(const struct tg_ranks_rank *rank, bool json)
{
    if (json)
        put_reason(&(struct copier){.rank = rank->rank}, "no process could be started");
    return cli_error("cannot start a process for rank %u: %s", rank->rank, strerror(errno));
}

/* True in the rank's process. */
static bool answer(const struct tg_ranks_rank *rank, bool json, int *code)
{
    struct copier copier = {.rank = rank->rank};
    int ends[2] = {-1, -1};
    pid_t self = getpid();
    cli_print_flush();
    if (json && pipe(ends) != 0) {
        *code = fail(rank, json);
        return false;
    }
    pid_t child = fork();
    if (child == 0) {
        if (json)
            close(ends[0]);
        if (!begin_child(rank, ends[1], self))
            _exit(CLI_USAGE);
        return true;
    }
    if (json)
        close(ends[1]);
    *code = child < 0 ? fail(rank, json) : CLI_OK;
    if (child > 0 && json)
        copy_document(ends[0], &copier);
    if (json)
        close(ends[0]);
    if (child > 0)
        *code = await(child, rank->rank);
    return false;
}

/* ── ranks ─────────────────────────────────────────────────────────────────────────────── */

enum cli_rank_answer cli_ranks_lacks_folder(const void *context, const struct tg_ranks_rank *rank,
                                            struct tg_error *why)
{
    if (rank->is_there)
        return tg_ranks_check_folder(context, rank->rank, why) == TG_OK ? CLI_RANK_ANSWERS
                                                                        : CLI_RANK_IS_UNKNOWN;
    snprintf(why->text, sizeof why->text, "its folder '%s' is not here%s%s", rank->folder,
             *rank->host ? ": it ran on " : "", rank->host);
    return CLI_RANK_IS_UNKNOWN;
}

static void put_heading(const struct tg_ranks_rank *rank, bool json)
{
    if (json)
        printf("%s\n%*s", rank->rank > 0 ? "," : "", INDENT, "");
    else
        cli_print("%s%srank %u%s\n", rank->rank > 0 ? "\n" : "", cli_color(stdout, CLI_BOLD),
                  rank->rank, cli_color(stdout, CLI_PLAIN));
}

bool cli_ranks_each(const struct tg_ranks *ranks, bool json, cli_ranks_lacks_fn lacks,
                    const void *context, struct tg_ranks_rank *rank, int *code)
{
    int worst = CLI_OK;
    for (uint32_t i = 0; tg_ranks_get(ranks, i, rank); i++) {
        struct tg_error why;
        enum cli_rank_answer has = lacks(context, rank, &why);
        int one = has == CLI_RANK_IS_UNKNOWN ? CLI_USAGE : CLI_OK;
        put_heading(rank, json);
        if (has == CLI_RANK_ANSWERS && answer(rank, json, &one))
            return true;
        if (has != CLI_RANK_ANSWERS && json)
            put_reason(&(struct copier){.rank = i}, why.text);
        else if (has != CLI_RANK_ANSWERS)
            cli_print("%s%s\n", has == CLI_RANK_IS_UNKNOWN ? "not known: " : "", why.text);
        worst = one > worst ? one : worst;
    }
    *code = worst;
    return false;
}
