// oneTBB flow graph: one continue_node per task, one make_edge per dependency.
//
// Nodes keep the default policy. With the lightweight one a re-run costs half or less for every
// shape but the chain, where it costs a little more. But it spawns no task: the body runs inside
// the predecessor's call, never on another thread, and a chain becomes recursion, which overflows a
// stack of 8 MiB between 30000 and 40000 nodes.

#include "harness.h"

#include <memory>
#include <vector>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

namespace flow = oneapi::tbb::flow;

namespace
{

using node = flow::continue_node<flow::continue_msg>;

// The calling thread takes one of the arena's places, so `cores` threads work in all.
struct runtime {
    explicit runtime(unsigned cores)
        : limit(oneapi::tbb::global_control::max_allowed_parallelism, cores),
          arena(static_cast<int>(cores))
    {
    }

    oneapi::tbb::global_control limit;
    oneapi::tbb::task_arena arena;
};

// A flow graph runs in the arena it was made in: make, run and destroy it inside execute().
class resident
{
  public:
    explicit resident(const bench_case &c)
    {
        nodes.reserve(c.tasks); // nodes must not move, because edges point at them
        for (uint64_t i = 0; i < c.tasks; i++)
            add(c, i);
    }

    void run()
    {
        for (node *source : sources)
            source->try_put(flow::continue_msg());
        graph.wait_for_all();
    }

  private:
    void add(const bench_case &c, uint64_t i)
    {
        uint64_t preds[SHAPE_MAX_PREDS];
        int count = shape_preds(c.shape, i, preds);
        bench_cell *cell = bench_cell_of(&c, i);

        nodes.emplace_back(graph, [cell](const flow::continue_msg &) { bench_task(cell); });
        for (int k = 0; k < count; k++)
            flow::make_edge(nodes[preds[k]], nodes.back());
        if (count == 0)
            sources.push_back(&nodes.back());
    }

    flow::graph graph; // declared first, because nodes unregister from it when they are destroyed
    std::vector<node> nodes;
    std::vector<node *> sources;
};

runtime &runtime_of(const bench_case *c)
{
    return *static_cast<runtime *>(c->runtime);
}

// The state of a case between open and close. It keeps the arena because close gets no case.
struct opened_graph {
    runtime &in;
    std::unique_ptr<resident> graph;
};

void *open_graph(const bench_case *c)
{
    auto *opened = new opened_graph{runtime_of(c), nullptr};

    opened->in.arena.execute([&] { opened->graph = std::make_unique<resident>(*c); });
    return opened;
}

void close_graph(void *opened)
{
    auto *graph = static_cast<opened_graph *>(opened);

    graph->in.arena.execute([&] { graph->graph.reset(); });
    delete graph;
}

bench_sample rerun(const bench_case *c, void *opened)
{
    bench_sample sample = {0, 0, false};

    runtime_of(c).arena.execute([&] {
        uint64_t begin = bench_now_ns();

        static_cast<opened_graph *>(opened)->graph->run();
        sample.total_ns = bench_now_ns() - begin;
    });
    return sample;
}

bench_sample build_run(const bench_case *c, void *)
{
    bench_sample sample = {0, 0, false};

    runtime_of(c).arena.execute([&] {
        uint64_t begin = bench_now_ns();
        auto graph = std::make_unique<resident>(*c);

        sample.build_ns = bench_now_ns() - begin;
        graph->run();
        graph.reset();
        sample.total_ns = bench_now_ns() - begin;
    });
    return sample;
}

void *start(unsigned cores)
{
    return new runtime(cores);
}

void stop(void *started)
{
    delete static_cast<runtime *>(started);
}

const bench_phase phases[] = {
    {"build_run", BENCH_PER_TASK, nullptr, build_run, nullptr},
    {"rerun", BENCH_PER_TASK, open_graph, rerun, close_graph},
    {"first", BENCH_FIRST, nullptr, build_run, nullptr},
};

const bench_peer peer = {"onetbb", phases, 3, start, stop};

} // namespace

int main(int argc, char **argv)
{
    return bench_main(&peer, argc, argv);
}
