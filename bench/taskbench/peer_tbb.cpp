// SPDX-License-Identifier: Apache-2.0
// oneTBB, two ways to write the same graph:
//
//   onetbb           a flow graph: one continue_node per task, one make_edge per dependency
//   onetbb_counters  what a programmer writes by hand: tasks in an array that count down, and a task_group
//
// Both keep their graph, and run it again.
#include "harness.h"

#include <atomic>
#include <memory>
#include <vector>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

namespace flow = oneapi::tbb::flow;

namespace
{

// Calls visit(step, column, number of the row's first task, number of that of the row before).
template <typename Visit> void for_each_task(const tb_grid &g, Visit visit)
{
    uint64_t before = 0, row = 0;

    for (uint32_t step = 0; step < g.steps; step++) {
        for (uint32_t column = 0; column < tb_row(&g, step); column++)
            visit(step, column, row, before);
        before = row;
        row += tb_row(&g, step);
    }
}

class flow_graph
{
  public:
    explicit flow_graph(const tb_case &c)
    {
        nodes.reserve(tb_tasks(&c.grid)); // nodes must not move, because edges point at them
        for_each_task(c.grid, [&](uint32_t step, uint32_t column, uint64_t, uint64_t before) {
            uint32_t inputs[TB_MAX_INPUTS], count = tb_inputs(&c.grid, step, column, inputs);

            nodes.emplace_back(graph, [&c, step, column](const flow::continue_msg &) {
                tb_task(&c.grid, c.cells, step, column);
            });
            for (uint32_t k = 0; k < count; k++)
                flow::make_edge(nodes[before + inputs[k]], nodes.back());
            if (count == 0)
                sources.push_back(&nodes.back());
        });
    }

    void run()
    {
        for (node *source : sources)
            source->try_put(flow::continue_msg());
        graph.wait_for_all();
    }

  private:
    using node = flow::continue_node<flow::continue_msg>;

    flow::graph graph; // declared first, because nodes unregister from it when they are destroyed
    std::vector<node> nodes;
    std::vector<node *> sources;
};

class counters
{
  public:
    explicit counters(const tb_case &c) : of(c), tasks(tb_tasks(&c.grid))
    {
        std::vector<uint32_t> next(tasks.size() + 1);

        for_each_input([&](uint64_t from, uint64_t to) {
            next[from + 1]++;
            tasks[to].inputs++;
        });
        for (size_t k = 0; k < tasks.size(); k++)
            tasks[k].first = next[k + 1] += next[k];
        successors.resize(next.back());
        for_each_input([&](uint64_t from, uint64_t to) {
            successors[--tasks[from].first] = static_cast<uint32_t>(to);
        });
        last_successor = next.back();
        for_each_task(c.grid, [&](uint32_t step, uint32_t column, uint64_t row, uint64_t) {
            task &t = tasks[row + column];

            t.step = step;
            t.column = column;
            t.left.store(t.inputs, std::memory_order_relaxed);
        });
    }

    void run()
    {
        for (size_t k = 0; k < tasks.size(); k++)
            if (tasks[k].inputs == 0)
                group.run([this, k] { execute(k); });
        group.wait();
    }

  private:
    struct task {
        std::atomic<uint32_t> left{0};
        uint32_t inputs = 0, first = 0, step = 0, column = 0;
    };

    template <typename Visit> void for_each_input(Visit visit)
    {
        for_each_task(of.grid, [&](uint32_t step, uint32_t column, uint64_t row, uint64_t before) {
            uint32_t inputs[TB_MAX_INPUTS], count = tb_inputs(&of.grid, step, column, inputs);

            for (uint32_t k = 0; k < count; k++)
                visit(before + inputs[k], row + column);
        });
    }

    // Goes on with the first successor that it made ready, and leaves the others to the group. The
    // decrement orders what this task wrote before what its successor reads.
    void execute(size_t number)
    {
        for (bool more = true; more;) {
            task &t = tasks[number];
            uint32_t end = number + 1 < tasks.size() ? tasks[number + 1].first : last_successor;

            tb_task(&of.grid, of.cells, t.step, t.column);
            t.left.store(t.inputs, std::memory_order_relaxed); // for the next run
            more = false;
            for (uint32_t k = t.first; k < end; k++) {
                uint32_t next = successors[k];

                if (tasks[next].left.fetch_sub(1, std::memory_order_acq_rel) != 1)
                    continue;
                if (more)
                    group.run([this, next] { execute(next); });
                else
                    number = next;
                more = true;
            }
        }
    }

    const tb_case &of;
    std::vector<task> tasks;
    std::vector<uint32_t> successors;
    uint32_t last_successor = 0;
    oneapi::tbb::task_group group;
};

// The calling thread takes one of the arena's places. A graph runs in the arena it was made in: make,
// run and destroy it inside execute().
template <typename Graph> struct opened {
    explicit opened(unsigned workers)
        : limit(oneapi::tbb::global_control::max_allowed_parallelism, workers),
          arena(static_cast<int>(workers))
    {
    }

    oneapi::tbb::global_control limit;
    oneapi::tbb::task_arena arena;
    std::unique_ptr<Graph> graph;
};

// Starts the threads: a first run is about the graph.
template <typename Graph> void *open_arena(tb_case *c)
{
    auto *o = new opened<Graph>(c->workers);
    std::atomic<int> sum{0};

    o->arena.execute([&] { oneapi::tbb::parallel_for(0, 10000, [&](int k) { sum += k; }); });
    return o;
}

template <typename Graph> void first(tb_case *c, void *p)
{
    auto *o = static_cast<opened<Graph> *>(p);

    o->arena.execute([&] {
        o->graph = std::make_unique<Graph>(*c);
        o->graph->run();
    });
}

template <typename Graph> void again(tb_case *, void *p)
{
    auto *o = static_cast<opened<Graph> *>(p);

    o->arena.execute([&] { o->graph->run(); });
}

template <typename Graph> void close_arena(void *p)
{
    auto *o = static_cast<opened<Graph> *>(p);

    o->arena.execute([&] { o->graph.reset(); });
    delete o;
}

template <typename Graph> tb_system system_of(const char *name)
{
    return {name, open_arena<Graph>, first<Graph>, again<Graph>, nullptr, close_arena<Graph>};
}

} // namespace

int main(int argc, char **argv)
{
    const tb_system systems[] = {system_of<flow_graph>("onetbb"),
                                 system_of<counters>("onetbb_counters")};

    return tb_main(systems, 2, argc, argv);
}
