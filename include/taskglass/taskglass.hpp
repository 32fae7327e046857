/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taskglass for C++17: the C interface with handles that close themselves, and exceptions. There is
 * only this header; link libtaskglass as C programs do.
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
 * memory their device, runs their graph. For functions that this header lacks, get() returns the C
 * object; its contract, threads included, is in the C headers.
 */
#ifndef TASKGLASS_TASKGLASS_HPP
#define TASKGLASS_TASKGLASS_HPP

#include <taskglass/export.h>
#include <taskglass/outputs.h>
#include <taskglass/recording.h>
#include <taskglass/taskglass.h>
#include <taskglass/workload.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace taskglass
{

/* ── errors ────────────────────────────────────────────────────────────────────────────────── */

/* what() returns "KERNEL_FAULT: task 3, kernel …". */
class error : public std::runtime_error
{
  public:
    explicit error(const tg_error &why)
        : std::runtime_error(std::string(tg_status_name(why.status)) + ": " + why.text), why_(why)
    {
    }
    error(tg_status status, const std::string &text) : error(make(status, text)) {}

    tg_status status() const noexcept
    {
        return why_.status;
    }
    const char *name() const noexcept
    {
        return tg_status_name(why_.status);
    }
    /* One line, without the name of the status. */
    const char *text() const noexcept
    {
        return why_.text;
    }
    const char *advice() const noexcept
    {
        return tg_status_advice(why_.status);
    }
    /* 1 differs, 2 usage or input, 3 the device failed. */
    int exit_code() const noexcept
    {
        return tg_status_exit_code(why_.status);
    }
    const tg_error &get() const noexcept
    {
        return why_;
    }

  private:
    static tg_error make(tg_status status, const std::string &text)
    {
        tg_error why{};
        why.status = status;
        text.copy(why.text, sizeof why.text - 1);
        return why;
    }
    tg_error why_;
};

namespace detail
{

/* Calls a C function whose last parameter is a tg_error, and throws if it fails. */
template <class Function, class... Arguments> void call(Function function, Arguments &&...arguments)
{
    tg_error why{};
    tg_status status = function(std::forward<Arguments>(arguments)..., &why);
    if (status != TG_OK) {
        why.status = status;
        throw error(why);
    }
}

template <class Object, void (*Destroy)(Object *)> struct deleter {
    void operator()(Object *object) const noexcept
    {
        Destroy(object);
    }
};

template <class Object, void (*Destroy)(Object *)>
using handle = std::unique_ptr<Object, deleter<Object, Destroy>>;

inline std::string text(const char *text)
{
    return text ? text : "";
}

/* ── element types ─────────────────────────────────────────────────────────────────────────── */

template <class T> struct always_false : std::false_type {
};

template <class T> constexpr tg_dtype dtype_of()
{
    if constexpr (std::is_same_v<T, bool>)
        return TG_BOOL;
    else if constexpr (std::is_same_v<T, double>)
        return TG_FLOAT64;
    else if constexpr (std::is_same_v<T, float>)
        return TG_FLOAT32;
    else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
        return sizeof(T) == 8   ? TG_INT64
               : sizeof(T) == 4 ? TG_INT32
               : sizeof(T) == 2 ? TG_INT16
                                : TG_INT8;
    else if constexpr (std::is_integral_v<T>)
        return sizeof(T) == 8   ? TG_UINT64
               : sizeof(T) == 4 ? TG_UINT32
               : sizeof(T) == 2 ? TG_UINT16
                                : TG_UINT8;
    else
        static_assert(always_false<T>::value, "name the dtype: C++ has no such element type");
}

} // namespace detail

/* The element type of a C++ type; types without one, such as bfloat16, must be named. */
template <class T> inline constexpr tg_dtype dtype_of = detail::dtype_of<T>();

/* ── settings ──────────────────────────────────────────────────────────────────────────────── */

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
    /* Marks tensor i, or all arguments, for the recorder's levels `marked` and `hybrid`. */
    arguments &mark(std::uint32_t i)
    {
        tg_args_mark_tensor(&args_, i);
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
    void add_edge(std::uint64_t before, std::uint64_t after) const
    {
        detail::call(tg_graph_add_edge, get(), before, after);
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

/* ── recordings ────────────────────────────────────────────────────────────────────────────── */

class query
{
  public:
    query()
    {
        tg_query *made = nullptr;
        detail::call(tg_query_create, &made);
        handle_.reset(made);
    }
    /* query({{"kernel", "mat*"}, {"stage", "after"}}) */
    query(std::initializer_list<std::pair<const char *, std::string>> words) : query()
    {
        for (const auto &word : words)
            add(word.first, word.second);
    }
    query &add(const std::string &option, const std::string &text)
    {
        detail::call(tg_query_add, get(), option.c_str(), text.c_str());
        return *this;
    }

    tg_query *get() const noexcept
    {
        return handle_.get();
    }
    /* Hands the tg_query over to the caller, which destroys it. */
    tg_query *release() noexcept
    {
        return handle_.release();
    }

  private:
    detail::handle<tg_query, tg_query_destroy> handle_;
};

/* One record. Its payload, and the names of its kernels, live as long as the recording. */
class record
{
  public:
    record(const tg_recording *recording, std::uint64_t index, const tg_entry &entry) noexcept
        : recording_(recording), index_(index), entry_(entry)
    {
    }

    std::uint64_t index() const noexcept
    {
        return index_;
    }
    const tg_record &get() const noexcept
    {
        return entry_.record;
    }
    const tg_entry &entry() const noexcept
    {
        return entry_;
    }
    std::uint64_t task() const noexcept
    {
        return get().task_id;
    }
    bool is_scalar() const noexcept
    {
        return get().kind == TG_KIND_SCALAR;
    }
    const char *stage() const noexcept
    {
        return tg_stage_name(get().stage);
    }
    const char *role() const noexcept
    {
        return tg_record_role_name(get().role);
    }
    const char *dtype() const noexcept
    {
        return tg_dtype_name(get().dtype);
    }
    std::vector<std::int64_t> shape() const
    {
        return std::vector<std::int64_t>(get().shape, get().shape + get().ndim);
    }
    /* "add", "mat+add" */
    std::string kernel() const
    {
        std::string names;
        for (const char *name : entry_.kernel)
            if (name)
                names += (names.empty() ? "" : "+") + std::string(name);
        return names;
    }

    /* The stored bytes in the mapped file. */
    const void *data() const noexcept
    {
        return tg_recording_payload(recording_, &entry_);
    }
    std::uint64_t size() const noexcept
    {
        return get().stored;
    }
    /* A copy of the stored elements; T holds one element. */
    template <class T> std::vector<T> values() const
    {
        static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>,
                      "elements are copied as they lie; take std::uint8_t for bool");
        std::vector<T> values(static_cast<std::size_t>(size() / sizeof(T)));
        if (!values.empty())
            std::memcpy(values.data(), data(), values.size() * sizeof(T));
        return values;
    }

  private:
    const tg_recording *recording_;
    std::uint64_t index_;
    tg_entry entry_;
};

class recording
{
  public:
    /* Opens a run's directory, the recording in it, a journal or a manifest. */
    explicit recording(const std::string &path)
    {
        tg_recording *made = nullptr;
        detail::call(tg_recording_open, path.c_str(), &made);
        handle_.reset(made);
    }

    tg_recording_info info() const noexcept
    {
        tg_recording_info info{};
        tg_recording_get_info(get(), &info);
        return info;
    }
    std::uint64_t size() const noexcept
    {
        return info().records;
    }
    /* Throws NOT_FOUND past the end, IO_ERROR for a damaged record. */
    record at(std::uint64_t index) const
    {
        tg_entry entry{};
        if (!tg_recording_get(get(), index, &entry))
            throw error(index < size() ? TG_IO_ERROR : TG_NOT_FOUND,
                        "there is no record " + std::to_string(index) + ", or it is damaged");
        return record(get(), index, entry);
    }

    /* for (const auto &record : recording.select({{"stage", "after"}})): the selected records that are
     * not damaged. A query that is not a temporary must live as long as the loop. */
    class range;
    inline range select(const query &wanted) const;
    inline range select(query &&wanted) const;
    inline range all() const;

    /* Writes an export. */
    tg_export_result write(const tg_export_config &config) const
    {
        tg_export_result result{};
        detail::call(tg_recording_export, get(), &config, &result);
        return result;
    }

    tg_recording *get() const noexcept
    {
        return handle_.get();
    }

  private:
    detail::handle<tg_recording, tg_recording_close> handle_;
};

class recording::range
{
  public:
    class iterator
    {
      public:
        using iterator_category = std::input_iterator_tag;
        using value_type = record;
        using difference_type = std::ptrdiff_t;
        using pointer = const record *;
        using reference = record;

        iterator() = default;
        iterator(const tg_recording *recording, const tg_query *query)
            : recording_(recording), query_(query)
        {
            find();
        }
        record operator*() const
        {
            return record(recording_, index_, entry_);
        }
        iterator &operator++()
        {
            index_++;
            find();
            return *this;
        }
        void operator++(int)
        {
            ++*this;
        }
        bool operator==(const iterator &other) const
        {
            return recording_ == other.recording_ && (!recording_ || index_ == other.index_);
        }
        bool operator!=(const iterator &other) const
        {
            return !(*this == other);
        }

      private:
        void find()
        {
            if (!tg_query_next(query_, recording_, &index_, &entry_))
                recording_ = nullptr;
        }
        const tg_recording *recording_ = nullptr;
        const tg_query *query_ = nullptr;
        std::uint64_t index_ = 0;
        tg_entry entry_{};
    };

    range(const tg_recording *recording, const tg_query *query) noexcept
        : recording_(recording), query_(query)
    {
    }
    range(const tg_recording *recording, query &&wanted) noexcept
        : recording_(recording), query_(wanted.get()), owned_(wanted.release())
    {
    }
    iterator begin() const
    {
        return iterator(recording_, query_);
    }
    iterator end() const
    {
        return iterator();
    }

  private:
    const tg_recording *recording_;
    const tg_query *query_;
    detail::handle<tg_query, tg_query_destroy> owned_;
};

inline recording::range recording::select(const query &wanted) const
{
    return range(get(), wanted.get());
}

inline recording::range recording::select(query &&wanted) const
{
    return range(get(), std::move(wanted));
}

inline recording::range recording::all() const
{
    return range(get(), nullptr);
}

/* for (const auto &record : recording) */
inline recording::range::iterator begin(const recording &recording)
{
    return recording.all().begin();
}

inline recording::range::iterator end(const recording &)
{
    return recording::range::iterator();
}

} // namespace taskglass

#endif
