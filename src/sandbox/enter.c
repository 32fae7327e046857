/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "sandbox/steps.h"
#include <dlfcn.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_DESCRIPTORS = 1024 };

/* True if the runtime of a sanitizer is in this process, whether it was linked or preloaded. Every one of
 * them has this function. */
static bool has_sanitizer(void)
{
    return dlsym(RTLD_DEFAULT, "__sanitizer_set_report_path") != NULL;
}

static void lower_limit(int resource, rlim_t most)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0 || (limit.rlim_cur <= most && limit.rlim_max <= most))
        return;
    limit.rlim_cur = limit.rlim_cur < most ? limit.rlim_cur : most;
    limit.rlim_max = most;
    (void)setrlimit(resource, &limit);
}

/* Core dumps, memory and CPU time stay as the user has them: a core of a kernel that crashed is useful, and
 * what a kernel needs is not for us to know. */
static void lower_limits(void)
{
    lower_limit(RLIMIT_NOFILE, MOST_DESCRIPTORS);
    lower_limit(RLIMIT_RTPRIO, 0);
}

/* For a run by root. What is left lets root load a module from the folder of any user. */
static void drop_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct have[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &head, have) != 0)
        return;
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        uint32_t kept = i == 0 ? have[i].permitted & CAP_TO_MASK(CAP_DAC_READ_SEARCH) : 0;
        have[i].permitted = kept;
        have[i].effective &= kept;
        have[i].inheritable = 0;
    }
    (void)syscall(SYS_capset, &head, have);
}

struct tg_sandbox_report tg_sandbox_enter(enum tg_sandbox_kind kind, pid_t host)
{
    struct tg_sandbox_report report = {0};
    struct tg_sandbox_needs needs = {.forks = kind == TG_SANDBOX_FOR_REFERENCES,
                                     .execs = kind == TG_SANDBOX_FOR_LINES,
                                     .tools = has_sanitizer(),
                                     .self = getpid(),
                                     .host = host};
    report.no_new_privs = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    if (kind == TG_SANDBOX_FOR_GPU)
        return report;
    lower_limits();
    drop_capabilities();
    report.landlock = tg_sandbox_landlock(needs.tools);
    needs.file_rules = report.landlock > 0;
    report.seccomp = tg_sandbox_filter(&needs);
    return report;
}
