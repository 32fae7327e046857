/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which task of one recording corresponds to which of another, by what the tasks are.
 *
 * A run is written as text: "m mul x y > t; a add t w > z" has two tasks with the labels m and a. Tensors
 * of one lower-case letter from u to z belong to the run; all others are memory of the runtime. x@1 is
 * the second element of x alone, and a number is a scalar. The values are computed, so contents are
 * what they would be. A kernel's name may have an ending after '_' that does not change what it
 * computes; "!" after the name makes the result wrong, and "add=mul" computes a sum under the name
 * of mul.
 */
#define _GNU_SOURCE 1
#include "unit/recording/made.h"

#include "analysis/match.h"

enum { MOST_TASKS = 64, MOST_TENSORS = 64, WIDTH = 2 };

struct tensor {
    char name[8];
    float value[WIDTH];
};

struct run {
    struct made made;
    char label[MOST_TASKS][8];
    int n_tasks;
    struct tensor tensor[MOST_TENSORS];
    int n_tensors;
    uint64_t base;
    bool is_meta, is_homeless, is_nameless_run;
    uint64_t first_id;
};

static struct run a, b;
static struct tg_diff *diff;
static struct tg_diff_info info;
static struct tg_error error;

static bool is_given(const char *name)
{
    return name[0] >= 'u' && name[0] <= 'z' && (name[1] == '\0' || name[1] == '@');
}

static int tensor_of(struct run *run, const char *word)
{
    char name[8];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "@"), word);
    for (int i = 0; i < run->n_tensors; i++)
        if (strcmp(run->tensor[i].name, name) == 0)
            return i;
    REQUIRE(run->n_tensors < MOST_TENSORS);
    struct tensor *tensor = &run->tensor[run->n_tensors++];
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
    for (int i = 0; i < WIDTH; i++)
        tensor->value[i] = is_given(name) ? (float)(name[0] - 't') + 0.25f * (float)i : 0;
    return run->n_tensors - 1;
}

/* An address that has nothing to do with the order of the tensors. */
static uint64_t address_of(const struct run *run, int tensor)
{
    return run->is_homeless ? 0 : run->base + (uint64_t)(tensor * 37 % MOST_TENSORS) * 0x1000;
}

static void put_tensor(struct run *run, int task, const char *kernel, unsigned arg,
                       const char *word, bool after)
{
    int number = tensor_of(run, word);
    const char *at = strchr(word, '@');
    int start = at ? atoi(at + 1) : 0, count = at ? 1 : WIDTH;
    made_add(&run->made, (struct made_record){.task = run->first_id + (uint64_t)task,
                                              .kernel = kernel,
                                              .arg = arg,
                                              .after = after,
                                              .values = run->tensor[number].value + start,
                                              .n_values = count,
                                              .meta = run->is_meta,
                                              .start = start,
                                              .address = address_of(run, number)});
}

static bool is(const char *kernel, const char *name)
{
    return strcspn(kernel, "_!=") == strlen(name) && strncmp(kernel, name, strlen(name)) == 0;
}

static float compute(const char *kernel, const float *in, int n, float scalar)
{
    bool is_wrong = strchr(kernel, '!') != NULL;
    float result = scalar;
    if (is(kernel, "add"))
        result += in[0] + in[1];
    else if (is(kernel, "sub"))
        result += in[0] - in[1];
    else if (is(kernel, "mul"))
        result += in[0] * in[1];
    else if (is(kernel, "muladd"))
        result += in[0] * in[1] + in[2];
    else if (is(kernel, "copy"))
        result += in[0];
    else if (is(kernel, "stepneg"))
        result += -1.5f * in[0] + 0.25f;
    else if (is(kernel, "neg"))
        result -= in[0];
    else /* step */
        for (int i = 0; i < n; i++)
            result += 1.5f * in[i] + 0.25f;
    return is_wrong ? result + 1 : result;
}

struct spec {
    char *label, *kernel, *scalar;
    char *in[8], *out[8];
    int n_in, n_out;
};

static void read_spec(char *text, struct spec *spec)
{
    char *save = NULL;
    bool is_out = false;
    *spec = (struct spec){0};
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        if (!spec->label)
            spec->label = word;
        else if (!spec->kernel)
            spec->kernel = word;
        else if (strcmp(word, ">") == 0)
            is_out = true;
        else if (word[0] >= '0' && word[0] <= '9')
            spec->scalar = word;
        else if (is_out)
            spec->out[spec->n_out++] = word;
        else
            spec->in[spec->n_in++] = word;
    }
    REQUIRE(spec->kernel);
}

static void run_task(struct run *run, const struct spec *spec)
{
    char kernel[40];
    int task = run->n_tasks++;
    float scalar = spec->scalar ? (float)atoi(spec->scalar) : 0;
    REQUIRE(task < MOST_TASKS);
    snprintf(run->label[task], sizeof run->label[task], "%s", spec->label);
    const char *other = strchr(spec->kernel, '='), *name = other ? other + 1 : spec->kernel;
    snprintf(kernel, sizeof kernel, "%.*s", (int)strcspn(name, "!"), name);
    for (int i = 0; i < spec->n_in; i++)
        put_tensor(run, task, kernel, (unsigned)i, spec->in[i], false);
    if (spec->scalar)
        made_add(&run->made, (struct made_record){.task = run->first_id + (uint64_t)task,
                                                  .kernel = kernel,
                                                  .arg = (unsigned)(spec->n_in + spec->n_out),
                                                  .scalar = spec->scalar});
    for (int o = 0; o < spec->n_out; o++) {
        int to = tensor_of(run, spec->out[o]);
        for (int e = 0; e < WIDTH; e++) {
            float in[8];
            for (int i = 0; i < spec->n_in; i++) {
                const char *at = strchr(spec->in[i], '@');
                in[i] = run->tensor[tensor_of(run, spec->in[i])].value[at ? atoi(at + 1) : e];
            }
            if (!strchr(spec->out[o], '@') || atoi(strchr(spec->out[o], '@') + 1) == e)
                run->tensor[to].value[e] = compute(spec->kernel, in, spec->n_in, scalar) + (float)o;
        }
        put_tensor(run, task, kernel, (unsigned)(spec->n_in + o), spec->out[o], true);
    }
}

static void make(struct run *run, const char *text)
{
    static char copy[4000];
    char *save = NULL;
    made_begin(&run->made);
    run->n_tasks = run->n_tensors = 0;
    for (char name[] = "u"; name[0] <= 'z' && !run->is_nameless_run; name[0]++) {
        int number = tensor_of(run, name);
        made_add(&run->made, (struct made_record){.orchestration = true,
                                                  .arg = (unsigned)(name[0] - 'u'),
                                                  .values = run->tensor[number].value,
                                                  .n_values = WIDTH,
                                                  .meta = true,
                                                  .address = address_of(run, number)});
    }
    snprintf(copy, sizeof copy, "%s", text);
    for (char *task = strtok_r(copy, ";", &save); task; task = strtok_r(NULL, ";", &save)) {
        struct spec spec;
        read_spec(task, &spec);
        run_task(run, &spec);
    }
    made_end(&run->made);
}

static const char *label(const struct run *run, uint64_t id)
{
    return id - run->first_id < (uint64_t)run->n_tasks ? run->label[id - run->first_id] : "?";
}

/* What is not simply paired with its like: "m-" only in A, "-m" only in B, "m=n" paired with another
 * label, "m~a" part of the fused task a. Fused tasks end in "*". */
static const char *notes(void)
{
    static char text[2000];
    struct tg_diff_task task, whole;
    size_t used = 0;
    text[0] = '\0';
    for (uint64_t i = 0; tg_diff_get_task(diff, i, &task); i++) {
        const char *x = task.in_a ? label(&a, task.id_a) : "";
        const char *y = task.in_b ? label(&b, task.id_b) : "";
        const char *gap = used > 0 ? " " : "";
        if ((task.in_a ? task.id_a : task.id_b) == TG_TASK_NONE)
            continue;
        if (task.part_of != TG_NONE) {
            REQUIRE(tg_diff_get_task(diff, task.part_of, &whole));
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s~%s", gap, x, y,
                                     label(&a, whole.id_a));
        } else if (!task.in_a || !task.in_b) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s-%s", gap, x, y);
        } else if (strcmp(x, y) != 0 || task.fused) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s%s", gap, x, y,
                                     task.fused ? "*" : "");
        }
    }
    return text;
}

static void done(void)
{
    tg_diff_close(diff);
    tg_recording_close(a.made.recording);
    tg_recording_close(b.made.recording);
}

/* What is left in the two runs besides equal labels. */
static const char *match(const char *left, const char *right)
{
    a.base = 0x100000;
    b.base = 0x900000;
    make(&a, left);
    make(&b, right);
    REQUIRE(tg_diff_open(a.made.recording, b.made.recording, NULL, &diff, &error) == TG_OK);
    tg_diff_get_info(diff, &info);
    const char *text = notes();
    return text;
}

static enum tg_verdict verdict(void)
{
    struct tg_diff_summary summary;
    struct tg_diff_result result;
    for (uint64_t i = 0; tg_diff_compare(diff, i, &result); i++)
        ;
    tg_diff_summarize(diff, &summary);
    return summary.verdict;
}

/* --- order ------------------------------------------------------------------------------------ */

TEST(two_chains_submitted_in_turn_or_one_after_the_other_are_the_same)
{
    CHECK_EQ_S(match("p step x > s; q step s > z; r step y > t; v step t > w",
                     "r step y > t; p step x > s; v step t > w; q step s > z"),
               "");
    CHECK_EQ_S(info.matched_by, "dataflow");
    CHECK_EQ_U(verdict(), TG_VERDICT_SAME);
    done();
}

TEST(a_loop_that_runs_backward_is_the_same)
{
    CHECK_EQ_S(match("p step x@0 > z@0; q step x@1 > z@1", "q step x@1 > z@1; p step x@0 > z@0"),
               "");
    CHECK_EQ_U(verdict(), TG_VERDICT_SAME);
    done();
}

TEST(scalars_tell_tasks_apart_that_read_the_same)
{
    CHECK_EQ_S(match("p step 1 x > s; q step 2 x > t; r add s t > z",
                     "q step 2 x > s; p step 1 x > t; r add t s > z"),
               "");
    done();
}

TEST(twins_are_told_apart_by_who_reads_them)
{
    CHECK_EQ_S(match("p step x > s; q step x > t; r neg s > y; v copy t > z",
                     "q step x > s; p step x > t; v copy s > z; r neg t > y"),
               "");
    CHECK_EQ_U(verdict(), TG_VERDICT_SAME);
    done();
}

TEST(twins_are_told_apart_by_where_they_write)
{
    CHECK_EQ_S(match("p step x > y; q step x > z", "q step x > z; p step x > y"), "");
    done();
}

TEST(twins_that_nothing_tells_apart_keep_their_order)
{
    CHECK_EQ_S(match("p step x > s; q step x > t; r add s t > z",
                     "p step x > s; q step x > t; r add s t > z"),
               "");
    CHECK_EQ_S(info.matched_by, "id");
    done();
}

TEST(sums_in_another_order_pair_by_what_they_add)
{
    CHECK_EQ_S(match("p add z x > z; q add z y > z; r add z w > z",
                     "r add z w > z; q add z y > z; p add z x > z"),
               "");
    done();
}

/* --- errors ------------------------------------------------------------------------------------- */

TEST(a_wrong_result_does_not_spread_into_the_matching)
{
    CHECK_EQ_S(match("p step! x > s; q step s > t; r step t > z; v neg y > w",
                     "v neg y > w; p step x > s; q step s > t; r step t > z"),
               "");
    CHECK_EQ_U(verdict(), TG_VERDICT_DIFFERS);
    done();
}

TEST(another_scalar_or_another_view_is_still_the_same_task)
{
    CHECK_EQ_S(match("p step 1 x > s; q step 2 s > t; r step 3 t > z",
                     "p step 1 x > s; q step 7 s > t; r step 3 t > z"),
               "");
    done();
    CHECK_EQ_S(match("p step x@0 > s@0; q step x@1 > s@1; r copy s > z",
                     "p step x@0 > s@0; q step x@0 > s@1; r copy s > z"),
               "");
    done();
}

TEST(two_tasks_given_each_others_inputs_are_the_same_tasks)
{
    CHECK_EQ_S(
        match("p neg x > s; q neg y > t; r sub s t > z", "p neg x > s; q neg y > t; r sub t s > z"),
        "");
    done();
}

/* The scalars of a call say which call of another rank it belongs to, so the data that it is given by mistake do not
 * make it another one. Of any other kernel, data of another task mean another task. */
TEST(a_call_that_is_given_the_data_of_another_task_is_the_same_call)
{
    CHECK_EQ_S(match("p neg x > s; q copy y > t; r add s t > z; m tg_send 5 s@0",
                     "p neg x > s; q copy y > t; r add s t > z; m tg_send 5 t@1"),
               "");
    done();
    CHECK_EQ_S(match("p neg x > s; q copy y > t; r add s t > z; m other 5 s@0",
                     "p neg x > s; q copy y > t; r add s t > z; m other 5 t@1"),
               "m- -m");
    done();
    CHECK_EQ_S(match("p neg x > s; q copy y > t; r add s t > z; m tg_send 5 s@0",
                     "p neg x > s; q copy y > t; r add s t > z; m tg_send 6 t@1"),
               "m- -m");
    done();
}

/* --- tasks of one side ---------------------------------------------------------------------------- */

TEST(a_task_more_in_a_chain_is_on_one_side_only)
{
    CHECK_EQ_S(match("p step x > s; q step s > t; r step t > z",
                     "p step x > s; n neg s > n; q step n > t; r step t > z"),
               "-n");
    CHECK_EQ_U(verdict(), TG_VERDICT_DIFFERS);
    done();
    CHECK_EQ_S(match("p step x > s; n copy s > n; q step n > t; r step t > z",
                     "p step x > s; q step s > t; r step t > z"),
               "n-");
    done();
}

TEST(a_step_that_is_missing_is_the_one_with_its_scalar)
{
    CHECK_EQ_S(match("p step 1 x > s; q step 2 s > t; r step 3 t > q; v step 4 q > z",
                     "p step 1 x > s; r step 3 s > q; v step 4 q > z"),
               "q-");
    done();
    CHECK_EQ_S(
        match("p step 2 x > s; q step 3 s > z", "n step 1 x > n; p step 2 n > s; q step 3 s > z"),
        "-n");
    done();
}

TEST(two_tasks_of_a_chain_in_the_wrong_order_are_the_same_tasks)
{
    CHECK_EQ_S(match("p step x > s; n neg s > n; q step n > t; r copy t > z",
                     "p step x > s; q step s > t; n neg t > n; r copy n > z"),
               "");
    CHECK_EQ_U(verdict(), TG_VERDICT_DIFFERS);
    done();
}

TEST(a_task_more_at_the_end_or_the_beginning_leaves_the_others)
{
    CHECK_EQ_S(match("p step x > s; q neg s > z", "p step x > s; q neg s > z; n copy z > w"), "-n");
    done();
    CHECK_EQ_S(match("p step x > s; q neg s > z", "n copy y > n; p step x > s; q neg s > z"), "-n");
    done();
}

/* --- names -------------------------------------------------------------------------------------- */

TEST(a_renamed_kernel_is_its_old_self)
{
    CHECK_EQ_S(match("p step x > s; q neg s > t; r add t y > z",
                     "p step x > s; q neg_new s > t; r add t y > z"),
               "");
    CHECK_EQ_U(info.renamed, 1);
    CHECK_EQ_U(verdict(), TG_VERDICT_SAME);
    struct tg_diff_task task;
    REQUIRE(tg_diff_get_task(diff, 2, &task));
    CHECK_EQ_S(task.kernel, "neg");
    CHECK_EQ_S(task.kernel_b, "neg_new");
    done();
}

TEST(all_kernels_may_be_renamed_and_the_order_changed)
{
    CHECK_EQ_S(match("p step x > s; q neg s > t; r add t y > z; v copy w > v",
                     "v copy_b w > v; p step_b x > s; q neg_b s > t; r add_b t y > z"),
               "");
    CHECK_EQ_U(info.renamed, 4);
    CHECK_EQ_U(verdict(), TG_VERDICT_SAME);
    done();
}

TEST(a_renamed_kernel_with_a_wrong_result_is_still_its_old_self)
{
    CHECK_EQ_S(match("p step x > s; q neg s > t; r step t > q; v copy q > z",
                     "p step x > s; q neg_new! s > t; r step t > q; v copy q > z"),
               "");
    done();
}

/* --- fusion ------------------------------------------------------------------------------------- */

TEST(two_tasks_fused_into_one_are_that_one)
{
    CHECK_EQ_S(match("m mul x y > t; a add t w > z", "f muladd x y w > z"), "m~a a=f*");
    CHECK_EQ_U(info.fused, 1);
    CHECK_EQ_U(info.parts_a, 1);
    CHECK_EQ_U(info.only_a, 0);
    CHECK_EQ_U(info.pairs - 6, 4); /* x, y, w and z; the run's own six tensors aside */
    CHECK_EQ_U(verdict(), TG_VERDICT_SAME);
    done();
    CHECK_EQ_S(match("f muladd x y w > z", "m mul x y > t; a add t w > z"), "f=a* m~f");
    CHECK_EQ_U(verdict(), TG_VERDICT_SAME);
    done();
}

TEST(a_fusion_in_the_middle_leaves_its_neighbours)
{
    CHECK_EQ_S(match("p step x > s; m mul s y > t; a add t w > q; r neg q > z; v copy u > v",
                     "v copy u > v; p step x > s; f muladd s y w > q; r neg q > z"),
               "m~a a=f*");
    CHECK_EQ_U(verdict(), TG_VERDICT_SAME);
    done();
}

TEST(fusions_one_after_the_other_are_found_all)
{
    CHECK_EQ_S(match("m mul x y > t; a add t w > q; n mul q y > r; c add r u > z",
                     "f muladd x y w > q; g muladd q y u > z"),
               "m~a a=f* n~c c=g*");
    CHECK_EQ_U(verdict(), TG_VERDICT_SAME);
    done();
}

TEST(a_fused_task_may_read_as_a_whole_what_others_read_in_parts)
{
    CHECK_EQ_S(match("p step x@0 > t@0; q step x@1 > t@1; r copy t > s; v neg s > z",
                     "f step_all x > s; v neg s > z"),
               "p~r q~r r=f*");
    CHECK_EQ_U(verdict(), TG_VERDICT_SAME);
    done();
    CHECK_EQ_S(match("p step! x@0 > t@0; q step x@1 > t@1; r copy t > s; v neg s > z",
                     "f step_all x > s; v neg s > z"),
               "p~r q~r r=f*");
    done();
    CHECK_EQ_S(match("p step x@0 > t@0; q step x@0 > t@1; r copy t > s; v neg s > z",
                     "f step_all x > s; v neg s > z"),
               "p- q- r- -f");
    done();
}

TEST(a_fused_task_may_have_memory_of_its_own)
{
    CHECK_EQ_S(match("m mul x y > t; a add t w > z", "f muladd x y w > z n"), "m~a a=f*");
    CHECK_EQ_U(verdict(), TG_VERDICT_SAME);
    done();
}

TEST(a_fused_task_may_keep_the_name_of_one_of_its_parts)
{
    CHECK_EQ_S(match("p step x > s; m neg s > t; c step t > q; r step q > w; v copy w > z",
                     "p step x > s; f stepneg=neg s > q; r step q > w; v copy w > z"),
               "m~c c=f*");
    CHECK_EQ_U(verdict(), TG_VERDICT_SAME);
    done();
}

TEST(a_task_that_is_left_out_is_no_fusion)
{
    CHECK_EQ_S(match("p step x > s; m neg s > t; c step t > q; r step q > w; v copy w > z",
                     "p step x > s; m neg s > q; r step q > w; v copy w > z"),
               "c-");
    done();
}

TEST(a_wrong_fusion_is_still_a_fusion)
{
    CHECK_EQ_S(
        match("m mul x y > t; a add t w > q; r neg q > z", "f muladd! x y w > q; r neg q > z"),
        "m~a a=f*");
    CHECK_EQ_U(verdict(), TG_VERDICT_DIFFERS);
    done();
}

TEST(what_reads_something_else_is_no_fusion)
{
    CHECK_EQ_S(match("m mul x y > t; a add t w > z", "f muladd x y u > z"), "m- a- -f");
    done();
}

/* --- little information --------------------------------------------------------------------------- */

TEST(without_hashes_the_dataflow_is_enough)
{
    a.is_meta = b.is_meta = true;
    CHECK_EQ_S(match("p step x > s; q step s > z; r step y > t; v step t > w",
                     "r step y > t; p step x > s; v step t > w; q step s > z"),
               "");
    done();
    CHECK_EQ_S(match("m mul x y > t; a add t w > z", "f muladd x y w > z"), "m~a a=f*");
    done();
    a.is_meta = b.is_meta = false;
}

TEST(without_addresses_the_contents_are_enough)
{
    a.is_homeless = b.is_homeless = true;
    CHECK_EQ_S(match("p step x > s; q step s > z; r step y > t; v step t > w",
                     "r step y > t; p step x > s; v step t > w; q step s > z"),
               "");
    done();
    CHECK_EQ_S(match("p step! x > s; q step s > t; r step t > z",
                     "p step x > s; q step s > t; r step t > z"),
               "");
    done();
    a.is_homeless = b.is_homeless = false;
}

TEST(without_the_runs_own_tensors_contents_stand_for_them)
{
    a.is_nameless_run = b.is_nameless_run = true;
    CHECK_EQ_S(match("p step x > s; q step s > z; r step y > t; v step t > w",
                     "r step y > t; p step x > s; v step t > w; q step s > z"),
               "");
    done();
    a.is_nameless_run = b.is_nameless_run = false;
}

TEST(ids_of_another_runtime_do_not_matter)
{
    b.first_id = (uint64_t)1 << 32;
    CHECK_EQ_S(match("p step x > s; q step s > t; r step t > z",
                     "p step x > s; q step s > t; r step t > z"),
               "");
    CHECK_EQ_S(info.matched_by, "dataflow");
    done();
    CHECK_EQ_S(match("p step x > s; n neg s > n; q step n > t; r step t > z",
                     "p step x > s; q step s > t; r step t > z"),
               "n-");
    done();
    b.first_id = 0;
}

/* --- at random ------------------------------------------------------------------------------------ */

static uint32_t state = 1;
static uint32_t random_below(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

struct node {
    char text[80];
    int in[2];
    bool is_done;
};

/* A graph in which no two tasks are the same: each has its own scalar. */
static int random_graph(struct node *node, bool has_scalars)
{
    static const char *const kernels[] = {"add", "sub", "mul"};
    int count = 3 + (int)random_below(12);
    for (int i = 0; i < count; i++) {
        char in[2][16], scalar[16] = "";
        for (int k = 0; k < 2; k++) {
            node[i].in[k] = i > 0 && random_below(4) ? (int)random_below((uint32_t)i) : -1;
            if (node[i].in[k] < 0)
                snprintf(in[k], sizeof in[k], "%c", 'u' + (int)random_below(6));
            else
                snprintf(in[k], sizeof in[k], "T%d", node[i].in[k]);
        }
        if (has_scalars)
            snprintf(scalar, sizeof scalar, "%d ", i);
        snprintf(node[i].text, sizeof node[i].text, "L%d %s %s%s %s > T%d;", i,
                 kernels[random_below(3)], scalar, in[0], in[1], i);
    }
    return count;
}

static void put_in_order(struct node *node, int count, bool is_random, char *text)
{
    text[0] = '\0';
    for (int i = 0; i < count; i++)
        node[i].is_done = false;
    for (int done_count = 0; done_count < count;) {
        int i = is_random ? (int)random_below((uint32_t)count) : done_count;
        bool is_ready = !node[i].is_done;
        for (int k = 0; k < 2; k++)
            is_ready = is_ready && (node[i].in[k] < 0 || node[node[i].in[k]].is_done);
        if (!is_ready)
            continue;
        node[i].is_done = true;
        strcat(text, node[i].text);
        done_count++;
    }
}

TEST(random_graphs_in_a_random_order_are_the_same)
{
    static struct node node[16];
    static char left[2000], right[2000];
    for (int round = 0; round < 300; round++) {
        bool has_scalars = round % 2;
        int count = random_graph(node, has_scalars);
        put_in_order(node, count, false, left);
        put_in_order(node, count, true, right);
        a.is_meta = b.is_meta = round % 3 == 0;
        const char *text = match(left, right);
        /* Without scalars two tasks may be the same; then it does not matter which is which. */
        bool good = info.only_a == 0 && info.only_b == 0 && (!has_scalars || CHECK_EQ_S(text, ""));
        good = good && (a.is_meta || CHECK_EQ_U(verdict(), TG_VERDICT_SAME));
        done();
        if (!CHECK(good)) {
            fprintf(stderr, "%s\n%s\n%s\n", left, right, text);
            break;
        }
    }
    a.is_meta = b.is_meta = false;
}

TEST(a_task_taken_out_of_a_random_graph_is_the_one_that_is_missing)
{
    static struct node node[16];
    static char left[2000], right[2000], want[16];
    for (int round = 0; round < 500; round++) {
        int count = random_graph(node, true), gone = (int)random_below((uint32_t)count);
        put_in_order(node, count, false, left);
        put_in_order(node, count, round % 2, right);
        /* Its readers read its first input instead. */
        char name[16], *at, *from = strstr(node[gone].text, " ");
        snprintf(want, sizeof want, "L%d-", gone);
        char *line = strstr(right, node[gone].text);
        memmove(line, line + strlen(node[gone].text), strlen(line + strlen(node[gone].text)) + 1);
        char first[8];
        sscanf(from, " %*s %*s %7s", first);
        snprintf(name, sizeof name, " T%d ", gone);
        static char changed[4000];
        changed[0] = '\0';
        char *rest = right;
        while ((at = strstr(rest, name))) {
            strncat(changed, rest, (size_t)(at - rest));
            strcat(changed, " ");
            strcat(changed, first);
            rest = at + strlen(name) - 1;
        }
        strcat(changed, rest);
        const char *text = match(left, changed);
        bool good = CHECK_EQ_S(text, want);
        done();
        if (!good) {
            fprintf(stderr, "%s\n%s\n", left, changed);
            break;
        }
    }
}

TEST_MAIN()
