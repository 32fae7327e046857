/* SPDX-License-Identifier: Apache-2.0 */
/* comm.hpp and ranks.hpp: devices of several ranks in one process talk to each other, and the files of a run
 * with ranks are read. */
#include "check.hpp"
#include <taskglass/ranks.hpp>
#include <taskglass/taskglass.hpp>

#include <cstdio>
#include <cstdlib>
#include <future>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace
{

std::string folder; /* this program's own folder, in the current one */

/* One rank: its device, and a graph of a workload that communicates. Members end in the opposite order. */
struct rank {
    taskglass::device device;
    taskglass::graph graph;
    taskglass::memory x, y;

    static taskglass::device open(const taskglass::comm &comm)
    {
        tg_device_config config{};
        config.platform = "a5sim";
        config.cores = 3;
        config.memory = 64 << 20;
        taskglass::device made(config);
        made.join(comm);
        return made;
    }
    explicit rank(const taskglass::comm &comm)
        : device(open(comm)), graph(device.load(taskglass::workload("mlp").path()).create_graph()),
          x(device.upload(std::vector<float>(6, static_cast<float>(comm.rank() + 1)))),
          y(device.upload(std::vector<float>(18, 0.0f)))
    {
    }
};

std::vector<rank> open_all(const std::vector<taskglass::comm> &comms)
{
    std::vector<rank> ranks;
    ranks.reserve(comms.size());
    for (const taskglass::comm &comm : comms)
        ranks.emplace_back(comm);
    return ranks;
}

void run_all(const std::vector<rank> &ranks)
{
    std::vector<std::future<void>> ends; /* a run ends when those of the other ranks do */
    for (const rank &each : ranks)
        ends.push_back(std::async(std::launch::async, [&each] { each.graph.run(); }));
    for (std::future<void> &each : ends)
        each.get();
}

void a_process_alone_is_a_job_of_one_rank()
{
    taskglass::comm comm;
    CHECK(comm.rank() == 0 && comm.ranks() == 1);
    CHECK_THROWS(taskglass::comm::local(0), TG_BAD_ARGUMENT);
    tg_comm_config config{};
    config.transport = "pigeons";
    CHECK_THROWS(taskglass::comm(config), TG_BAD_ARGUMENT);
}

void a_device_joins_once_and_before_a_module_is_loaded()
{
    auto comms = taskglass::comm::local(2);
    rank one(comms[0]);
    CHECK_THROWS(one.device.join(comms[1]), TG_BAD_ARGUMENT);
}

void calls_reach_the_other_ranks()
{
    using taskglass::arguments;
    auto comms = taskglass::comm::local(3);
    auto ranks = open_all(comms);
    for (std::size_t r = 0; r < 3; r++) {
        const rank &own = ranks[r];
        auto next = static_cast<std::int32_t>((r + 1) % 3);
        auto last = static_cast<std::int32_t>((r + 2) % 3);
        const std::int64_t six[] = {6}, two[] = {2};
        tg_tensor piece = own.y.tensor(), part = own.y.tensor();
        piece.ndim = part.ndim = 1;
        piece.shape[0] = six[0];
        part.shape[0] = two[0];
        auto sent = own.graph.send(next, 1, arguments().in(own.x));
        auto received = own.graph.recv(last, 1, arguments().out(piece));
        auto sum = own.graph.all_reduce(TG_SUM, arguments().inout(piece).after(received));
        auto again = own.graph.all_reduce(TG_MAX, arguments().inout(own.x).after(sent));
        auto split = own.graph.reduce_scatter(
            TG_SUM, arguments().in(own.x).out(part).after(sum).after(again));
        auto all = own.graph.all_gather(arguments().in(own.x).out(own.y).after(split));
        auto cast = own.graph.broadcast(2, arguments().inout(own.x).after(all));
        CHECK(cast == 6);
        own.graph.check();
    }
    run_all(ranks);
    for (const rank &own : ranks) {
        CHECK(own.x.download<float>() == std::vector<float>(6, 3.0f));
        CHECK(own.y.download<float>() == std::vector<float>(18, 3.0f));
    }
}

void pieces_go_to_their_ranks()
{
    auto comms = taskglass::comm::local(2);
    auto ranks = open_all(comms);
    std::vector<taskglass::memory> got;
    for (const rank &own : ranks) {
        got.push_back(own.device.allocate<float>(6));
        own.graph.all_to_all(taskglass::arguments().in(own.x).out(got.back()));
    }
    run_all(ranks);
    for (const taskglass::memory &each : got)
        CHECK(each.download<float>() == (std::vector<float>{1, 1, 1, 2, 2, 2}));
}

void a_call_that_cannot_be_is_thrown()
{
    auto comms = taskglass::comm::local(2);
    rank own(comms[0]);
    CHECK_THROWS(own.graph.send(2, 0, taskglass::arguments().in(own.x)), TG_BAD_ARGUMENT);
    CHECK_THROWS(own.graph.send(1, -1, taskglass::arguments().in(own.x)), TG_BAD_ARGUMENT);
    CHECK_THROWS(own.graph.recv(1, 0, taskglass::arguments().in(own.x)), TG_BAD_ARGUMENT);
}

void calls_that_differ_are_an_error_on_all_ranks()
{
    auto comms = taskglass::comm::local(2);
    auto ranks = open_all(comms);
    ranks[0].graph.all_reduce(TG_SUM, taskglass::arguments().inout(ranks[0].x));
    ranks[1].graph.all_reduce(TG_MAX, taskglass::arguments().inout(ranks[1].x));
    auto first = ranks[0].graph.start(), second = ranks[1].graph.start();
    CHECK_THROWS(first.wait(), TG_COMM_MISMATCH);
    CHECK_THROWS(second.wait(), TG_COMM_MISMATCH);
}

/* ── the files of a run ────────────────────────────────────────────────────────────────────── */

void write_file(const std::string &path, const std::string &text)
{
    FILE *file = std::fopen(path.c_str(), "we");
    if (!file || std::fputs(text.c_str(), file) < 0 || std::fclose(file) != 0)
        throw std::runtime_error("cannot write " + path);
}

/* Two ranks, the second of which waits for a message that the first does not send. */
std::string make_directory()
{
    std::string dir = folder + "/job";
    mkdir(dir.c_str(), 0700);
    write_file(
        dir + "/ranks.json",
        R"({"version": 1, "workload": "mlp", "case": "small", "ranks": 2, "transport": "local",
 "about": "shared memory", "status": "HANG", "rank": [
 {"rank": 0, "folder": "rank0", "host": "here", "pid": 7, "local_rank": 0, "status": "OK", "error": ""},
 {"rank": 1, "folder": "rank1", "host": "here", "pid": 8, "local_rank": 1, "status": "HANG",
  "error": "no progress", "clock": {"offset_ns": "-100", "drift": 0, "at_ns": "0", "error_ns": 3,
  "samples": 4}}]})");
    for (int r = 0; r < 2; r++) {
        std::string own = dir + "/rank" + std::to_string(r);
        bool waits = r == 1;
        mkdir(own.c_str(), 0700);
        std::string call =
            R"({"task":"0000000000000005","call":"tg_recv","peer":0,"tag":3,"operation":null,"number":0,)"
            R"("dtype":"float32","elements":8,"bytes":32,"site":"a.c:33","posted_ns":"1000",)"
            R"("matched_ns":null,"done_ns":null,"state":"waits"})";
        write_file(own + "/comm.jsonl", "{\"version\":1,\"rank\":" + std::to_string(r) +
                                            ",\"ranks\":2}\n" + (waits ? call + "\n" : "") +
                                            "{\"end\":true,\"calls\":" + (waits ? "1" : "0") +
                                            "}\n");
    }
    return dir;
}

void files_are_read(const std::string &dir)
{
    taskglass::ranks ranks(dir);
    CHECK(ranks.size() == 2 && std::string(ranks.info().workload) == "mlp");
    CHECK(ranks[1].status == TG_HANG && ranks[1].clock.is_known);
    tg_ranks_clock clock = ranks[1].clock;
    CHECK(tg_ranks_time(&clock, 1000) == 900);
    CHECK_THROWS(ranks[2], TG_NOT_FOUND);
    CHECK_THROWS(ranks.recording(0), TG_NOT_FOUND);
    CHECK_THROWS(taskglass::ranks(dir + "/rank0"), TG_NOT_FOUND);
}

void calls_are_read(const std::string &dir)
{
    taskglass::ranks ranks(dir);
    CHECK(ranks.calls(0).size() == 0);
    taskglass::calls calls = ranks.calls(1);
    CHECK(calls.size() == 1 && calls.all().size() == 1 && calls.info().damaged == 0);
    tg_call call = calls[0], other{};
    CHECK(call.kind == TG_COMM_RECV && call.state == TG_CALL_WAITS && call.tag == 3);
    CHECK(std::string(call.site) == "a.c:33" && call.done_ns == TG_CALL_NEVER);
    CHECK(!ranks.calls(0).other_side(1, call, other));
    CHECK_THROWS(calls[1], TG_NOT_FOUND);
}

/* A folder's name comes from a file that may be a stranger's, and folders may have been exchanged. */
void a_rank_has_no_files_of_another(const std::string &dir)
{
    const std::string one = dir + "/rank1", aside = dir + "/aside";
    CHECK(std::rename(one.c_str(), aside.c_str()) == 0 && symlink("aside", one.c_str()) == 0);
    CHECK_THROWS(taskglass::ranks(dir).calls(1), TG_NOT_FOUND);
    CHECK(unlink(one.c_str()) == 0 && symlink("rank0", one.c_str()) == 0);
    CHECK_THROWS(taskglass::ranks(dir).recording(1), TG_NOT_FOUND);
    CHECK(unlink(one.c_str()) == 0 && std::rename((dir + "/rank0").c_str(), one.c_str()) == 0);
    CHECK_THROWS(taskglass::ranks(dir).calls(1), TG_BAD_ARGUMENT);
    CHECK_THROWS(taskglass::ranks(dir).recording(1), TG_BAD_ARGUMENT);
}

void the_files_answer_together(const std::string &dir)
{
    taskglass::ranks ranks(dir);
    taskglass::ranks_explanation why = ranks.explain();
    CHECK(!why->is_well && why->n_waits == 1 && why->wait[0].rank == 1);
    CHECK(why->wait[0].has_for && why->wait[0].waits_for == 0);
    CHECK(ranks.verify().messages == 0);
    CHECK(ranks.diff(ranks).unknown == 2);
    CHECK_THROWS(ranks.across([](const tg_ranks_same &) { return true; }), TG_NOT_FOUND);
}

} // namespace

int main()
{
    char name[] = "ranks_XXXXXX";
    if (!mkdtemp(name))
        return 1;
    folder = name;
    try {
        a_process_alone_is_a_job_of_one_rank();
        a_device_joins_once_and_before_a_module_is_loaded();
        calls_reach_the_other_ranks();
        pieces_go_to_their_ranks();
        a_call_that_cannot_be_is_thrown();
        calls_that_differ_are_an_error_on_all_ranks();
        std::string dir = make_directory();
        files_are_read(dir);
        calls_are_read(dir);
        the_files_answer_together(dir);
        a_rank_has_no_files_of_another(dir);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "ranks.cpp: %s\n", error.what());
        failures++;
    }
    if (system(("rm -rf " + folder).c_str()) != 0)
        failures++;
    std::printf("%d failed\n", failures);
    return failures != 0;
}
