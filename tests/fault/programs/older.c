/* SPDX-License-Identifier: Apache-2.0 */
/* older NUMBER... -- COMMAND...: runs a command as on an older kernel, which does not have the system calls
 * of these numbers. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { MOST = 64 };

int main(int argc, char **argv)
{
    struct sock_filter code[2 * MOST + 2] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    struct sock_fprog filter = {.len = 1, .filter = code};
    int i = 1;
    for (; i < argc && i < MOST && strcmp(argv[i], "--") != 0; i++) {
        code[filter.len++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(argv[i]), 0, 1);
        code[filter.len++] =
            (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
    }
    code[filter.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        return 77;
    execv(argv[i + 1], argv + i + 1);
    perror(argv[i + 1]);
    return 77;
}
