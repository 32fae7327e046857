/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of system calls that the tracer can fail. Calls that do the same thing for a program are one
 * kind, so that a sweep does not depend on which of them the C library uses. Left out is what cannot
 * fail in practice, or what the C library itself answers with abort(): futex, signals, exit.
 */
#ifndef TASKGLASS_TESTS_FAULT_KINDS_H
#define TASKGLASS_TESTS_FAULT_KINDS_H

#include <sys/syscall.h>

#ifndef __NR_openat2
#define __NR_openat2 437
#endif
#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_add_rule 445
#define __NR_landlock_restrict_self 446
#endif

/* clang-format off */
#define FAULT_CALLS(X)                                                                             \
    X(open, open) X(open, openat) X(open, openat2) X(open, creat)                                  \
    X(read, read) X(read, pread64) X(read, readv) X(read, preadv)                                  \
    X(write, write) X(write, pwrite64) X(write, writev) X(write, pwritev)                          \
    X(mmap, mmap) X(mmap, mremap)                                                                  \
    X(munmap, munmap) X(mprotect, mprotect) X(madvise, madvise) X(brk, brk)                        \
    X(truncate, ftruncate) X(truncate, truncate) X(truncate, fallocate)                            \
    X(stat, stat) X(stat, fstat) X(stat, lstat) X(stat, newfstatat) X(stat, statx)                 \
    X(stat, statfs) X(stat, fstatfs)                                                               \
    X(access, access) X(access, faccessat) X(access, faccessat2)                                   \
    X(rename, rename) X(rename, renameat) X(rename, renameat2)                                     \
    X(rename, link) X(rename, linkat) X(rename, symlink) X(rename, symlinkat)                      \
    X(unlink, unlink) X(unlink, unlinkat) X(unlink, rmdir)                                         \
    X(mkdir, mkdir) X(mkdir, mkdirat)                                                              \
    X(mode, chmod) X(mode, fchmod) X(mode, fchmodat)                                               \
    X(close, close) X(close, close_range)                                                          \
    X(dup, dup) X(dup, dup2) X(dup, dup3) X(fcntl, fcntl)                                          \
    X(socket, socketpair) X(socket, socket) X(socket, pipe) X(socket, pipe2)                       \
    X(send, sendto) X(send, sendmsg) X(receive, recvfrom) X(receive, recvmsg)                      \
    X(poll, poll) X(poll, ppoll) X(poll, select) X(poll, pselect6)                                 \
    X(memfd, memfd_create)                                                                         \
    X(clone, clone) X(clone, clone3) X(clone, fork) X(clone, vfork)                                \
    X(exec, execve) X(exec, execveat)                                                              \
    X(wait, wait4) X(wait, waitid)                                                                 \
    X(pidfd, pidfd_open) X(pidfd, pidfd_send_signal) X(pidfd, pidfd_getfd)                         \
    X(flock, flock)                                                                                \
    X(getdents, getdents64) X(getdents, getdents)                                                  \
    X(readlink, readlink) X(readlink, readlinkat) X(readlink, getcwd)                              \
    X(getrandom, getrandom)                                                                        \
    X(seek, lseek)                                                                                 \
    X(sync, fsync) X(sync, fdatasync)                                                              \
    X(copy, copy_file_range) X(copy, sendfile) X(copy, splice)                                     \
    X(sleep, nanosleep) X(sleep, clock_nanosleep)                                                  \
    X(limit, prctl) X(limit, prlimit64) X(limit, setrlimit) X(limit, getrlimit)                    \
    X(limit, seccomp) X(limit, landlock_create_ruleset) X(limit, landlock_add_rule)                \
    X(limit, landlock_restrict_self) X(limit, setpgid) X(limit, sigaltstack)                       \
    X(affinity, sched_getaffinity) X(affinity, sched_setaffinity)                                  \
    X(ioctl, ioctl) X(vm, process_vm_readv) X(vm, process_vm_writev)
/* clang-format on */

#endif
