/* SPDX-License-Identifier: Apache-2.0 */
/* The socket of a run against peers of every kind. The server here has no run to look at. */
#define _GNU_SOURCE 1
#include "host/live.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/live_reply.h"
#include "test.h"

struct stage {
    char dir[300];
    struct tg_run_lock lock;
    struct tg_live_server *server;
};

static const struct tg_live_about about = {"matmul", "small", "a2a3sim", "some_runtime", 0};

static bool has_socket(const struct stage *s, mode_t *mode)
{
    struct stat info;
    if (fstatat(s->lock.fd, TG_LIVE_SOCKET, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    *mode = info.st_mode;
    return true;
}

/* A connection, made again and again until the server listens. */
static int connect_to(const struct stage *s)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" TG_LIVE_SOCKET,
             s->lock.fd);
    for (;;) {
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
            return fd;
        close(fd);
        if (errno != ENOENT && errno != ECONNREFUSED && errno != EAGAIN)
            return -1;
        poll(NULL, 0, 1);
    }
}

static void start_in(struct stage *s, const char *below)
{
    snprintf(s->dir, sizeof s->dir, "/tmp/taskglass_test_live_XXXXXX");
    REQUIRE(mkdtemp(s->dir) != NULL);
    snprintf(s->dir + strlen(s->dir), sizeof s->dir - strlen(s->dir), "%s", below);
    (void)mkdir(s->dir, 0700);
    s->lock = (struct tg_run_lock){open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    s->server = tg_live_server_start(&s->lock, &about);
}

static void stop(struct stage *s)
{
    mode_t mode;
    tg_live_server_stop(s->server);
    CHECK(!has_socket(s, &mode));
    close(s->lock.fd);
    CHECK_EQ_I(rmdir(s->dir), 0);
    char *slash = strrchr(s->dir, '/');
    if (strcmp(slash, "/") != 0 && strncmp(slash, "/taskglass_test", 15) != 0) {
        *slash = '\0';
        rmdir(s->dir);
    }
}

static void send_text(int fd, const char *text)
{
    CHECK_EQ_I(send(fd, text, strlen(text), MSG_NOSIGNAL), (long long)strlen(text));
}

/* One line, without its end; "" if the server closed first. */
static const char *read_line(int fd)
{
    static char line[1 << 16];
    size_t n = 0;
    while (n + 1 < sizeof line && recv(fd, line + n, 1, 0) == 1 && line[n] != '\n')
        n++;
    line[n] = '\0';
    return line;
}

static bool is_closed(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, 0);
    return n == 0 || (n < 0 && errno == ECONNRESET);
}

/* ── the socket ────────────────────────────────────────────────────────────────────────── */

TEST(the_socket_is_for_its_owner_alone_and_goes_with_the_server)
{
    struct stage s;
    mode_t mode = 0;
    mode_t before = umask(0);
    start_in(&s, "");
    REQUIRE(s.server != NULL);
    close(connect_to(&s));
    umask(before);
    CHECK(has_socket(&s, &mode));
    CHECK(S_ISSOCK(mode));
    CHECK_EQ_U(mode & 07777, 0600);
    stop(&s);
}

TEST(a_server_that_is_stopped_at_once_has_made_no_socket)
{
    struct stage s;
    start_in(&s, "");
    stop(&s);
}

TEST(a_path_may_be_longer_than_an_address)
{
    struct stage s;
    struct tg_live *live;
    struct tg_live_status status;
    struct tg_error error;
    char below[202];
    memset(below, 'x', sizeof below);
    below[0] = '/';
    below[sizeof below - 1] = '\0';
    start_in(&s, below);
    close(connect_to(&s));
    REQUIRE(tg_live_open(s.dir, &live, &error) == TG_OK);
    CHECK_EQ_I(tg_live_look(live, TG_LIVE_ALL, &status, &error), TG_OK);
    CHECK_EQ_S(status.workload, "matmul");
    tg_live_close(live);
    stop(&s);
}

TEST(the_socket_of_a_killed_run_is_replaced)
{
    struct stage s;
    struct tg_live *live;
    struct tg_error error;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    start_in(&s, "");
    tg_live_server_stop(s.server);
    snprintf(address.sun_path, sizeof address.sun_path, "%.80s/" TG_LIVE_SOCKET, s.dir);
    int left = socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(bind(left, (struct sockaddr *)&address, sizeof address) == 0);
    close(left);
    CHECK_EQ_I(tg_live_open(s.dir, &live, &error), TG_NOT_FOUND);
    CHECK(strstr(error.text, "was killed") != NULL);
    s.server = tg_live_server_start(&s.lock, &about);
    int fd = connect_to(&s);
    send_text(fd, "{\"ask\": \"status\"}\n");
    CHECK(strstr(read_line(fd), "\"phase\": \"opening\"") != NULL);
    close(fd);
    stop(&s);
}

TEST(a_file_of_that_name_that_is_no_socket_stays)
{
    struct stage s;
    start_in(&s, "");
    tg_live_server_stop(s.server);
    int fd = openat(s.lock.fd, TG_LIVE_SOCKET, O_CREAT | O_WRONLY, 0600);
    close(fd);
    s.server = tg_live_server_start(&s.lock, &about);
    poll(NULL, 0, 3 * TG_LIVE_DELAY_MS);
    tg_live_server_stop(s.server);
    CHECK_EQ_I(unlinkat(s.lock.fd, TG_LIVE_SOCKET, 0), 0);
    close(s.lock.fd);
    rmdir(s.dir);
}

TEST(another_user_is_not_heard)
{
    struct stage s;
    int status = 0;
    if (geteuid() != 0)
        SKIP("only root can become another user");
    start_in(&s, "");
    close(connect_to(&s));
    chmod(s.dir, 0711);
    REQUIRE(fchmodat(s.lock.fd, TG_LIVE_SOCKET, 0666, 0) ==
            0); /* the peer's number must do alone */
    pid_t child = fork();
    if (child == 0) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        snprintf(address.sun_path, sizeof address.sun_path, "%.80s/" TG_LIVE_SOCKET, s.dir);
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (setuid(65534) != 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
            _exit(77);
        (void)send(fd, "{\"ask\": \"all\"}\n", 15, MSG_NOSIGNAL);
        char text[1000] = "";
        ssize_t n = recv(fd, text, sizeof text - 1, 0);
        _exit(n > 0 && strstr(text, "phase") ? 1 : 0);
    }
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK_EQ_I(WEXITSTATUS(status), 0);
    stop(&s);
}

/* ── peers ─────────────────────────────────────────────────────────────────────────────── */

TEST(a_connection_serves_many_requests)
{
    struct stage s;
    start_in(&s, "");
    int fd = connect_to(&s);
    for (int i = 0; i < 20; i++) {
        send_text(fd,
                  "{\"ask\": [\"cores\", \"rings\"]}\n{\"ask\": \"status\", \"later\": [1, {}]}\n");
        CHECK(strstr(read_line(fd), "\"workload\": \"matmul\"") != NULL);
        CHECK(strstr(read_line(fd), "\"version\": 1") != NULL);
    }
    close(fd);
    stop(&s);
}

TEST(phases_show_in_the_next_answer)
{
    struct stage s;
    start_in(&s, "");
    int fd = connect_to(&s);
    for (uint32_t phase = 0; phase < TG_LIVE_PHASES; phase++) {
        char wanted[40];
        tg_live_server_enter(s.server, phase);
        send_text(fd, "{\"ask\": \"status\"}\n");
        snprintf(wanted, sizeof wanted, "\"phase\": \"%s\"", tg_live_phase_name(phase));
        CHECK(strstr(read_line(fd), wanted) != NULL);
    }
    close(fd);
    stop(&s);
}

TEST(garbage_gets_one_line_and_the_end)
{
    static const char *const garbage[] = {
        "\n",
        "hello\n",
        "{}\n",
        "[]\n",
        "{\"ask\": 1}\n",
        "{\"ask\": \"everything\"}\n",
        "{\"ask\"",
        "\377\n",
        "GET / HTTP/1.1\r\n",
        "{\"ask\": [[[[[[[[[[\n",
        "{\"ask\": \"all\"} x\n",
    };
    struct stage s;
    start_in(&s, "");
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        int fd = connect_to(&s);
        send_text(fd, garbage[i]);
        if (strchr(garbage[i], '\n') == NULL) { /* half a request, and then nothing */
            shutdown(fd, SHUT_WR);
            CHECK(is_closed(fd));
        } else {
            CHECK(strncmp(read_line(fd), "{\"version\": 1, \"error\": \"", 25) == 0);
            CHECK(is_closed(fd));
        }
        close(fd);
    }
    stop(&s);
}

TEST(a_request_without_an_end_is_refused)
{
    struct stage s;
    char text[TG_LIVE_MOST_REQUEST + 1];
    start_in(&s, "");
    int fd = connect_to(&s);
    memset(text, ' ', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    send_text(fd, text);
    CHECK(strstr(read_line(fd), "too long") != NULL);
    CHECK(is_closed(fd));
    close(fd);
    stop(&s);
}

/* A peer that never reads fills its socket, and is dropped some seconds later. Meanwhile others get their
 * answers, and the server ends at once. */
TEST(a_peer_that_does_not_read_holds_up_nobody)
{
    struct stage s;
    char many[1000] = "";
    start_in(&s, "");
    int deaf = connect_to(&s), small = 1;
    setsockopt(deaf, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    for (int i = 0; i < 50; i++)
        strcat(many, "{\"ask\": \"all\"}\n");
    for (int i = 0; i < 100000; i++)
        if (send(deaf, many, strlen(many), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            break;
    int fd = connect_to(&s);
    send_text(fd, "{\"ask\": \"status\"}\n");
    CHECK(strstr(read_line(fd), "\"phase\"") != NULL);
    close(fd);
    stop(&s);
    close(deaf);
}

/* Of a hundred that connect at once each gets an answer, a refusal, or the end; none waits for ever, and the
 * server still answers. */
TEST(a_hundred_peers_are_bounded)
{
    enum { MANY = 100 };
    struct stage s;
    int fd[MANY], answered = 0;
    start_in(&s, "");
    for (int i = 0; i < MANY; i++)
        fd[i] = connect_to(&s);
    for (int i = 0; i < MANY; i++)
        (void)send(fd[i], "{\"ask\": \"status\"}\n", 18, MSG_NOSIGNAL);
    for (int i = 0; i < MANY; i++) {
        answered += strstr(read_line(fd[i]), "\"phase\"") != NULL;
        close(fd[i]);
    }
    CHECK(answered >= 1 && answered <= MANY);
    int after = connect_to(&s);
    send_text(after, "{\"ask\": \"status\"}\n");
    CHECK(*read_line(after) != '\0');
    close(after);
    stop(&s);
}

/* ── the client ────────────────────────────────────────────────────────────────────────── */

TEST(the_client_says_when_the_run_has_ended)
{
    struct stage s;
    struct tg_live *live;
    struct tg_live_status status;
    struct tg_error error;
    start_in(&s, "");
    close(connect_to(&s));
    REQUIRE(tg_live_open(s.dir, &live, &error) == TG_OK);
    CHECK_EQ_I(tg_live_look(live, TG_LIVE_ALL, &status, &error), TG_OK);
    CHECK_EQ_I(status.pid, getpid());
    tg_live_server_stop(s.server);
    CHECK_EQ_I(tg_live_look(live, TG_LIVE_ALL, &status, &error), TG_NOT_FOUND);
    CHECK_EQ_S(error.text, "the run has ended");
    tg_live_close(live);
    CHECK_EQ_I(tg_live_open(s.dir, &live, &error), TG_NOT_FOUND);
    close(s.lock.fd);
    CHECK_EQ_I(rmdir(s.dir), 0);
}

static tg_status read_reply(const char *text, struct tg_live_status *status, struct tg_error *error)
{
    static struct tg_live_lists lists;
    return tg_live_reply_read(text, strlen(text), status, &lists, error);
}

TEST(an_answer_is_read_whole)
{
    struct tg_live_status s;
    struct tg_error error;
    const char *text =
        "{\"version\": 1, \"phase\": \"running\", \"workload\": \"w\\u001b[2J\", \"pid\": 7, "
        "\"elapsed\": 1.5, \"tasks\": {\"submitted\": 9, \"finished\": 3, \"total\": null}, "
        "\"new\": [[{}]], \"recorder\": {\"records\": 5, \"lost\": {\"full\": 2, \"x\": 1}}, "
        "\"rings\": [{\"tasks\": 1, \"heap\": 256, \"heap_used\": 128}], \"cores\": [{\"core\": 0, "
        "\"kind\": \"AIC\", \"task\": null}, {\"core\": 1, \"kind\": \"AIV0\", \"task\": "
        "\"0x0000000100000002\", \"kernel\": \"add\"}], \"waits\": [{\"task\": \"0x3\", "
        "\"waits_for\": \"0x2\"}], \"more_waits\": true}";
    REQUIRE(read_reply(text, &s, &error) == TG_OK);
    CHECK_EQ_U(s.phase, TG_LIVE_RUNNING);
    CHECK_EQ_S(s.workload, "w?[2J");
    CHECK_EQ_U(s.finished, 3);
    CHECK(!s.total_known);
    CHECK_EQ_U(s.lost_full, 2);
    CHECK(s.recorded);
    CHECK_EQ_U(s.n_rings, 1);
    CHECK_EQ_U(s.ring[0].heap_used, 128);
    CHECK_EQ_U(s.n_cores, 2);
    CHECK(!s.cores[0].busy);
    CHECK(s.cores[1].busy);
    CHECK_EQ_U(s.cores[1].task, UINT64_C(0x100000002));
    CHECK_EQ_U(s.running, 1);
    CHECK_EQ_U(s.n_waits, 1);
    CHECK(s.more_waits);
}

TEST(what_is_no_answer_is_refused)
{
    struct tg_live_status s;
    struct tg_error error;
    CHECK_EQ_I(read_reply("", &s, &error), TG_IO_ERROR);
    CHECK_EQ_I(read_reply("{}", &s, &error), TG_IO_ERROR);
    CHECK_EQ_I(read_reply("{\"version\": 1", &s, &error), TG_IO_ERROR);
    CHECK_EQ_I(read_reply("{\"version\": 1, \"cores\": [1]}", &s, &error), TG_IO_ERROR);
    CHECK_EQ_I(read_reply("{\"version\": 2}", &s, &error), TG_UNSUPPORTED);
    CHECK_EQ_I(read_reply("{\"version\": 1, \"error\": \"no\"}", &s, &error), TG_BUSY);
}

TEST_MAIN()
