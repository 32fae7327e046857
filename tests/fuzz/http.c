/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of any HTTP request, through everything that the server decides by itself. The input is the lines of a
 * request; a line end is "\n" or "\r\n". Whatever comes, an answer needs the right token and a host of the server's own,
 * a command is made of the words of the tables, and JSON that is taken for JSON can be walked through.
 */
#define _GNU_SOURCE 1
#include "fuzz/recording.h"

#include "serve/questions.h"
#include "serve/slices.h"
#include <stdlib.h>
#include <strings.h>

#define TOKEN "0123456789abcdef0123456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_header(struct serve_request *r, char *line)
{
    char *value = strchr(line, ':');
    if (value == NULL)
        return;
    *value++ = '\0';
    value += *value == ' ';
    if (strcasecmp(line, "Host") == 0) {
        r->host = value;
        r->hosts++;
    } else if (strcasecmp(line, "Origin") == 0)
        r->origin = value;
    else if (strcasecmp(line, "Sec-Fetch-Site") == 0)
        r->site = value;
    else if (strcasecmp(line, "Sec-Fetch-Mode") == 0)
        r->mode = value;
    else if (strcasecmp(line, "Sec-Fetch-Dest") == 0)
        r->destination = value;
}

static void read_head(char *text, struct serve_request *r)
{
    char *rest, *line = strtok_r(text, "\r\n", &rest), *word;
    *r = (struct serve_request){.method = "", .address = ""};
    if (line == NULL)
        return;
    r->method = line;
    if ((word = strchr(line, ' ')) != NULL) {
        *word++ = '\0';
        r->address = word;
        word[strcspn(word, " ")] = '\0';
    }
    while ((line = strtok_r(NULL, "\r\n", &rest)) != NULL)
        take_header(r, line);
}

static const char *path_of(void *context, const char *key)
{
    (void)context;
    return strcmp(key, "x") == 0 ? "-x" : NULL;
}

static void check_command(const struct serve_command *c)
{
    HOLDS(c->n >= 4 && c->n <= SERVE_MOST_WORDS && c->argv[c->n] == NULL);
    HOLDS(strcmp(c->argv[0], "taskglass") == 0 && c->argv[1][0] != '-');
    for (unsigned i = 0; i < c->n; i++) {
        HOLDS(strcmp(c->argv[i], "-x") != 0 && strncmp(c->argv[i], "--module", 8) != 0);
        HOLDS(strncmp(c->argv[i], "--device-program", 16) != 0);
    }
    HOLDS(strchr(c->text, '\n') == NULL);
}

static void ask(const char *text)
{
    static struct serve_query query;
    static struct serve_command command;
    struct tg_error error = {TG_OK, ""};
    if (serve_query_read(text, &query, &error) != TG_OK) {
        HOLDS(error.text[0] != '\0');
        return;
    }
    if (serve_question_make(&query, path_of, NULL, &command, &error) == TG_OK)
        check_command(&command);
    else
        HOLDS(error.text[0] != '\0');
}

static void walk(struct serve_slice text)
{
    struct serve_slice rest = text, element, member;
    if (!serve_slice_is_json(text))
        return;
    (void)serve_slice_member(text, "key", &member);
    while (serve_slice_next(&rest, &element))
        HOLDS(serve_slice_is_json(element));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct serve_rules rules = {.token = TOKEN};
    struct serve_request request;
    struct serve_judgement judgement;
    char *text = malloc(size + 1);
    HOLDS(text != NULL);
    walk((struct serve_slice){(const char *)data, size});
    memcpy(text, data, size);
    text[size] = '\0';
    read_head(text, &request);
    serve_judge(&rules, &request, &judgement);
    HOLDS(judgement.text != NULL && judgement.rest != NULL);
    if (judgement.status == 200) {
        HOLDS(judgement.showed_token && strncmp(request.address, "/" TOKEN, 33) == 0);
        HOLDS(request.hosts == 1 && serve_accepts_host(&rules, request.host));
        HOLDS(judgement.target != SERVE_NOTHING);
        if (judgement.target == SERVE_FILE)
            HOLDS(strpbrk(judgement.rest, "/%?") == NULL);
        ask(judgement.target == SERVE_API
                ? strchrnul(judgement.rest, '?') + (strchr(judgement.rest, '?') != NULL)
                : judgement.rest);
    }
    free(text);
    return 0;
}
