/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/judge.h"
#include "test.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

static const struct serve_rules loopback = {.token = TOKEN};
static const struct serve_rules on_one = {.token = TOKEN, .host = "10.0.0.7"};
static const struct serve_rules on_v6 = {.token = TOKEN, .host = "2001:DB8:0:0::5"};
static const struct serve_rules everywhere = {.token = TOKEN, .host = "0.0.0.0", .name = "box"};

/* A request as a browser sends it from the page itself. */
static struct serve_request good(const char *address)
{
    return (struct serve_request){.method = "GET",
                                  .address = address,
                                  .host = "127.0.0.1:8080",
                                  .hosts = 1,
                                  .site = "same-origin",
                                  .mode = "cors",
                                  .destination = "empty"};
}

static struct serve_judgement judge(struct serve_request request)
{
    struct serve_judgement judgement;
    serve_judge(&loopback, &request, &judgement);
    return judgement;
}

static int status_of(const char *address)
{
    return judge(good(address)).status;
}

TEST(addresses_below_the_token_have_their_targets)
{
    static const struct {
        const char *address;
        enum serve_target target;
        const char *rest;
    } cases[] = {
        {"/" TOKEN, SERVE_REDIRECT, ""},
        {"/" TOKEN "/", SERVE_FILE, ""},
        {"/" TOKEN "/app.js", SERVE_FILE, "app.js"},
        {"/" TOKEN "/api/runs", SERVE_API, "runs"},
        {"/" TOKEN "/api/run?run=a%2Fb&x=1", SERVE_API, "run?run=a%2Fb&x=1"},
        {"/" TOKEN "/events?run=x", SERVE_EVENTS, "run=x"},
        {"/" TOKEN "/events", SERVE_EVENTS, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct serve_judgement j = judge(good(cases[i].address));
        CHECK_EQ_I(j.status, 200);
        CHECK_EQ_I(j.target, cases[i].target);
        CHECK_EQ_S(j.rest, cases[i].rest);
        CHECK(j.showed_token);
    }
}

TEST(a_wrong_token_and_a_missing_one_get_the_same_answer)
{
    static const char *const addresses[] = {
        "",
        "/",
        "*",
        "/api/runs",
        "//" TOKEN "/",
        "/" TOKEN "0/",
        "/0123456789abcdef0123456789abcdee/",
        "/0123456789ABCDEF0123456789ABCDEF/",
        "/%30123456789abcdef0123456789abcdef/",
        "/0123456789abcdef0123456789abcde",
        "http://127.0.0.1/" TOKEN "/",
        "/" TOKEN "%2f",
        "/./" TOKEN "/",
    };
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        struct serve_judgement j = judge(good(addresses[i]));
        CHECK_EQ_I(j.status, 404);
        CHECK_EQ_S(j.text, "not found");
        CHECK(!j.showed_token);
    }
}

TEST(a_path_leads_nowhere_but_to_the_names_of_the_page)
{
    CHECK_EQ_I(status_of("/" TOKEN "/../etc/passwd"), 404);
    CHECK_EQ_I(status_of("/" TOKEN "/..%2f..%2fetc%2fpasswd"), 404);
    CHECK_EQ_I(status_of("/" TOKEN "/a/b"), 404);
    CHECK_EQ_I(status_of("/" TOKEN "/?x=1"), 404);
    CHECK_EQ_I(status_of("/" TOKEN "?x=1"), 404);
}

TEST(loopback_answers_to_its_own_names_with_any_port)
{
    static const char *const right[] = {"127.0.0.1",      "127.0.0.1:1", "localhost",
                                        "LocalHost:8080", "[::1]",       "[::1]:65535"};
    static const char *const wrong[] = {"",
                                        "evil.example",
                                        "127.0.0.1.evil.example",
                                        "localhost.evil.example",
                                        "localhost.",
                                        "127.0.0.1:",
                                        "127.0.0.1:x",
                                        "127.0.0.1:8080x",
                                        "::1",
                                        "[::1",
                                        "[::1]x",
                                        "[::1]:",
                                        "127.1",
                                        "evil@127.0.0.1",
                                        "2130706433",
                                        "[::ffff:127.0.0.1]",
                                        ":8080",
                                        "10.0.0.7",
                                        "0.0.0.0",
                                        "[]",
                                        "127.0.0.1 ",
                                        "127.0.0.1:8080:8080",
                                        "127.0.0.1:123456",
                                        "[127.0.0.1]"};
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        CHECK_EQ_S(serve_accepts_host(&loopback, right[i]) ? right[i] : "refused", right[i]);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK_EQ_S(serve_accepts_host(&loopback, wrong[i]) ? wrong[i] : "none", "none");
}

TEST(another_address_is_accepted_only_if_it_was_asked_for)
{
    CHECK(serve_accepts_host(&on_one, "10.0.0.7:80"));
    CHECK(!serve_accepts_host(&on_one, "10.0.0.8"));
    CHECK(!serve_accepts_host(&on_one, "box"));
    CHECK(serve_accepts_host(&on_v6, "[2001:db8::5]:80"));
    CHECK(!serve_accepts_host(&on_v6, "[2001:db8::6]:80"));
    CHECK(serve_accepts_host(&everywhere, "192.168.1.2:80"));
    CHECK(serve_accepts_host(&everywhere, "[fe80::1]:80"));
    CHECK(serve_accepts_host(&everywhere, "BOX:80"));
    CHECK(!serve_accepts_host(&everywhere, "box.evil.example"));
}

TEST(a_request_needs_one_host)
{
    struct serve_request none = good("/" TOKEN "/"), two = none;
    none.host = NULL;
    none.hosts = 0;
    two.hosts = 2;
    CHECK_EQ_I(judge(none).status, 403);
    CHECK_EQ_I(judge(two).status, 403);
}

TEST(a_wrong_host_learns_nothing_about_the_token)
{
    struct serve_request r = good("/" TOKEN "/"), wrong = good("/x/");
    r.host = wrong.host = "evil.example";
    CHECK_EQ_I(judge(r).status, 403);
    CHECK(!judge(r).showed_token);
    CHECK_EQ_I(judge(wrong).status, 403);
    CHECK_EQ_S(judge(wrong).text, judge(r).text);
}

TEST(other_sites_may_link_to_the_page_and_do_nothing_else)
{
    static const char *const sites[] = {"cross-site", "same-site", "something-new", ""};
    for (size_t i = 0; i < sizeof sites / sizeof sites[0]; i++) {
        struct serve_request r = good("/" TOKEN "/api/runs"), page = good("/" TOKEN "/");
        r.site = page.site = sites[i];
        CHECK_EQ_I(judge(r).status, 403);
        r.mode = page.mode = "navigate";
        r.destination = page.destination = "document";
        CHECK_EQ_I(judge(r).status, 403);
        CHECK_EQ_I(judge(page).status, 200);
        page.destination = "iframe";
        CHECK_EQ_I(judge(page).status, 403);
        page.mode = "no-cors";
        page.destination = "script";
        CHECK_EQ_I(judge(page).status, 403);
        page.mode = page.destination = NULL;
        CHECK_EQ_I(judge(page).status, 403);
    }
}

TEST(an_origin_must_be_the_host_itself)
{
    struct serve_request r = good("/" TOKEN "/api/runs");
    r.origin = "http://127.0.0.1:8080";
    CHECK_EQ_I(judge(r).status, 200);
    static const char *const wrong[] = {"null",
                                        "",
                                        "http://127.0.0.1",
                                        "http://127.0.0.1:8081",
                                        "https://127.0.0.1:8080",
                                        "http://evil.example",
                                        "http://127.0.0.1:8080.evil.example"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        r.origin = wrong[i];
        CHECK_EQ_I(judge(r).status, 403);
    }
}

TEST(only_get_and_head_without_a_body_are_answered)
{
    static const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get", ""};
    struct serve_request r = good("/" TOKEN "/api/runs");
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        r.method = methods[i];
        CHECK_EQ_I(judge(r).status, 405);
    }
    r.method = "HEAD";
    CHECK_EQ_I(judge(r).status, 200);
    r.has_body = true;
    CHECK_EQ_I(judge(r).status, 413);
}

TEST(an_address_has_a_longest_length)
{
    char address[SERVE_MOST_ADDRESS + 2];
    memset(address, 'x', sizeof address);
    memcpy(address, "/" TOKEN "/api/", SERVE_TOKEN_CHARACTERS + 6);
    address[SERVE_MOST_ADDRESS + 1] = '\0';
    CHECK_EQ_I(status_of(address), 414);
    address[SERVE_MOST_ADDRESS] = '\0';
    CHECK_EQ_I(status_of(address), 200);
}

TEST(a_comparison_sees_every_byte)
{
    char other[] = TOKEN;
    CHECK(serve_is_equal(TOKEN, other, SERVE_TOKEN_CHARACTERS));
    for (size_t i = 0; i < SERVE_TOKEN_CHARACTERS; i++) {
        other[i] ^= 1;
        CHECK(!serve_is_equal(TOKEN, other, SERVE_TOKEN_CHARACTERS));
        other[i] ^= 1;
    }
}

TEST_MAIN()
