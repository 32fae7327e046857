/* SPDX-License-Identifier: Apache-2.0 */
/* Devices that crash, spin, are killed or exit: checks what the run reports, and that the next
 * device works. */
#define _GNU_SOURCE 1
#include "nodes.h"
#include "slow.h"
#include "workloads/faults/faults.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

struct faulty {
    struct tg_device *device;
    struct tg_graph *graph;
    struct tg_run *run;
};

/* Starts a chain of three good tasks, one with that kernel, and another good one. */
static struct faulty faulty_start(const char *kernel, bool mix)
{
    struct faulty f = {.device = open_device(3, 0)};
    struct tg_module *module = load_module(f.device, "faults");
    uint32_t good = tg_module_kernel(module, "fault_none"), bad = tg_module_kernel(module, kernel);
    uint32_t meet = tg_module_kernel(module, "fault_mix_meet");
    int64_t one = 1;
    struct tg_args args;
    uint64_t count = alloc_device(f.device, 4);
    zero_device(f.device, count, 4);
    tg_args_init(&args);
    tg_args_inout(&args, tg_tensor_make(count, TG_INT32, 1, &one));
    GOOD(tg_graph_create(module, &f.graph, error));
    for (uint64_t i = 0; i < 5; i++) {
        args.n_after = 0;
        if (i > 0)
            tg_args_after(&args, i - 1);
        if (i == 3 && mix)
            GOOD(
                tg_graph_add_mix(f.graph, (const uint32_t[]){bad, meet, meet}, &args, NULL, error));
        else
            GOOD(tg_graph_add(f.graph, i == 3 ? bad : good, &args, NULL, error));
    }
    GOOD(tg_run_start(f.graph, &far_limit, &f.run, error));
    return f;
}

/* Waits until the three good tasks are counted and a core reports that it runs the bad one. */
static void faulty_wait_for_bad(struct faulty *f)
{
    struct tg_control_head head;
    struct tg_worker_status status = {0};
    uint64_t control = control_of(f->device), finished = 0, total;
    while (finished < 3)
        tg_run_progress(f->run, &finished, &total);
    GOOD(tg_device_copy_out(f->device, &head, control, sizeof head, error));
    for (uint32_t i = 0; status.running != 4; i = (i + 1) % head.n_lanes)
        GOOD(tg_device_copy_out(f->device, &status, control + head.status + i * sizeof status,
                                sizeof status, error));
}

static void faulty_end(struct faulty *f)
{
    tg_run_destroy(f->run);
    tg_graph_destroy(f->graph);
    tg_device_close(f->device);
}

/* Checks that the next device that is opened works. */
static void next_device_works(void)
{
    struct tg_device *device = open_device(3, 0);
    struct nodes nodes = nodes_make(device, 50);
    uint64_t random = 1;
    nodes_add_random(&nodes, 50, 3, true, &random);
    nodes_run(&nodes, 1);
    nodes_destroy(&nodes);
    tg_device_close(device);
}

/* Checks after a failure that the device is lost and refuses to run anything; its memory is
 * readable, or is gone with it. */
static void is_lost(struct faulty *f)
{
    struct tg_device_info info;
    struct tg_run *run = NULL;
    struct tg_module *module = NULL;
    uint64_t address = alloc_device(f->device, 8);
    char bytes[8] = "";
    tg_device_get_info(f->device, &info);
    CHECK(info.lost);
    CHECK_EQ_I(info.pid, 0);
    if (platform->memory_dies) {
        REFUSED(DEVICE_LOST, "", tg_device_copy_in(f->device, address, bytes, 8, error));
        REFUSED(DEVICE_LOST, "", tg_device_copy_out(f->device, bytes, address, 8, error));
    } else {
        GOOD(tg_device_copy_in(f->device, address, bytes, 8, error));
        GOOD(tg_device_copy_out(f->device, bytes, address, 8, error));
    }
    GOOD(tg_device_free(f->device, address, error));
    REFUSED(DEVICE_LOST, "lost", tg_run_start(f->graph, NULL, &run, error));
    REFUSED(DEVICE_LOST, "lost", tg_device_load(f->device, workload_path("slow"), &module, error));
    CHECK(run == NULL && module == NULL);
}

/* Checks that the result names task 3, this kernel, and the core that crashed. */
static void names_the_task(struct faulty *f, const char *kernel, bool faulted)
{
    struct tg_run_result result;
    uint32_t named = 0;
    tg_run_get_result(f->run, &result);
    CHECK_EQ_U(result.tasks, 5);
    CHECK_EQ_U(result.finished, 3);
    CHECK_EQ_U(result.waiting, 1);
    for (uint32_t i = 0; i < result.n_running; i++) {
        CHECK_EQ_U(result.running[i].task, 3);
        if (strcmp(result.running[i].kernel, kernel) == 0 && result.running[i].faulted == faulted)
            named++;
    }
    CHECK_EQ_U(named, 1);
}

/* True if the error comes late: a GPU reports a bad store only after later tasks of the chain have
 * run. */
static bool is_late(const char *kernel)
{
    return !kernels_are_in_a_process() &&
           (strcmp(kernel, "fault_null") == 0 || strcmp(kernel, "fault_far") == 0);
}

/* `text` is the message of a platform whose device is a process. */
static void crashes(const char *kernel, const char *text)
{
    struct faulty f = faulty_start(kernel, false);
    char who[100];
    if (is_late(kernel)) {
        REFUSED(KERNEL_FAULT, "on core", tg_run_wait(f.run, -1, error));
        is_lost(&f);
        faulty_end(&f);
        return;
    }
    snprintf(who, sizeof who, "task 3, kernel %s", kernel);
    REFUSED(KERNEL_FAULT, who, tg_run_wait(f.run, -1, error));
    REFUSED(KERNEL_FAULT, kernels_are_in_a_process() ? text : who,
            tg_run_wait(f.run, -1, error)); /* waiting again returns the same status */
    names_the_task(&f, kernel, true);
    is_lost(&f);
    faulty_end(&f);
}

/* The sanitizers report these faults themselves and end the process in their own way. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
CONTRACT(a_kernel_that_writes_to_null_is_named_with_the_address)
{
    crashes("fault_null", "Segmentation fault at address 0x0");
    next_device_works();
}

CONTRACT(a_kernel_that_divides_by_zero_is_named)
{
    if (!kernels_are_in_a_process())
        SKIP("a division by zero is no error on this platform");
    crashes("fault_fpe", "Floating point exception");
}

CONTRACT(a_kernel_that_runs_out_of_stack_is_named)
{
    if (!kernels_are_in_a_process())
        SKIP("kernels do not recurse on this platform");
    crashes("fault_stack", "Segmentation fault");
}

CONTRACT(a_kernel_that_writes_far_outside_is_named)
{
    crashes("fault_far", "Segmentation fault");
    next_device_works();
}

CONTRACT(a_kernel_that_traps_is_named)
{
    crashes("fault_trap", "Illegal instruction");
    next_device_works();
}

CONTRACT(a_kernel_of_a_mix_that_crashes_is_named)
{
    struct faulty f = faulty_start("fault_mix_null", true);
    REFUSED(KERNEL_FAULT, "task 3, kernel fault_mix_null", tg_run_wait(f.run, -1, error));
    names_the_task(&f, "fault_mix_null", true);
    is_lost(&f);
    faulty_end(&f);
}
#endif

CONTRACT(a_kernel_that_aborts_is_named)
{
    crashes("fault_abort", "Aborted");
    next_device_works();
}

CONTRACT(a_kernel_that_ends_the_process_costs_the_device_with_its_status)
{
    if (!kernels_are_in_a_process())
        SKIP("a kernel of this platform cannot exit");
    struct faulty f = faulty_start("fault_exit", false);
    REFUSED(DEVICE_LOST, "exited with status 7", tg_run_wait(f.run, -1, error));
    names_the_task(&f, "fault_exit", false);
    is_lost(&f);
    faulty_end(&f);
    next_device_works();
}

CONTRACT(a_kernel_that_spins_is_a_hang_and_is_named)
{
    struct faulty f = faulty_start("fault_spin", false);
    double limit, start;
    faulty_wait_for_bad(&f);
    limit = hang_soon(f.run);
    start = seconds_now() - f.run->idle.counted;
    REFUSED(HANG, "task 3, kernel fault_spin", tg_run_wait(f.run, -1, error));
    CHECK(seconds_now() - start > 0.8 * limit); /* no hang is reported before the limit */
    names_the_task(&f, "fault_spin", false);
    is_lost(&f);
    faulty_end(&f);
    next_device_works();
}

CONTRACT(a_mix_that_never_meets_is_a_hang)
{
    struct faulty f = faulty_start("fault_mix_skip", true);
    faulty_wait_for_bad(&f);
    hang_soon(f.run);
    REFUSED(HANG, "task 3, kernel fault_mix_meet", tg_run_wait(f.run, -1, error));
    is_lost(&f);
    faulty_end(&f);
}

CONTRACT(a_spinning_run_that_is_destroyed_costs_the_device_and_nothing_else)
{
    struct faulty f = faulty_start("fault_spin", false);
    struct tg_device_info info;
    faulty_wait_for_bad(&f);
    hang_soon(f.run);
    tg_run_destroy(f.run);
    f.run = NULL;
    tg_device_get_info(f.device, &info);
    CHECK(info.lost);
    faulty_end(&f);
    next_device_works();
}

CONTRACT(a_device_with_a_spinning_kernel_can_be_cancelled_at_the_cost_of_the_device)
{
    struct faulty f = faulty_start("fault_spin", false);
    faulty_wait_for_bad(&f);
    hang_soon(f.run);
    tg_run_cancel(f.run);
    REFUSED(CANCELLED, "did not stop", tg_run_wait(f.run, -1, error));
    is_lost(&f);
    faulty_end(&f);
}

static tg_status run_for_twice_the_limit(double limit)
{
    struct tg_device *device = open_device(1, 0);
    struct tg_run_config config = {.timeout = limit};
    struct slow slow = slow_make(device, 10, limit / 5, true);
    tg_status status = tg_graph_run(slow.graph, &config, NULL, NULL);
    CHECK(status == TG_HANG || slow_count(&slow, 1) == 10);
    slow_destroy(&slow);
    tg_device_close(device);
    return status;
}

CONTRACT(slow_tasks_that_make_progress_are_no_hang)
{
    CHECK_EQ_S(tg_status_name(with_limits(run_for_twice_the_limit)), "OK");
}

/* ── killed from outside ───────────────────────────────────────────────────────────────── */

static double kill_during_a_run(double after)
{
    struct faulty f = {.device = open_device(3, 0)};
    struct slow slow = slow_make(f.device, 100000, 0.0001, false);
    double killed;
    f.graph = slow.graph;
    GOOD(tg_run_start(slow.graph, &far_limit, &f.run, error));
    sleep_seconds(after);
    kill(device_pid(f.device), SIGKILL);
    killed = seconds_now();
    REFUSED(DEVICE_LOST, "was killed by signal 9", tg_run_wait(f.run, -1, error));
    killed = seconds_now() - killed;
    is_lost(&f);
    faulty_end(&f);
    return killed;
}

CONTRACT(a_device_that_is_killed_is_lost_within_a_second)
{
    uint64_t random = 5;
    struct tries took = {0};
    for (int i = 0; i < contract_rounds(ROUNDS(20, 4), 4); i++)
        tries_add(&took, kill_during_a_run((double)(next_random(&random) % 20) * 1e-3));
    CHECK(took.shortest < contract_seconds(1));
    CHECK(took.longest < AT_ONCE_SECONDS);
    next_device_works();
}

CONTRACT(a_device_that_is_killed_while_it_idles_is_lost_at_the_next_use)
{
    for (int use = 0; use < 2; use++) {
        struct tg_device *device = open_device(3, 0);
        struct slow slow = slow_make(device, 3, 0, false);
        struct tg_module *module;
        struct tg_run *run = NULL;
        struct tg_device_info info;
        int pid = device_pid(device);
        kill(pid, SIGKILL);
        while (kill(pid, 0) == 0 &&
               waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOWAIT) != 0)
            ;
        if (use == 0) {
            tg_status status = tg_run_start(slow.graph, NULL, &run, NULL);
            if (status == TG_OK)
                status = tg_run_wait(run, -1, NULL);
            CHECK_EQ_S(tg_status_name(status), "DEVICE_LOST");
            tg_run_destroy(run);
        } else {
            REFUSED(DEVICE_LOST, "killed by signal 9",
                    tg_device_load(device, workload_path("graphs"), &module, error));
        }
        tg_device_get_info(device, &info);
        CHECK(info.lost);
        slow_destroy(&slow);
        tg_device_close(device);
    }
    next_device_works();
}

CONTRACT(results_can_be_read_from_a_device_that_was_killed)
{
    if (platform->memory_dies)
        SKIP("the results are gone with the device");
    struct tg_device *device = open_device(3, 0);
    struct nodes nodes = nodes_make(device, 500);
    uint64_t random = 6;
    nodes_add_random(&nodes, 500, 4, true, &random);
    nodes_run(&nodes, 1);
    kill(device_pid(device), SIGKILL);
    sleep_seconds(0.02);
    CHECK(nodes_right(&nodes, 1));
    nodes_destroy(&nodes);
    tg_device_close(device);
}

CONTRACT(a_copy_from_a_device_that_was_killed_names_the_signal)
{
    struct tg_device *device = open_device(3, 0);
    uint64_t address;
    char bytes[64];
    if (!platform->memory_dies) {
        tg_device_close(device);
        SKIP("memory outlives the device");
    }
    GOOD(tg_device_alloc(device, sizeof bytes, &address, error));
    kill(device_pid(device), SIGKILL);
    for (int i = 0; i < 2; i++)
        REFUSED(DEVICE_LOST, "was killed by signal 9 (SIGKILL), and the GPU's memory is lost",
                tg_device_copy_out(device, bytes, address, sizeof bytes, error));
    tg_device_close(device);
}

CONTRACT(a_device_that_was_stopped_is_closed_all_the_same)
{
    struct tg_device *device = open_device(3, 0);
    int pid = device_pid(device);
    kill(pid, SIGSTOP);
    tg_device_close(device);
    CHECK_EQ_I(kill(pid, 0), -1);
}

/* ── hosts that change signals or descriptors ────────────────────────────────────────────── */

CONTRACT(a_host_that_ignores_sigchld_hears_of_faults)
{
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    struct faulty f = faulty_start("fault_abort", false);
    REFUSED(KERNEL_FAULT, "task 3, kernel fault_abort", tg_run_wait(f.run, -1, error));
    names_the_task(&f, "fault_abort", true);
    faulty_end(&f);
    next_device_works();
    signal(SIGCHLD, before);
}

static void *reap_everything(void *stop)
{
    while (!__atomic_load_n((bool *)stop, __ATOMIC_ACQUIRE))
        if (waitpid(-1, NULL, WNOHANG) <= 0)
            sleep_seconds(0.0001);
    return NULL;
}

CONTRACT(a_host_that_waits_for_every_child_gets_faults_reported)
{
    bool stop = false;
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, reap_everything, &stop) == 0);
    for (int i = 0; i < contract_rounds(10, 3); i++) {
        struct faulty f = faulty_start("fault_abort", false);
        REFUSED(KERNEL_FAULT, "task 3, kernel fault_abort", tg_run_wait(f.run, -1, error));
        faulty_end(&f);
    }
    next_device_works();
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
}

CONTRACT(a_host_that_waits_for_every_child_gets_a_killed_device_reported)
{
    bool stop = false;
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, reap_everything, &stop) == 0);
    for (int i = 0; i < contract_rounds(5, 2); i++) {
        struct tg_device *device = open_device(3, 0);
        struct slow slow = slow_make(device, 10000, 0.001, false);
        struct tg_run *run;
        GOOD(tg_run_start(slow.graph, NULL, &run, error));
        kill(device_pid(device), SIGKILL);
        CHECK_EQ_S(tg_status_name(tg_run_wait(run, -1, NULL)), "DEVICE_LOST");
        tg_run_destroy(run);
        slow_destroy(&slow);
        tg_device_close(device);
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
}

static void *open_for_another(void *device)
{
    *(struct tg_device **)device = open_device(3, 0);
    return NULL;
}

CONTRACT(a_device_outlives_the_thread_that_opened_it)
{
    struct tg_device *device = NULL;
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, open_for_another, &device) == 0);
    pthread_join(thread, NULL);
    sleep_seconds(0.05);
    struct nodes nodes = nodes_make(device, 50);
    uint64_t random = 3;
    nodes_add_random(&nodes, 50, 3, true, &random);
    nodes_run(&nodes, 1);
    nodes_destroy(&nodes);
    tg_device_close(device);
}

/* Runs it in a child process, whose descriptors and signals it may change. */
static void in_a_child(void (*what)(void))
{
    int status = -1;
    pid_t child;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        int before = test_failures_;
        if (setjmp(test_end_) == 0)
            what();
        _exit(test_failures_ != before);
    }
    waitpid(child, &status, 0);
    CHECK_EQ_I(status, 0);
}

static void without_standard_descriptors(void)
{
    close(0);
    close(1);
    close(2);
    next_device_works();
    struct tg_device *device = open_device(3, 0);
    struct slow slow = slow_make(device, 10000, 0.001, false);
    struct tg_run *run;
    GOOD(tg_run_start(slow.graph, NULL, &run, error));
    kill(device_pid(device), SIGKILL);
    CHECK_EQ_I(tg_run_wait(run, -1, NULL), TG_DEVICE_LOST);
}

CONTRACT(a_host_without_standard_descriptors_opens_devices)
{
    in_a_child(without_standard_descriptors);
}

static void with_every_signal_blocked(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    struct faulty f = faulty_start("fault_abort", false);
    REFUSED(KERNEL_FAULT, "fault_abort", tg_run_wait(f.run, -1, error));
    faulty_end(&f);
}

CONTRACT(a_host_that_blocks_every_signal_hears_of_faults)
{
    in_a_child(with_every_signal_blocked);
}

static void with_a_limit_on_descriptors(void)
{
    int fd = dup(0);
    while (fd >= 0 && fd < 4096)
        fd = fcntl(0, F_DUPFD, fd + 1);
    next_device_works();
}

CONTRACT(a_host_with_many_open_files_opens_devices)
{
    in_a_child(with_a_limit_on_descriptors);
}

TEST_MAIN()
