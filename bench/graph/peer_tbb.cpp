// SPDX-License-Identifier: Apache-2.0
// oneTBB's flow graph: one continue_node per task, whose body holds what a task of Taskglass holds:
// three tensors of two dimensions and a scalar.
#include "harness.h"

#include <deque>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

namespace flow = oneapi::tbb::flow;

namespace
{

struct tile {
    float *start;
    int64_t shape[2], strides[2];
};

// What the body captures; volatile, so that the compiler keeps it.
struct arguments {
    tile a, b, c;
    float scalar;
};

volatile float seen;

class graph_of_tasks
{
  public:
    void build(uint64_t tasks)
    {
        for (uint64_t i = 0; i < tasks; i++) {
            arguments args = {};
            args.a.shape[0] = static_cast<int64_t>(i);
            nodes.emplace_back(graph, [args](const flow::continue_msg &) { seen = args.scalar; });
            if (i > 0)
                flow::make_edge(nodes[i - 1], nodes[i]);
            if (i >= COLUMNS)
                flow::make_edge(nodes[i - COLUMNS], nodes[i]);
        }
    }

    void run()
    {
        nodes[0].try_put(flow::continue_msg());
        graph.wait_for_all();
    }

  private:
    flow::graph graph; // first, because nodes unregister from it when they are destroyed
    std::deque<flow::continue_node<flow::continue_msg>> nodes; // grows without moving
};

void measure(figures &f, int repeat)
{
    uint64_t before = touched(), begin = now_ns();
    graph_of_tasks *g = new graph_of_tasks;
    g->build(f.tasks);
    f.build_ns = now_ns() - begin;
    g->run();
    f.first_ns = now_ns() - begin;
    f.bytes = touched() - before;
    f.again_ns = UINT64_MAX;
    for (int i = 0; i < repeat; i++) {
        begin = now_ns();
        g->run();
        uint64_t took = now_ns() - begin;
        f.again_ns = took < f.again_ns ? took : f.again_ns;
    }
    begin = now_ns();
    delete g;
    g = new graph_of_tasks;
    g->build(f.tasks);
    g->run();
    f.next_ns = now_ns() - begin;
    delete g;
}

} // namespace

int main(int argc, char **argv)
{
    figures f = {};
    f.tasks = argc > 1 ? strtoull(argv[1], nullptr, 10) : 100000;
    int repeat = argc > 2 ? atoi(argv[2]) : 5;
    oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, 1);
    oneapi::tbb::task_arena arena(1);
    arena.execute([&] { measure(f, repeat); });
    print_figures("onetbb", &f);
    return 0;
}
