/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "sandbox/steps.h"
#include "sandbox/syscalls.h"
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

/* The interface of the kernel up to version 7; the header of this machine may know less. */
struct ruleset {
    uint64_t files;
    uint64_t network;
    uint64_t scopes;
};

struct beneath {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

enum { VERSION = 1 << 0, BENEATH = 1 };
enum {
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIR = 1 << 3,
    FIRST_FILES = (1 << 13) - 1, /* all that version 1 knows */
    REFER = 1 << 13,             /* version 2 */
    TRUNCATE = 1 << 14,          /* 3 */
    IOCTL_DEV = 1 << 15,         /* 5 */
};
enum { BIND_TCP = 1 << 0, CONNECT_TCP = 1 << 1 };            /* 4 */
enum { ABSTRACT_UNIX_SOCKET = 1 << 0, SIGNAL = 1 << 1 };     /* 6 */
enum { NETWORK_VERSION = 4, SCOPE_VERSION = 6, NEWEST = 7 }; /* NEWEST: that we know */

static uint64_t file_rights(uint32_t version)
{
    return FIRST_FILES | (version >= 2 ? (uint64_t)REFER : 0) |
           (version >= 3 ? (uint64_t)TRUNCATE : 0) | (version >= 5 ? (uint64_t)IOCTL_DEV : 0);
}

static bool allow(int ruleset, int parent, uint64_t rights)
{
    struct beneath rule = {.allowed = rights, .parent = parent};
    return syscall(SYS_landlock_add_rule, ruleset, BENEATH, &rule, 0) == 0;
}

static bool allow_path(int ruleset, const char *path, uint64_t rights)
{
    int parent = open(path, O_PATH | O_CLOEXEC);
    bool good = parent >= 0 && allow(ruleset, parent, rights);
    if (parent >= 0)
        close(parent);
    return good;
}

/* Everything can be read and loaded. Written can be what the process has open, which needs no rule, and
 * again standard error under its name (/dev/stderr); it fails harmlessly for a pipe, which has none. */
static bool allow_files(int ruleset)
{
    (void)allow_path(ruleset, "/dev/null", READ_FILE | WRITE_FILE);
    (void)allow(ruleset, STDERR_FILENO, WRITE_FILE);
    return allow_path(ruleset, "/", EXECUTE | READ_FILE | READ_DIR);
}

/* An older kernel refuses a structure with more than it knows. */
static size_t size_for(uint32_t version)
{
    if (version >= SCOPE_VERSION)
        return sizeof(struct ruleset);
    return version >= NETWORK_VERSION ? offsetof(struct ruleset, scopes)
                                      : offsetof(struct ruleset, network);
}

uint32_t tg_sandbox_landlock(bool may_write)
{
    long known = syscall(SYS_landlock_create_ruleset, NULL, 0, VERSION);
    uint32_t version = known < 0 ? 0 : known < NEWEST ? (uint32_t)known : NEWEST;
    struct ruleset rules = {
        .files = may_write ? 0 : file_rights(version),
        .network = version >= NETWORK_VERSION ? BIND_TCP | CONNECT_TCP : 0,
        .scopes = version >= SCOPE_VERSION ? ABSTRACT_UNIX_SOCKET | SIGNAL : 0,
    };
    bool good;
    int ruleset;
    if (version == 0)
        return 0;
    ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, size_for(version), 0);
    if (ruleset < 0)
        return 0;
    good =
        (may_write || allow_files(ruleset)) && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    close(ruleset);
    return good ? version : 0;
}
