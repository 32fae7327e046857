/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of system calls that the headers of this machine may lack. From 424 on they are the same on
 * all machines. Older ones that a machine does not have, such as AArch64 open, are TG_NO_CALL. */
#ifndef TG_SANDBOX_SYSCALLS_H
#define TG_SANDBOX_SYSCALLS_H

#include <sys/syscall.h>

#define TG_NO_CALL (-1)

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif
#ifndef SYS_io_uring_enter
#define SYS_io_uring_enter 426
#endif
#ifndef SYS_io_uring_register
#define SYS_io_uring_register 427
#endif
#ifndef SYS_open_tree
#define SYS_open_tree 428
#endif
#ifndef SYS_move_mount
#define SYS_move_mount 429
#endif
#ifndef SYS_fsopen
#define SYS_fsopen 430
#endif
#ifndef SYS_fsconfig
#define SYS_fsconfig 431
#endif
#ifndef SYS_fsmount
#define SYS_fsmount 432
#endif
#ifndef SYS_fspick
#define SYS_fspick 433
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_quotactl_fd
#define SYS_quotactl_fd 443
#endif
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#endif
#ifndef SYS_landlock_add_rule
#define SYS_landlock_add_rule 445
#endif
#ifndef SYS_landlock_restrict_self
#define SYS_landlock_restrict_self 446
#endif
#ifndef SYS_process_mrelease
#define SYS_process_mrelease 448
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#endif
#ifndef SYS_removexattrat
#define SYS_removexattrat 466
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif
#ifndef SYS_file_setattr
#define SYS_file_setattr 469
#endif

#ifndef SYS_fork
#define SYS_fork TG_NO_CALL
#endif
#ifndef SYS_vfork
#define SYS_vfork TG_NO_CALL
#endif
#ifndef SYS_iopl
#define SYS_iopl TG_NO_CALL
#endif
#ifndef SYS_ioperm
#define SYS_ioperm TG_NO_CALL
#endif
#ifndef SYS_chmod
#define SYS_chmod TG_NO_CALL
#endif
#ifndef SYS_chown
#define SYS_chown TG_NO_CALL
#endif
#ifndef SYS_lchown
#define SYS_lchown TG_NO_CALL
#endif
#ifndef SYS_utime
#define SYS_utime TG_NO_CALL
#endif
#ifndef SYS_utimes
#define SYS_utimes TG_NO_CALL
#endif
#ifndef SYS_futimesat
#define SYS_futimesat TG_NO_CALL
#endif
#ifndef SYS_creat
#define SYS_creat TG_NO_CALL
#endif
#ifndef SYS_mknod
#define SYS_mknod TG_NO_CALL
#endif
#ifndef SYS_mkdir
#define SYS_mkdir TG_NO_CALL
#endif
#ifndef SYS_rmdir
#define SYS_rmdir TG_NO_CALL
#endif
#ifndef SYS_unlink
#define SYS_unlink TG_NO_CALL
#endif
#ifndef SYS_rename
#define SYS_rename TG_NO_CALL
#endif
#ifndef SYS_link
#define SYS_link TG_NO_CALL
#endif
#ifndef SYS_symlink
#define SYS_symlink TG_NO_CALL
#endif
#ifndef SYS_open
#define SYS_open TG_NO_CALL
#endif
#ifndef SYS_lookup_dcookie
#define SYS_lookup_dcookie TG_NO_CALL
#endif

#endif
