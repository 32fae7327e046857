/* SPDX-License-Identifier: Apache-2.0 */
/* A user's program in C++, built against the installed library. */
#include <cstdio>
#include <taskglass/taskglass.hpp>
#include <vector>

int main()
{
    taskglass::device device;
    auto x = device.upload(std::vector<float>(1000, 1.5f)), y = device.allocate<float>(1000);
    auto graph = device.load(taskglass::workload("vector_add").path()).create_graph();
    graph.add("vector_add_tile", taskglass::arguments().in(x).in(x).out(y));
    graph.run();
    std::printf("C++: 1.5 + 1.5 = %g on %s\n", static_cast<double>(y.download<float>().at(999)),
                device.info().platform);
    return y.download<float>() != std::vector<float>(1000, 3.0f);
}
