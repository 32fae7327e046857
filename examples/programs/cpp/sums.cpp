/* SPDX-License-Identifier: Apache-2.0 */
/* sums DIR: the same as c/sums.c. Handles close themselves, and a call that fails throws. */
#include <cstdio>
#include <numeric>
#include <taskglass/taskglass.hpp>
#include <vector>

static void run(const char *folder)
{
    tg_device_config config{};
    config.platform = "a5sim";
    taskglass::device device(config);
    std::vector<float> values(1024);
    std::iota(values.begin(), values.end(), 0.0f);
    auto x = device.upload(values);
    auto t = device.allocate<float>(1024);
    auto y = device.allocate<float>(1024);

    auto graph = device.load(taskglass::workload("vector_add").path()).create_graph();
    auto first = graph.add("vector_add_tile", taskglass::arguments().in(x).in(x).out(t));
    graph.add("vector_add_tile", taskglass::arguments().in(t).in(x).out(y).after(first));

    tg_record_config record{};
    record.level = TG_LEVEL_FULL;
    record.output_dir = folder;
    tg_run_config how{};
    how.record = &record;
    graph.run(how);
    std::printf("y ends in %g\n", static_cast<double>(y.download<float>().back()));
}

static void read_back(const char *folder)
{
    taskglass::recording recording(folder);
    for (const auto &record : recording.select({{"stage", "after"}})) {
        auto values = record.values<float>();
        std::printf("task %llu wrote %g to %g\n", static_cast<unsigned long long>(record.task()),
                    static_cast<double>(values.front()), static_cast<double>(values.back()));
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: sums DIR\n");
        return 2;
    }
    try {
        run(argv[1]);
        read_back(argv[1]);
        return 0;
    } catch (const taskglass::error &error) {
        std::fprintf(stderr, "sums: %s\n", error.what());
        return error.exit_code();
    }
}
