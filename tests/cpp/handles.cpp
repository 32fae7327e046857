/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass.hpp: handles close themselves, failures throw, and values arrive. */
#include "check.hpp"
#include <taskglass/taskglass.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <unistd.h>

namespace
{

std::string folder; /* this program's own folder, in the current one */

template <class Object> constexpr bool moves_only()
{
    return std::is_nothrow_move_constructible_v<Object> &&
           std::is_nothrow_move_assignable_v<Object> && !std::is_copy_constructible_v<Object> &&
           !std::is_copy_assignable_v<Object>;
}
static_assert(moves_only<taskglass::settings>() && moves_only<taskglass::device>() &&
              moves_only<taskglass::memory>() && moves_only<taskglass::graph>() &&
              moves_only<taskglass::run>() && moves_only<taskglass::workload>() &&
              moves_only<taskglass::execution>() && moves_only<taskglass::query>() &&
              moves_only<taskglass::recording>());
static_assert(taskglass::dtype_of<float> == TG_FLOAT32 && taskglass::dtype_of<long> == TG_INT64 &&
              taskglass::dtype_of<unsigned char> == TG_UINT8 &&
              taskglass::dtype_of<bool> == TG_BOOL);

taskglass::device open(const char *platform)
{
    tg_device_config config{};
    config.platform = platform;
    config.cores = 3;
    config.memory = 256 << 20;
    return taskglass::device(config);
}

std::string path_of(const char *name)
{
    return taskglass::workload(name).path();
}

void errors_say_what_and_what_to_do()
{
    try {
        taskglass::workload("no_such_workload");
        CHECK(false);
    } catch (const taskglass::error &error) {
        CHECK(error.status() == TG_NOT_FOUND && error.exit_code() == 2);
        CHECK(std::string(error.name()) == "NOT_FOUND" && *error.advice());
        CHECK(std::string(error.what()).find("NOT_FOUND: no workload 'no_such_workload'") == 0);
        CHECK(error.get().status == TG_NOT_FOUND && *error.text());
    }
}

void settings_are_set()
{
    taskglass::settings settings{{"cores", "6"}, {"timeout", "2.5"}};
    CHECK(settings.count("cores") == 6 && settings.seconds("timeout") == 2.5);
    CHECK(!settings.set("deps", "no").flag("deps") && settings.text("cores") == "6");
    CHECK_THROWS(settings.set("cores", "many"), TG_BAD_ARGUMENT);
    CHECK_THROWS(settings.set("colour", "red"), TG_NOT_FOUND);
    taskglass::settings moved(std::move(settings));
    CHECK(moved.count("cores") == 6 && !settings.get());
}

void memory_goes_there_and_back(const char *platform)
{
    auto device = open(platform);
    std::uint64_t before = device.info().memory_used;
    {
        std::vector<std::int16_t> values{1, -2, 3};
        taskglass::memory memory = device.upload(values);
        CHECK(memory.download<std::int16_t>() == values && memory.size() == 3);
        CHECK((memory.map<std::int16_t>() != nullptr) == device.info().host_sees_memory);
        CHECK_THROWS(memory.download<float>(), TG_BAD_ARGUMENT);
        CHECK_THROWS(memory.upload(std::vector<std::int16_t>(4)), TG_BAD_ARGUMENT);
        taskglass::memory other = device.allocate(TG_BFLOAT16, {2, 3});
        other = std::move(memory);
        CHECK(other.download<std::int16_t>() == values);
        CHECK(device.info().memory_used > before);
        CHECK_THROWS(device.allocate(TG_FLOAT32, {-1}), TG_BAD_ARGUMENT);
        CHECK_THROWS(device.allocate<double>(1 << 30), TG_NO_MEMORY);
    }
    CHECK(device.info().memory_used == before);
}

void a_device_ends_with_its_object()
{
    pid_t pid;
    {
        auto device = open("a5sim");
        auto moved = std::move(device);
        pid = moved.info().pid;
        CHECK(pid > 0 && access(("/proc/" + std::to_string(pid)).c_str(), F_OK) == 0);
    }
    CHECK(access(("/proc/" + std::to_string(pid)).c_str(), F_OK) != 0);
    tg_device_config config{};
    config.platform = "a9sim";
    CHECK_THROWS(taskglass::device(config), TG_NOT_FOUND);
}

void a_graph_computes_and_records(const char *platform)
{
    auto device = open(platform);
    auto kernels = device.load(path_of("vector_add"));
    auto x = device.upload(std::vector<float>(100, 1.0f));
    auto y = device.upload(std::vector<float>(100, 0.0f));
    auto graph = kernels.create_graph();
    std::uint64_t last = TG_TASK_NONE;
    for (int i = 0; i < 20; i++) {
        taskglass::arguments arguments;
        arguments.in(x).in(y).out(y);
        if (i > 0)
            arguments.after(last);
        last = graph.add("vector_add_tile", arguments);
    }
    CHECK(graph.tasks() == 20 && graph.edges() == 19);
    graph.check();

    std::string output = folder + "/" + platform;
    tg_record_config record{};
    record.level = TG_LEVEL_FULL;
    record.output_dir = output.c_str();
    tg_run_config config{};
    config.record = &record;
    CHECK(system(("mkdir -p " + output).c_str()) == 0);
    tg_run_result result = graph.run(config);
    CHECK(result.finished == 20 && result.record.summary.recorded == 60);
    CHECK(y.download<float>() == std::vector<float>(100, 20.0f));

    taskglass::recording recording(output);
    float sum = 0;
    for (const auto &each : recording.select({{"stage", "after"}, {"task", "5-9"}})) {
        CHECK(each.kernel() == "vector_add_tile" && std::string(each.role()) == "output");
        CHECK(each.shape() == std::vector<std::int64_t>{100});
        CHECK(std::string(each.dtype()) == "float32" && !each.is_scalar());
        sum += each.values<float>().at(99);
    }
    CHECK(sum == 6 + 7 + 8 + 9 + 10);
    taskglass::query twelve;
    twelve.add("task", "12").add("arg", "0");
    for (const auto &each : recording.select(twelve))
        CHECK(each.task() == 12 && each.get().arg_index == 0);
    std::uint64_t count = 0;
    for (const auto &each : recording)
        count += each.index() == count && each.size() == 400;
    CHECK(count == 60 && recording.size() == 60 && recording.info().complete);
    CHECK(recording.at(7).index() == 7);
    CHECK_THROWS(recording.at(60), TG_NOT_FOUND);
}

void mistakes_are_thrown()
{
    auto device = open("a2a3sim");
    auto kernels = device.load(path_of("vector_add"));
    auto x = device.upload(std::vector<float>(4, 1.0f));
    auto graph = kernels.create_graph();
    CHECK_THROWS(device.load("./no/such.so"), TG_NOT_FOUND);
    CHECK_THROWS(kernels.kernel("subtract"), TG_NOT_FOUND);
    CHECK_THROWS(graph.add("subtract", taskglass::arguments()), TG_NOT_FOUND);
    CHECK_THROWS(graph.add("vector_add_tile", taskglass::arguments().in(x)), TG_BAD_ARGUMENT);
    auto good = [&] { return taskglass::arguments().in(x).in(x).out(x); };
    auto a = graph.add("vector_add_tile", good()), b = graph.add("vector_add_tile", good());
    graph.add_edge(a, b);
    graph.add_edge(b, a);
    CHECK_THROWS(graph.run(), TG_CYCLE);
    graph.clear();
    CHECK(graph.tasks() == 0);
    graph.add("vector_add_tile", good());
    graph.reset();
    CHECK(graph.tasks() == 0);
    graph.add("vector_add_tile", good());
    graph.run();
    CHECK_THROWS(taskglass::recording("no/such/place"), TG_NOT_FOUND);
    CHECK_THROWS(taskglass::query({{"stage", "during"}}), TG_BAD_ARGUMENT);
}

void scalars_and_mixes_arrive()
{
    auto device = open("a5sim");
    auto kernels = device.load(path_of("mix"));
    auto x = device.upload(std::vector<float>(256, 2.0f));
    auto y = device.allocate(TG_FLOAT32, {16, 16}), z = device.allocate(TG_FLOAT32, {16, 16});
    auto graph = kernels.create_graph();
    std::int64_t square[] = {16, 16};
    tg_tensor shaped = tg_tensor_reshape(x, 2, square);
    auto scaled = graph.add("mix_scale", taskglass::arguments().in(shaped).out(y).scalar(1.5f));
    graph.add_mix("", "mix_row_shift", "mix_row_shift",
                  taskglass::arguments().in(shaped).out(y).out(z).after(scaled).mark_task());
    CHECK(graph.run().finished == 2);
    CHECK_THROWS(graph.add("mix_scale", taskglass::arguments().in(shaped).out(y).scalar(1.5)),
                 TG_BAD_ARGUMENT);
}

void what_is_marked_is_recorded()
{
    auto device = open("a5sim");
    auto graph = device.load(path_of("mix")).create_graph();
    auto x = device.upload(std::vector<float>(256, 2.0f)), y = device.allocate<float>(256);
    auto given = [&](float factor) { return taskglass::arguments().in(x).out(y).scalar(factor); };
    graph.add("mix_scale", given(1.0f));
    graph.add("mix_scale", given(2.0f).mark_scalar(0).after(0));
    graph.add("mix_scale", given(3.0f).mark(1).after(1));
    CHECK_THROWS(given(1.0f).mark_scalar(TG_MAX_SCALARS), TG_BAD_ARGUMENT);
    CHECK_THROWS(given(1.0f).mark(64), TG_BAD_ARGUMENT);

    std::string output = folder + "/marked";
    tg_record_config record{};
    record.level = TG_LEVEL_MARKED;
    record.output_dir = output.c_str();
    tg_run_config config{};
    config.record = &record;
    CHECK(system(("mkdir -p " + output).c_str()) == 0);
    graph.run(config);
    taskglass::recording recording(output);
    CHECK(recording.size() == 2);
    for (const auto &each : recording) {
        CHECK(each.task() == (each.is_scalar() ? 1u : 2u));
        CHECK(each.get().arg_index == (each.is_scalar() ? 2 : 1));
    }
}

void an_orchestration_runs_on_the_device()
{
    auto device = open("a5sim");
    auto kernels = device.load(path_of("vector_add"));
    auto x = device.upload(std::vector<float>(1000, 1.0f)), y = device.allocate<float>(1000);
    auto graph =
        kernels.orchestrate(taskglass::arguments().in(x).in(x).out(y).scalar(std::int64_t{64}),
                            TG_RUNTIME_TENSORMAP_AND_RINGBUFFER);
    auto run = graph.start();
    while (!run.wait(0.01))
        ;
    run.wait();
    CHECK(run.result().finished == 16 && run.progress().first == 16);
    CHECK(y.download<float>() == std::vector<float>(1000, 2.0f));
}

void a_run_can_be_cancelled()
{
    auto device = open("a2a3sim");
    auto graph = device.load(std::string(std::getenv("TASKGLASS_TEST_WORKLOADS")) + "/slow.so")
                     .create_graph();
    auto count = device.allocate<std::int32_t>(1);
    for (std::uint64_t i = 0; i < 2000; i++) {
        taskglass::arguments arguments;
        arguments.inout(count).scalar(std::int64_t{5000000});
        if (i > 0)
            arguments.after(i - 1);
        graph.add("slow_wait", arguments);
    }
    {
        auto run = graph.start();
        CHECK(!run.wait(0.01));
        CHECK_THROWS(graph.start(), TG_BUSY);
        std::thread other([&] { run.cancel(); });
        CHECK_THROWS(run.wait(), TG_CANCELLED);
        other.join();
    }
    auto left_alone = graph.start(); /* its destructor cancels the run */
}

void a_workload_runs_from_end_to_end()
{
    taskglass::settings settings{{"output", folder + "/whole"}, {"dump-tensor", "full"}};
    taskglass::workload workload("vector_add", settings);
    CHECK(std::string(workload.description().name) == "vector_add");
    taskglass::execute_options options;
    options.case_name = "small";
    options.set = {"n=512"};
    unsigned told = 0;
    options.progress = [&](tg_phase, std::uint64_t, std::uint64_t) { return ++told > 0; };
    taskglass::execution execution(settings, workload, options);
    CHECK(execution.check().ok() && told >= 5 && execution.output_dir() == folder + "/whole");
    CHECK(execution.run_json().find("\"n\": \"512\"") != std::string::npos);
    tg_output output = execution.output("c");
    CHECK(output.size == 512 * 4 && output.dtype == TG_FLOAT32 && output.shape[0] == 512);
    CHECK_THROWS(execution.output("d"), TG_NOT_FOUND);

    taskglass::recording recording(execution.output_dir());
    std::string path = folder + "/x.csv";
    tg_export_config config{};
    config.format = "csv";
    config.path = path.c_str();
    CHECK(recording.write(config).written == recording.size());
    CHECK_THROWS(recording.write(config), TG_BAD_ARGUMENT);
}

void an_execution_that_failed_tells()
{
    std::string faults = std::string(std::getenv("TASKGLASS_TEST_WORKLOADS")) + "/faults.so";
    taskglass::settings settings{{"output", folder + "/failed"}};
    taskglass::workload workload(faults, settings);
    taskglass::execute_options options;
    options.case_name = "null";
    taskglass::execution execution(settings, workload, options);
    CHECK(!execution.ok() && execution.info().run.n_running == 1);
    CHECK_THROWS(execution.check(), TG_KERNEL_FAULT);
    options.case_name = "no such case";
    CHECK_THROWS(taskglass::execution(settings, workload, options), TG_NOT_FOUND);
}

void what_progress_throws_comes_out()
{
    taskglass::settings settings{{"output", folder + "/thrown"}};
    taskglass::workload workload("vector_add", settings);
    taskglass::execute_options options;
    options.progress = [](tg_phase phase, std::uint64_t, std::uint64_t) -> bool {
        if (phase == TG_PHASE_BUILD)
            throw std::logic_error("enough");
        return true;
    };
    try {
        taskglass::execution execution(settings, workload, options);
        CHECK(false);
    } catch (const std::logic_error &error) {
        CHECK(std::string(error.what()) == "enough");
    }
}

} // namespace

int main()
{
    char name[] = "handles_XXXXXX";
    if (!mkdtemp(name))
        return 1;
    folder = name;
    try {
        errors_say_what_and_what_to_do();
        settings_are_set();
        for (const char *platform : {"a2a3sim", "a5sim"}) {
            memory_goes_there_and_back(platform);
            a_graph_computes_and_records(platform);
        }
        a_device_ends_with_its_object();
        mistakes_are_thrown();
        scalars_and_mixes_arrive();
        what_is_marked_is_recorded();
        an_orchestration_runs_on_the_device();
        a_run_can_be_cancelled();
        a_workload_runs_from_end_to_end();
        an_execution_that_failed_tells();
        what_progress_throws_comes_out();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "handles.cpp: %s\n", error.what());
        failures++;
    }
    if (system(("rm -rf " + folder).c_str()) != 0)
        failures++;
    std::printf("%d failed\n", failures);
    return failures != 0;
}
