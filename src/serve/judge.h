/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides what a request gets, from its first line and its headers alone. Whoever can reach the port can send one:
 * another user of the machine, or a page of a stranger in the user's own browser. What keeps them out, in this order:
 *
 *   Host             a name of this machine's loopback, or what --host gave. A stranger's page whose own name was made
 *                    to lead here (DNS rebinding) sends that name.
 *   the token        the first part of the path; a wrong one gets the same 404 as any address that does not exist
 *   Sec-Fetch-Site,  no page of another site may ask. It may link to the page itself, as a colleague's message does.
 *   Origin
 *   the method       GET and HEAD, without a body
 *
 * These functions keep no state and know no HTTP library.
 */
#ifndef TG_SERVE_JUDGE_H
#define TG_SERVE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

enum {
    SERVE_TOKEN_CHARACTERS = 32, /* hexadecimal: 128 bits */
    SERVE_MOST_ADDRESS = 8192    /* bytes of the path and what follows it */
};

/* What the server accepts. */
struct serve_rules {
    char token[SERVE_TOKEN_CHARACTERS + 1];
    const char *host; /* the address that --host gave; NULL: none */
    const char *name; /* this machine's own, if `host` stands for all its addresses; NULL */
};

/* A request as it came. NULL: there is no such header. */
struct serve_request {
    const char *method;
    const char *address; /* of the first line, not decoded: "/TOKEN/api/runs" */
    const char *host, *origin, *site, *mode, *destination;
    unsigned hosts; /* how many headers Host there are */
    bool has_body;
};

/* What is asked for. */
enum serve_target {
    SERVE_NOTHING,
    SERVE_FILE,     /* a file of the page: `rest` is its name */
    SERVE_REDIRECT, /* the page without the last slash of its address */
    SERVE_API,      /* a request: `rest` is its text, "tensor?run=x&record=5" */
    SERVE_EVENTS    /* `rest` is what follows the '?', or "" */
};

struct serve_judgement {
    int status;       /* of HTTP; 200: the target decides */
    const char *text; /* for a status other than 200: one line for a person */
    enum serve_target target;
    const char *rest;  /* in the request's address */
    bool showed_token; /* the request had the token, whatever else was wrong */
};

void serve_judge(const struct serve_rules *rules, const struct serve_request *request,
                 struct serve_judgement *judgement);

/* True if `host`, a name or an address with or without a port, may be a request's Host. */
bool serve_accepts_host(const struct serve_rules *rules, const char *host);

/* True if the `size` bytes are equal. Takes the same time wherever they differ. */
bool serve_is_equal(const char *a, const char *b, size_t size);

#endif
