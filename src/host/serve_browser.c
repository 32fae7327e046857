/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "host/serve_browser.h"
#include "base/error.h"
#include "base/files.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The folder of this user's session, if there is one: nobody else can look into it, and it is emptied at its end. */
static const char *folder(void)
{
    const char *runtime = secure_getenv("XDG_RUNTIME_DIR"), *other = secure_getenv("TMPDIR");
    struct stat info;
    if (runtime != NULL && runtime[0] == '/' && stat(runtime, &info) == 0 && S_ISDIR(info.st_mode))
        return runtime;
    return other != NULL && other[0] == '/' ? other : "/tmp";
}

/* mkostemps makes it with mode 0600, under a name that nobody can guess. The address has no character that HTML would
 * take for its own. */
static tg_status write_file(struct tg_serve_browser *browser, const char *address,
                            struct tg_error *error)
{
    static const char ending[] = ".html";
    char name[sizeof browser->file];
    int fd = -1;
    if (snprintf(name, sizeof name, "%s/taskglass-XXXXXX%s", folder(), ending) < (int)sizeof name)
        fd = mkostemps(name, sizeof ending - 1, O_CLOEXEC);
    if (fd < 0)
        return tg_file_error(error, "make a file in", folder(), errno);
    memcpy(browser->file, name, sizeof name);
    int written = dprintf(fd,
                          "<!doctype html><meta charset=utf-8><title>Taskglass</title>\n"
                          "<meta name=referrer content=no-referrer>\n"
                          "<meta http-equiv=refresh content=\"0; url=%s\">\n"
                          "<a href=\"%s\">Taskglass</a>\n",
                          address, address);
    int cause = written < 0 ? errno : 0;
    if (close(fd) != 0 && cause == 0)
        cause = errno;
    return cause == 0 ? TG_OK : tg_file_error(error, "write", browser->file, cause);
}

/* In a grandchild, so that nobody has to wait for the browser. What it prints goes nowhere. Its exit status 127 says
 * that there is no such program; the child's says so to us. */
static void become(const char *program, const char *file)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    sigset_t signals;
    if (nothing >= 0) {
        dup2(nothing, STDIN_FILENO);
        dup2(nothing, STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
    }
    sigemptyset(&signals);
    sigprocmask(SIG_SETMASK, &signals, NULL);
    setsid();
    execlp(program, program, file, (char *)NULL);
}

/* Returns 0, or the errno of exec, which comes through a pipe that a successful exec closes. */
static int start(const char *program, const char *file)
{
    int ends[2], cause = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) {
            become(program, file);
            cause = errno;
            (void)!write(ends[1], &cause, sizeof cause);
        }
        _exit(0);
    }
    if (child < 0)
        cause = errno;
    close(ends[1]);
    if (child > 0 && read(ends[0], &cause, sizeof cause) != (ssize_t)sizeof cause)
        cause = 0;
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    return cause;
}

tg_status tg_serve_browser_open(struct tg_serve_browser *browser, const char *address,
                                struct tg_error *error)
{
    const char *chosen = secure_getenv("BROWSER");
    const char *program = chosen != NULL && chosen[0] ? chosen : "xdg-open";
    tg_status status = browser->file[0] ? TG_OK : write_file(browser, address, error);
    if (status != TG_OK)
        return status;
    int cause = start(program, browser->file);
    if (cause == 0)
        return TG_OK;
    return tg_error_set(error, cause == ENOENT ? TG_NOT_FOUND : TG_IO_ERROR,
                        "cannot start the browser '%s': %s; open the address yourself", program,
                        strerror(cause));
}

void tg_serve_browser_end(struct tg_serve_browser *browser)
{
    if (browser->file[0])
        (void)unlink(browser->file);
    browser->file[0] = '\0';
}
