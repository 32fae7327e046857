/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taskglass for C++17: the C interface with handles that close themselves, and exceptions. There are
 * only headers; link libtaskglass as C programs do. recording.hpp alone is enough to read
 * recordings, and ranks.hpp to read runs of several ranks.
 *
 *     taskglass::device device({.platform = "a5sim"});            // C++20; in C++17 set members
 *     auto x = device.upload(std::vector<float>(1024, 1.0f));
 *     auto y = device.allocate<float>(1024);
 *     auto graph = device.load("./scale.so").create_graph();
 *     graph.add("scale", taskglass::arguments().in(x).out(y).scalar(0.5f));
 *     graph.run();
 *     std::vector<float> result = y.download<float>();
 *
 * Objects can be moved but not copied. A moved-from or default-constructed object is empty; only
 * assign to it or destroy it. A call that fails throws taskglass::error, which has the status, its
 * name, exit code and advice. An object must not outlive the object it was made from: graphs and
 * memory their device, runs their graph; nor a device the comm that it joined. For functions that
 * this header lacks, get() returns the C object; its contract, threads included, is in the C headers.
 */
#ifndef TASKGLASS_TASKGLASS_HPP
#define TASKGLASS_TASKGLASS_HPP

#include <taskglass/comm.hpp>
#include <taskglass/outputs.h>
#include <taskglass/recording.hpp>
#include <taskglass/taskglass.h>
#include <taskglass/workload.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace taskglass
{

/* ── settings ──────────────────────────────────────────────────────────────────────────────── */

/* Settings by name, as options of the command line have them. */
class settings
{
  public:
    /* Starts with the defaults and the values of the environment. */
    settings()
    {
        tg_settings *made = nullptr;
        detail::call(tg_settings_create, &made);
        handle_.reset(made);
    }
    settings(std::initializer_list<std::pair<const char *, std::string>> values) : settings()
    {
        for (const auto &value : values)
            set(value.first, value.second);
    }

    settings &set(const std::string &name, const std::string &value)
    {
        detail::call(tg_settings_set, get(), name.c_str(), value.c_str());
        return *this;
    }
    std::string text(const std::string &name) const
    {
        return tg_settings_text(get(), name.c_str());
    }
    std::uint64_t count(const std::string &name) const
    {
        return tg_settings_count(get(), name.c_str());
    }
    double seconds(const std::string &name) const
    {
        return tg_settings_seconds(get(), name.c_str());
    }
    bool flag(const std::string &name) const
    {
        return tg_settings_flag(get(), name.c_str());
    }

    tg_settings *get() const noexcept
    {
        return handle_.get();
    }

  private:
    detail::handle<tg_settings, tg_settings_destroy> handle_;
};

/* ── devices and their memory ──────────────────────────────────────────────────────────────── */

class device;
class graph;

/* Device memory with a shape; the destructor frees it. tensor.h makes views of it. */
class memory
{
  public:
    memory() = default;
    memory(tg_device *device, tg_dtype dtype, const std::vector<std::int64_t> &shape)
        : device_(device),
          tensor_(tg_tensor_make(0, dtype, static_cast<int>(shape.size()), shape.data()))
    {
        if (tensor_.dtype == TG_DTYPE_NONE)
            throw error(TG_BAD_ARGUMENT, "a tensor of that shape cannot be");
        detail::call(tg_device_alloc, device, tensor_.storage_bytes, &tensor_.addr);
    }
    memory(memory &&other) noexcept
    {
        swap(other);
    }
    memory &operator=(memory &&other) noexcept
    {
        memory(std::move(other)).swap(*this);
        return *this;
    }
    memory(const memory &) = delete;
    memory &operator=(const memory &) = delete;
    ~memory()
    {
        if (device_)
            tg_device_free(device_, tensor_.addr, nullptr);
    }

    const tg_tensor &tensor() const noexcept
    {
        return tensor_;
    }
    operator const tg_tensor &() const noexcept
    {
        return tensor_;
    }
    std::uint64_t bytes() const noexcept
    {
        return tensor_.storage_bytes;
    }
    std::size_t size() const noexcept
    {
        return static_cast<std::size_t>(tg_tensor_numel(&tensor_));
    }

    void write(const void *data, std::uint64_t size)
    {
        detail::call(tg_device_copy_in, device_, tensor_.addr, data, size);
    }
    void read(void *data, std::uint64_t size) const
    {
        detail::call(tg_device_copy_out, device_, data, tensor_.addr, size);
    }
    template <class T> void upload(const std::vector<T> &values)
    {
        check<T>(values.size());
        write(values.data(), bytes());
    }
    /* T holds one element, so it must have the size of the element type. */
    template <class T> std::vector<T> download() const
    {
        std::vector<T> values(size());
        check<T>(values.size());
        read(values.data(), bytes());
        return values;
    }
    /* The host's pointer to it; nullptr on a platform that does not let the host see its memory. */
    template <class T> T *map() const
    {
        return static_cast<T *>(tg_device_map(device_, tensor_.addr, tensor_.storage_bytes));
    }

    void swap(memory &other) noexcept
    {
        std::swap(device_, other.device_);
        std::swap(tensor_, other.tensor_);
    }

  private:
    template <class T> void check(std::size_t count) const
    {
        static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>,
                      "elements are copied as they lie; take std::uint8_t for bool");
        if (count != size() || count * sizeof(T) != bytes())
            throw error(TG_BAD_ARGUMENT, std::to_string(count) + " elements of " +
                                             std::to_string(sizeof(T)) + " bytes for a tensor of " +
                                             std::to_string(bytes()) + " bytes");
    }

    tg_device *device_ = nullptr;
    tg_tensor tensor_ = tg_tensor_none();
};

/* The arguments of a task: tensors and scalars in the order of the calls, and tasks to wait for. */
class arguments
{
  public:
    arguments()
    {
        tg_args_init(&args_);
    }

    arguments &in(const tg_tensor &tensor)
    {
        return put(TG_IN, tensor);
    }
    arguments &out(const tg_tensor &tensor)
    {
        return put(TG_OUT, tensor);
    }
    arguments &inout(const tg_tensor &tensor)
    {
        return put(TG_INOUT, tensor);
    }
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> arguments &scalar(T value)
    {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof value);
        return scalar(dtype_of<T>, bits);
    }
    /* A scalar of any type of 8 bits or more, from its bits. */
    arguments &scalar(tg_dtype dtype, std::uint64_t bits)
    {
        tg_args_bits(&args_, dtype, bits);
        return *this;
    }
    arguments &after(std::uint64_t task)
    {
        after_.push_back(task);
        return *this;
    }
    /* Marks tensor i, scalar i (counted among the scalars), or all arguments, for the recorder's levels
     * `marked` and `hybrid`. Arguments that are added later can be marked before. */
    arguments &mark(std::uint32_t i)
    {
        check_mark("tensor", i, TG_MAX_TENSORS);
        tg_args_mark_tensor(&args_, i);
        return *this;
    }
    arguments &mark_scalar(std::uint32_t i)
    {
        check_mark("scalar", i, TG_MAX_SCALARS);
        tg_args_mark_scalar(&args_, i);
        return *this;
    }
    arguments &mark_task()
    {
        tg_args_mark_task(&args_);
        return *this;
    }

    /* Valid until this object is changed or destroyed. */
    const tg_args *get() const noexcept
    {
        tg_args_after_all(&args_, after_.data(), static_cast<std::uint32_t>(after_.size()));
        return &args_;
    }

  private:
    static void check_mark(const char *what, std::uint32_t i, std::uint32_t most)
    {
        if (i >= most)
            throw error(TG_BAD_ARGUMENT, "cannot mark " + std::string(what) + " " +
                                             std::to_string(i) + "; a task has up to " +
                                             std::to_string(most));
    }

    arguments &put(tg_role role, const tg_tensor &tensor)
    {
        tg_args_put(&args_, role, &tensor);
        return *this;
    }

    mutable tg_args args_;
    std::vector<std::uint64_t> after_;
};

/* A workload's kernels on a device. It belongs to the device, and this object can be copied. */
class kernel_module
{
  public:
    explicit kernel_module(tg_module *made) noexcept : module_(made) {}

    std::uint32_t kernel(const std::string &name) const
    {
        std::uint32_t number = tg_module_kernel(module_, name.c_str());
        if (number == TG_NO_KERNEL)
            throw error(TG_NOT_FOUND, "the module has no kernel '" + name + "'");
        return number;
    }
    /* An empty graph, or the graph that the orchestration function builds from these arguments. */
    inline graph create_graph() const;
    inline graph orchestrate(const arguments &arguments,
                             tg_runtime_kind runtime = TG_RUNTIME_HOST_BUILD_GRAPH,
                             const tg_rings *rings = nullptr) const;

    tg_module *get() const noexcept
    {
        return module_;
    }

  private:
    tg_module *module_;
};

/* A device; the destructor closes it. */
class device
{
  public:
    explicit device(const tg_device_config &config = tg_device_config())
    {
        tg_device *made = nullptr;
        detail::call(tg_device_open, &config, &made);
        handle_.reset(made);
    }

    tg_device_info info() const
    {
        tg_device_info info{};
        tg_device_get_info(get(), &info);
        return info;
    }
    /* Its runs are this rank's part of the job. It joins before a module is loaded. */
    void join(const comm &comm) const
    {
        detail::call(tg_device_join, get(), comm.get());
    }
    /* Loads a module by its path. */
    kernel_module load(const std::string &path) const
    {
        tg_module *made = nullptr;
        detail::call(tg_device_load, get(), path.c_str(), &made);
        return kernel_module(made);
    }
    memory allocate(tg_dtype dtype, const std::vector<std::int64_t> &shape) const
    {
        return memory(get(), dtype, shape);
    }
    template <class T> memory allocate(std::int64_t elements) const
    {
        return memory(get(), dtype_of<T>, {elements});
    }
    template <class T> memory upload(const std::vector<T> &values) const
    {
        memory made = allocate<T>(static_cast<std::int64_t>(values.size()));
        made.upload(values);
        return made;
    }

    tg_device *get() const noexcept
    {
        return handle_.get();
    }

  private:
    detail::handle<tg_device, tg_device_close> handle_;
};

/* ── graphs and runs ───────────────────────────────────────────────────────────────────────── */

/* A run; the destructor cancels it if it has not ended. */
class run
{
  public:
    run(tg_graph *graph, const tg_run_config *config)
    {
        tg_run *made = nullptr;
        detail::call(tg_run_start, graph, config, &made);
        handle_.reset(made);
    }

    /* Waits for the end; throws if the run failed. */
    void wait() const
    {
        detail::call(tg_run_wait, get(), -1.0);
    }
    /* Waits up to a limit; false if the run has not ended. */
    bool wait(double seconds) const
    {
        tg_error why{};
        tg_status status = tg_run_wait(get(), seconds, &why);
        if (status == TG_OK || status == TG_TIMED_OUT)
            return status == TG_OK;
        why.status = status;
        throw error(why);
    }
    /* Any thread may call it. */
    void cancel() const noexcept
    {
        tg_run_cancel(get());
    }
    /* Tasks finished so far, and in total. */
    std::pair<std::uint64_t, std::uint64_t> progress() const noexcept
    {
        std::pair<std::uint64_t, std::uint64_t> now;
        tg_run_progress(get(), &now.first, &now.second);
        return now;
    }
    tg_run_result result() const noexcept
    {
        tg_run_result result{};
        tg_run_get_result(get(), &result);
        return result;
    }

    tg_run *get() const noexcept
    {
        return handle_.get();
    }

  private:
    detail::handle<tg_run, tg_run_destroy> handle_;
};

/* A graph of tasks; the destructor frees it. */
class graph
{
  public:
    graph(tg_graph *made, const kernel_module &kernels) noexcept : kernels_(kernels), handle_(made)
    {
    }

    /* Returns the task's id. */
    std::uint64_t add(const std::string &kernel, const arguments &arguments) const
    {
        std::uint64_t task = TG_TASK_NONE;
        detail::call(tg_graph_add, get(), kernels_.kernel(kernel), arguments.get(), &task);
        return task;
    }
    /* Adds a mix; "" for an empty part. */
    std::uint64_t add_mix(const std::string &aic, const std::string &aiv0, const std::string &aiv1,
                          const arguments &arguments) const
    {
        const std::string *names[TG_PARTS] = {&aic, &aiv0, &aiv1};
        std::uint32_t kernel[TG_PARTS];
        std::uint64_t task = TG_TASK_NONE;
        for (int part = 0; part < TG_PARTS; part++)
            kernel[part] = names[part]->empty() ? TG_NO_KERNEL : kernels_.kernel(*names[part]);
        detail::call(tg_graph_add_mix, get(), kernel, arguments.get(), &task);
        return task;
    }
    /* Calls of communication with other ranks. orchestration.h says which arguments each has:
     * graph.send(1, 0, taskglass::arguments().in(x).after(task)). */
    std::uint64_t send(std::int32_t peer, std::int32_t tag, const arguments &arguments) const
    {
        return communicate(TG_COMM_SEND, peer, tag, TG_COMM_NONE, arguments);
    }
    std::uint64_t recv(std::int32_t peer, std::int32_t tag, const arguments &arguments) const
    {
        return communicate(TG_COMM_RECV, peer, tag, TG_COMM_NONE, arguments);
    }
    std::uint64_t broadcast(std::int32_t root, const arguments &arguments) const
    {
        return communicate(TG_COMM_BROADCAST, root, TG_COMM_NONE, TG_COMM_NONE, arguments);
    }
    std::uint64_t all_reduce(tg_reduction operation, const arguments &arguments) const
    {
        return communicate(TG_COMM_ALL_REDUCE, TG_COMM_NONE, TG_COMM_NONE, operation, arguments);
    }
    std::uint64_t reduce_scatter(tg_reduction operation, const arguments &arguments) const
    {
        return communicate(TG_COMM_REDUCE_SCATTER, TG_COMM_NONE, TG_COMM_NONE, operation,
                           arguments);
    }
    std::uint64_t all_gather(const arguments &arguments) const
    {
        return communicate(TG_COMM_ALL_GATHER, TG_COMM_NONE, TG_COMM_NONE, TG_COMM_NONE, arguments);
    }
    std::uint64_t all_to_all(const arguments &arguments) const
    {
        return communicate(TG_COMM_ALL_TO_ALL, TG_COMM_NONE, TG_COMM_NONE, TG_COMM_NONE, arguments);
    }
    void add_edge(std::uint64_t before, std::uint64_t after) const
    {
        detail::call(tg_graph_add_edge, get(), before, after);
    }
    /* Removes all tasks; the next graph is built in the same memory. */
    void reset() const
    {
        detail::call(tg_graph_reset, get());
    }
    void clear() const noexcept
    {
        tg_graph_clear(get());
    }
    void check() const
    {
        detail::call(tg_graph_check, get());
    }
    std::uint64_t tasks() const noexcept
    {
        return tg_graph_tasks(get());
    }
    std::uint64_t edges() const noexcept
    {
        return tg_graph_edges(get());
    }

    taskglass::run start(const tg_run_config &config = tg_run_config()) const
    {
        return taskglass::run(get(), &config);
    }
    /* Runs the graph to its end; throws if the run failed. `running` of the result is NULL. */
    tg_run_result run(const tg_run_config &config = tg_run_config()) const
    {
        tg_run_result result{};
        detail::call(tg_graph_run, get(), &config, &result);
        return result;
    }

    tg_graph *get() const noexcept
    {
        return handle_.get();
    }

  private:
    std::uint64_t communicate(tg_comm_kind kind, std::int32_t peer, std::int32_t tag,
                              std::int32_t operation, const arguments &arguments) const
    {
        std::uint64_t task = TG_TASK_NONE;
        detail::call(tg_graph_communicate, get(), kind, peer, tag, operation, arguments.get(),
                     &task);
        return task;
    }

    kernel_module kernels_;
    detail::handle<tg_graph, tg_graph_destroy> handle_;
};

inline graph kernel_module::create_graph() const
{
    tg_graph *made = nullptr;
    detail::call(tg_graph_create, get(), &made);
    return graph(made, *this);
}

inline graph kernel_module::orchestrate(const arguments &arguments, tg_runtime_kind runtime,
                                        const tg_rings *rings) const
{
    tg_graph *made = nullptr;
    detail::call(tg_graph_orchestrate, get(), runtime, arguments.get(), rings, &made);
    return graph(made, *this);
}

/* ── workloads, from end to end ────────────────────────────────────────────────────────────── */

/* A workload, found by its name or path. */
class workload
{
  public:
    /* An example's name, or the path of a module. */
    explicit workload(const std::string &name, const settings &settings = taskglass::settings())
    {
        tg_workload_file *made = nullptr;
        detail::call(tg_workload_open, settings.get(), name.c_str(), &made);
        handle_.reset(made);
    }
    std::string path() const
    {
        return tg_workload_path(get());
    }
    const tg_workload &description() const
    {
        return *tg_workload_get(get());
    }

    tg_workload_file *get() const noexcept
    {
        return handle_.get();
    }

  private:
    detail::handle<tg_workload_file, tg_workload_close> handle_;
};

/* The case to run, and its parameters. */
struct execute_options {
    std::string case_name;        /* "": the first case */
    std::vector<std::string> set; /* "key=value" */
    /* Called at each phase and while the graph runs; false cancels. An exception cancels too, and the
     * execution's constructor rethrows it. */
    std::function<bool(tg_phase phase, std::uint64_t finished, std::uint64_t total)> progress;
};

/* One execution of a case, with its result. */
class execution
{
  public:
    /* Runs the case. A failed run is also an execution: ask ok(), or call check(). Throws if the call
     * failed before it had any result. */
    execution(const settings &settings, const workload &workload,
              const execute_options &options = execute_options())
    {
        teller told{options, nullptr};
        std::vector<const char *> set;
        for (const std::string &each : options.set)
            set.push_back(each.c_str());
        tg_execute_config config{};
        config.case_name = options.case_name.empty() ? nullptr : options.case_name.c_str();
        config.set = set.data();
        config.n_set = static_cast<std::uint32_t>(set.size());
        config.progress = tell;
        config.progress_context = &told;
        tg_execution *made = nullptr;
        tg_error why{};
        tg_status status = tg_execute(settings.get(), workload.get(), &config, &made, &why);
        handle_.reset(made);
        if (told.thrown)
            std::rethrow_exception(told.thrown);
        why.status = status;
        if (!made)
            throw error(why);
    }

    tg_execution_info info() const noexcept
    {
        tg_execution_info info{};
        tg_execution_get(get(), &info);
        return info;
    }
    bool ok() const noexcept
    {
        return info().status == TG_OK;
    }
    /* Throws the error, if there was one. */
    const execution &check() const
    {
        tg_execution_info now = info();
        if (now.status != TG_OK)
            throw error(now.status, now.error);
        return *this;
    }
    std::string output_dir() const
    {
        return detail::text(info().output_dir);
    }
    std::string run_json() const
    {
        return detail::text(info().run_json);
    }
    /* Throws NOT_FOUND if the run did not finish, or has no such output. */
    tg_output output(const std::string &name) const
    {
        tg_output found{};
        for (std::uint32_t i = 0; tg_execution_output(get(), i, &found); i++)
            if (name == found.name)
                return found;
        throw error(TG_NOT_FOUND, "there is no output '" + name + "'");
    }

    tg_execution *get() const noexcept
    {
        return handle_.get();
    }

  private:
    struct teller {
        const execute_options &options;
        std::exception_ptr thrown;
    };
    /* No exception may pass through C. */
    static int tell(void *context, tg_phase phase, std::uint64_t finished, std::uint64_t total)
    {
        teller &told = *static_cast<teller *>(context);
        try {
            if (!told.thrown && told.options.progress)
                return !told.options.progress(phase, finished, total);
        } catch (...) {
            told.thrown = std::current_exception();
        }
        return told.thrown != nullptr;
    }

    detail::handle<tg_execution, tg_execution_destroy> handle_;
};

} // namespace taskglass

#endif
