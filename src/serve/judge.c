/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/judge.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

enum { MOST_HOST = 255, MOST_PORT_DIGITS = 5 };

/* ── the host ──────────────────────────────────────────────────────────────────────────── */

/* Copies the name without its port and without the brackets of an IPv6 address. */
static bool split_host(const char *host, char name[MOST_HOST + 1], bool *in_brackets)
{
    const char *begin = host, *end, *port;
    *in_brackets = host[0] == '[';
    if (*in_brackets) {
        begin = host + 1;
        end = strchr(begin, ']');
        if (end == NULL)
            return false;
        port = end + 1;
    } else {
        end = port = host + strcspn(host, ":");
    }
    if (end == begin || (size_t)(end - begin) > MOST_HOST)
        return false;
    memcpy(name, begin, (size_t)(end - begin));
    name[end - begin] = '\0';
    if (*port == '\0')
        return true;
    size_t digits = strspn(port + 1, "0123456789");
    return *port == ':' && digits > 0 && digits <= MOST_PORT_DIGITS && port[1 + digits] == '\0';
}

static bool is_address(const char *name, bool in_brackets)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(in_brackets ? AF_INET6 : AF_INET, name, bytes) == 1;
}

/* True if both are the same name, or the same IPv6 address, which can be written in many ways: a browser sends the
 * shortest. */
static bool is_same(const char *name, const char *host)
{
    struct in6_addr a, b;
    return strcasecmp(name, host) == 0 ||
           (inet_pton(AF_INET6, name, &a) == 1 && inet_pton(AF_INET6, host, &b) == 1 &&
            memcmp(&a, &b, sizeof a) == 0);
}

/* Someone whose own name leads here cannot make a browser send an address in its place, so where the server listens on
 * all addresses, each of them is as good as another. */
bool serve_accepts_host(const struct serve_rules *rules, const char *host)
{
    char name[MOST_HOST + 1];
    bool in_brackets;
    if (!split_host(host, name, &in_brackets))
        return false;
    if (in_brackets ? strcmp(name, "::1") == 0
                    : strcmp(name, "127.0.0.1") == 0 || strcasecmp(name, "localhost") == 0)
        return true;
    if (rules->host != NULL && is_same(name, rules->host))
        return true;
    return rules->name != NULL &&
           (is_address(name, in_brackets) || strcasecmp(name, rules->name) == 0);
}

/* ── other sites ───────────────────────────────────────────────────────────────────────── */

static bool is_own_origin(const char *origin, const char *host)
{
    static const char scheme[] = "http://";
    return strncasecmp(origin, scheme, sizeof scheme - 1) == 0 &&
           strcasecmp(origin + sizeof scheme - 1, host) == 0;
}

/* A link that somebody follows: a new page in a tab, not a frame or a picture of another page. */
static bool is_link(const struct serve_request *r)
{
    return r->mode != NULL && r->destination != NULL && strcmp(r->mode, "navigate") == 0 &&
           strcmp(r->destination, "document") == 0;
}

/* Browsers that do not send Sec-Fetch-Site, and programs, are held by the token alone. */
static bool is_from_elsewhere(const struct serve_request *r, enum serve_target target)
{
    if (r->origin != NULL && !is_own_origin(r->origin, r->host))
        return true;
    if (r->site == NULL || strcmp(r->site, "same-origin") == 0 || strcmp(r->site, "none") == 0)
        return false;
    return !(is_link(r) && (target == SERVE_FILE || target == SERVE_REDIRECT));
}

/* ── the address ───────────────────────────────────────────────────────────────────────── */

bool serve_is_equal(const char *a, const char *b, size_t size)
{
    volatile unsigned char different = 0;
    for (size_t i = 0; i < size; i++)
        different = (unsigned char)(different | (unsigned char)(a[i] ^ b[i]));
    return different == 0;
}

/* What follows the token, with the slash; NULL: it is not there. */
static const char *behind_token(const struct serve_rules *rules, const char *address)
{
    const char *end;
    if (address[0] != '/')
        return NULL;
    end = address + 1 + strcspn(address + 1, "/?");
    if (end - address - 1 != SERVE_TOKEN_CHARACTERS ||
        !serve_is_equal(address + 1, rules->token, SERVE_TOKEN_CHARACTERS))
        return NULL;
    return end;
}

static enum serve_target find_target(const char *path, const char **rest)
{
    static const char api[] = "/api/", events[] = "/events";
    *rest = "";
    if (*path == '\0')
        return SERVE_REDIRECT;
    if (strncmp(path, api, sizeof api - 1) == 0) {
        *rest = path + sizeof api - 1;
        return SERVE_API;
    }
    if (strncmp(path, events, sizeof events - 1) == 0 &&
        (path[sizeof events - 1] == '?' || path[sizeof events - 1] == '\0')) {
        *rest = path + sizeof events - 1 + (path[sizeof events - 1] == '?');
        return SERVE_EVENTS;
    }
    if (*path != '/' || strpbrk(path + 1, "/?%") != NULL)
        return SERVE_NOTHING;
    *rest = path + 1;
    return SERVE_FILE;
}

/* ── all together ──────────────────────────────────────────────────────────────────────── */

static void refuse(struct serve_judgement *judgement, int status, const char *text)
{
    judgement->status = status;
    judgement->text = text;
}

void serve_judge(const struct serve_rules *rules, const struct serve_request *r,
                 struct serve_judgement *j)
{
    const char *path;
    *j = (struct serve_judgement){.status = 200, .text = "", .rest = ""};
    if (r->hosts != 1 || r->host == NULL || !serve_accepts_host(rules, r->host)) {
        refuse(j, 403, "the Host of this request is no name of this server");
        return;
    }
    path = behind_token(rules, r->address);
    if (path == NULL) {
        refuse(j, 404, "not found");
        return;
    }
    j->showed_token = true;
    j->target = find_target(path, &j->rest);
    if (is_from_elsewhere(r, j->target))
        refuse(j, 403, "another site may not ask this server");
    else if (strcmp(r->method, "GET") != 0 && strcmp(r->method, "HEAD") != 0)
        refuse(j, 405, "all requests are GET");
    else if (r->has_body)
        refuse(j, 413, "a request has no body");
    else if (strlen(r->address) > SERVE_MOST_ADDRESS)
        refuse(j, 414, "the address is too long");
    else if (j->target == SERVE_NOTHING)
        refuse(j, 404, "not found");
}
