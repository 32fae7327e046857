/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Analysing recordings: statistics of a tensor, the difference of two tensors, which tensors of two
 * recordings differ and which task caused that, and where NaN, overflow and stray writes come from.
 *
 *     tg_diff_open(a, b, NULL, &diff, &error)       matches tasks and arguments, reads no payload
 *     for (i = 0; tg_diff_get_pair(diff, i, &pair); i++)
 *         tg_diff_compare(diff, i, &result);        reads payloads if hashes are not enough
 *     tg_diff_summarize(diff, &summary)             equal, different, or unknown
 *     tg_blame_open(diff, &blame, &error)           which task introduced a difference
 *
 * A handle belongs to one thread at a time; the recordings must stay open as long as handles use
 * them. Texts live as long as the handle they came from.
 */
#ifndef TASKGLASS_ANALYSIS_H
#define TASKGLASS_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/recording.h>
#include <taskglass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Called from time to time on the caller's thread, with the bytes of payload read so far and the most
 * that will be read. */
typedef void (*tg_analysis_progress_fn)(void *context, uint64_t bytes, uint64_t total);
/* The same for work that can be stopped: a return other than 0 cancels it. */
typedef int (*tg_analysis_watch_fn)(void *context, uint64_t bytes, uint64_t total);

/* ── one tensor ────────────────────────────────────────────────────────────────────────────── */

/* Elements are bits as tg_load_bits of numeric.h returns them. -0 counts as 0. */
struct tg_tensor_stats {
    uint64_t elements;
    uint64_t nan, infinite, finite;
    uint64_t zero, denormal; /* finite elements of these kinds */
    bool has_range;          /* least and most are set, because some element is not NaN */
    uint64_t least, most;    /* bits; infinities count */
    double mean, deviation;  /* of the finite elements, NaN if there are none; population formula */
};

/* `bytes`: packed and row-major, as payloads are, with any alignment. BAD_ARGUMENT: invalid type. */
TG_API tg_status tg_tensor_measure(int dtype, const void *bytes, int64_t elements,
                                   struct tg_tensor_stats *stats, struct tg_error *error);
/* The same for the stored part of a record; a scalar is one element. False if nothing is stored. */
TG_API bool tg_entry_measure(const struct tg_recording *recording, const struct tg_entry *entry,
                             struct tg_tensor_stats *stats);

/* ── two tensors ───────────────────────────────────────────────────────────────────────────── */

/* |a - b| <= absolute + relative * |b|, where b is the trusted value. */
struct tg_tolerance {
    double absolute, relative;
};
/* The error that rounding in that type can explain (taskglass-diff(1) says why); 0 for integers. */
TG_API struct tg_tolerance tg_tolerance_default(int dtype);

/* The same element of both tensors. */
struct tg_mismatch {
    uint64_t element; /* its index in row-major order; TG_NONE: there is none */
    uint64_t a, b;    /* bits */
};

enum { TG_FIRST_MISMATCHES = 10 };

/* What a comparison of two tensors found. */
struct tg_comparison {
    uint64_t elements;
    uint64_t mismatches; /* beyond the tolerance */
    bool identical;      /* bit for bit */
    uint64_t nan_a, nan_b, inf_a, inf_b;
    uint64_t special; /* mismatches where one is NaN or infinite and the other is not the same */
    /* Over elements that are finite in both; the element is TG_NONE if none differs. */
    double max_abs, max_rel; /* |a - b|, and |a - b| / |b| if b is not 0 */
    struct tg_mismatch max_abs_at, max_rel_at;
    uint64_t max_ulp; /* steps between neighbouring values of the type from a to b; floats only */
    struct tg_mismatch max_ulp_at;
    double cosine; /* NaN if one of them is all zero */
    double sqnr;   /* 10 log10(sum b² / sum (a - b)²); infinite if none differs */
    uint32_t n_first;
    struct tg_mismatch first[TG_FIRST_MISMATCHES];
};

/* Elements with the same bits are equal, NaN too. NaN with different bits are equal only with
 * `equal_nan`. Infinities of the same sign are equal. `tolerance` NULL means the default. */
TG_API tg_status tg_tensor_compare(int dtype, const void *a, const void *b, int64_t elements,
                                   const struct tg_tolerance *tolerance, bool equal_nan,
                                   struct tg_comparison *comparison, struct tg_error *error);

/* ── two recordings ────────────────────────────────────────────────────────────────────────── */

/* A tolerance for some arguments. Of the rules that match an argument, the one that names most
 * properties wins, and among equals the last. A rule without a dtype applies to floats only. */
struct tg_tolerance_rule {
    char kernel[240];             /* pattern with * and ?; "": any */
    char dtype[24];               /* likewise; "": every float */
    uint32_t first_arg, last_arg; /* both inclusive */
    double absolute, relative;    /* NaN: the rule does not set it */
};
/* "1e-3", "kernel=softmax,arg=2:1e-3", "dtype=int8:1", "arg=0-3:0". The rule sets the relative
 * tolerance if `relative` is true, else the absolute one. BAD_ARGUMENT says what is wrong. */
TG_API tg_status tg_tolerance_rule_parse(const char *text, bool relative,
                                         struct tg_tolerance_rule *rule, struct tg_error *error);

/* How to compare two recordings. Zeros are the defaults. */
struct tg_diff_options {
    const struct tg_tolerance_rule *rules; /* copied */
    size_t n_rules;
    bool equal_nan;
    tg_analysis_progress_fn progress; /* may be NULL */
    void *context;
};

/* What is known of a pair of tensors, or of two recordings. */
enum tg_verdict {
    TG_VERDICT_SAME,    /* bit for bit */
    TG_VERDICT_CLOSE,   /* within the tolerance */
    TG_VERDICT_DIFFERS, /* beyond it, or in type or shape */
    TG_VERDICT_UNKNOWN, /* the recordings have too little to decide */
    TG_VERDICTS
};

/* The reason for a verdict. The words are part of `taskglass diff --json`. */
/*      constant       word, verdict, meaning */
#define TG_REASON_MAP(X)                                                                          \
    X(HASH, "hash", SAME, "equal hashes")                                                         \
    X(BYTES, "bytes", SAME, "equal bytes")                                                        \
    X(METADATA, "metadata", SAME, "all that was recorded of it is equal")                         \
    X(NOISE, "noise", CLOSE, "no further apart than good runs are")                               \
    X(TOLERANCE, "tolerance", CLOSE, "within the tolerance")                                      \
    X(PLACE, "place", DIFFERS, "equal, but written to another part of a tensor of the case")      \
    X(VALUES, "values", DIFFERS, "values beyond the tolerance")                                   \
    X(DTYPE, "dtype", DIFFERS, "different dtypes")                                                \
    X(SHAPE, "shape", DIFFERS, "different shapes")                                                \
    X(KIND, "kind", DIFFERS, "a tensor in one, a scalar in the other")                            \
    X(BITS, "bits", DIFFERS, "different bits of a scalar whose type is unknown")                  \
    X(INTEGER_HASH, "integer_hash", DIFFERS, "different hashes of integers, which must be equal") \
    X(OTHER_HASH, "other_hash", UNKNOWN, "different hashes, and no payload to show by how much")  \
    X(NOT_STORED, "not_stored", UNKNOWN, "neither hashes nor payloads in both recordings")        \
    X(NO_VALUE, "no_value", UNKNOWN, "a scalar whose value is unknown in one recording or both")  \
    X(NOT_HASHED, "not_hashed", UNKNOWN,                                                          \
      "an argument of the orchestration that was recorded without a hash")                        \
    X(CUT, "cut", UNKNOWN, "the stored parts are equal")                                          \
    X(UNFINISHED, "unfinished", UNKNOWN, "the task had not finished")                             \
    X(ONLY_A, "only_a", UNKNOWN, "recorded in A only")                                            \
    X(ONLY_B, "only_b", UNKNOWN, "recorded in B only")                                            \
    X(NOT_COMPARED, "not_compared", UNKNOWN, "not compared")

#define TG_REASON_ENUM_(constant, word, verdict, meaning) TG_REASON_##constant,
enum tg_reason { TG_REASON_MAP(TG_REASON_ENUM_) TG_REASONS };
#undef TG_REASON_ENUM_

/* "same", "close", "differs", "unknown"; the word and the meaning of a reason. */
TG_API const char *tg_verdict_name(unsigned verdict);
TG_API const char *tg_reason_name(unsigned reason);
TG_API const char *tg_reason_text(unsigned reason);

struct tg_diff;

/*
 * Matches the tasks of two recordings, of any platforms, runtimes and levels, and their arguments.
 * Two tasks match if they are the same in the dataflow: the same kernel with the same scalars, which
 * reads the same parts of the same tensors, written by tasks that match. A task under another name in
 * the same place matches too, and so do tasks that the other side has fused into one. Position
 * decides only between tasks that are equal in all of that, and where the recordings do not say where
 * data come from: then the n-th task of a kernel (or mix of kernels) in one matches the n-th in the
 * other, in order of submission (deps.json, else task ids); if the numbers of tasks differ, the two
 * orders are aligned first. NO_MEMORY.
 */
TG_API tg_status tg_diff_open(const struct tg_recording *a, const struct tg_recording *b,
                              const struct tg_diff_options *options, struct tg_diff **diff,
                              struct tg_error *error);
/* Ends the comparison; NULL is allowed. Close its blames first. */
TG_API void tg_diff_close(struct tg_diff *diff);

/* Takes `good`, another run that is known to be good, to measure noise: what it differs from B by.
 * Call it for each such run, before the first tg_diff_compare. An argument is then held against four
 * times the largest difference that a good run shows there, instead of the default tolerance of its
 * type; a rule of the options that matches the argument still wins. `good` is needed during the call
 * only. NO_MEMORY; BAD_ARGUMENT: it ran other tasks than B, or was given other data. */
TG_API tg_status tg_diff_add_noise(struct tg_diff *diff, const struct tg_recording *good,
                                   struct tg_error *error);

/* How the tasks of two recordings were matched. */
struct tg_diff_info {
    /* "id": every task has its partner's id; "dataflow"; "position" or "alignment" if nothing but the
     * order of the kernels was known. */
    const char *matched_by;
    uint64_t tasks; /* of both sides together: tg_diff_get_task */
    uint64_t matched;
    uint64_t only_a, only_b; /* not counting parts of a fusion */
    uint64_t renamed; /* matched tasks whose kernels have different names, fused ones aside */
    uint64_t fused;   /* matched tasks that stand for several tasks of one side */
    uint64_t parts_a, parts_b; /* tasks of one side that are part of such a task */
    uint64_t pairs;
    uint64_t payload_bytes;        /* of both sides, to be read because hashes are not enough */
    uint64_t damaged_a, damaged_b; /* records that cannot be read */
    bool deps_a, deps_b;           /* there is a deps.json */
    uint32_t noise_runs;           /* good runs that tg_diff_add_noise took */
    const char *deps_error;        /* why a deps.json could not be read; "" if there is no error */
};
/* What the matching found; valid from tg_diff_open on. */
TG_API void tg_diff_get_info(const struct tg_diff *diff, struct tg_diff_info *info);

/* A task of one side or of both: first the tasks of A in their order, then those that only B has. */
struct tg_diff_task {
    bool in_a, in_b;
    uint64_t id_a, id_b; /* TG_TASK_NONE: the arguments of the orchestration */
    const char
        *kernel; /* of A, or of B if A has no such task: "add", "mat+add"; "#3" if the name is
                            not known */
    uint64_t records_a, records_b;
    uint64_t first_pair, pairs;
    const char *kernel_b; /* of B; the same as `kernel` unless B calls it by another name */
    /* The task stands for several tasks of one side, of which it is the last. Its pairs are the
     * tensors that both sides have: what the tasks together read, and what they leave. */
    bool fused;
    /* The number of the fused task that this one is part of. Such a task is on one side only, and is
     * not missing on the other. TG_NONE: not part of a fusion. */
    uint64_t part_of;
};
/* Task `number`, from 0 in that order; false past the last one. */
TG_API bool tg_diff_get_task(const struct tg_diff *diff, uint64_t number,
                             struct tg_diff_task *task);

/* One argument at one stage on both sides. */
struct tg_diff_pair {
    uint64_t task;               /* its number, for tg_diff_get_task */
    uint64_t record_a, record_b; /* TG_NONE if that side has none */
};
/* Pair `number` of arguments, from 0, task by task; false past the last one. */
TG_API bool tg_diff_get_pair(const struct tg_diff *diff, uint64_t number,
                             struct tg_diff_pair *pair);

/* What the comparison of one pair of records found. */
struct tg_diff_result {
    enum tg_verdict verdict;
    enum tg_reason reason;
    struct tg_tolerance tolerance;
    /* The noise floor of the argument: the largest |a - b| among good runs; NaN if it was not
     * measured; infinite if they differ in more than values: then the default tolerance counts. */
    double floor;
    bool has_values; /* `values` is set: payloads or scalars were compared */
    bool cut;        /* only the first elements were compared */
    struct tg_comparison values;
};
/* Compares pair `number` and keeps its verdict for the functions below. False past the end. */
TG_API bool tg_diff_compare(struct tg_diff *diff, uint64_t number, struct tg_diff_result *result);
/* The verdict of an earlier comparison; TG_REASON_NOT_COMPARED if there was none. */
TG_API enum tg_reason tg_diff_reason(const struct tg_diff *diff, uint64_t number,
                                     enum tg_verdict *verdict);

/* Gaps that keep a comparison from saying "equal", whatever the pairs say. */
enum tg_diff_gap {
    TG_GAP_INCOMPLETE_A = 1 << 0, /* the recording is not complete */
    TG_GAP_INCOMPLETE_B = 1 << 1,
    TG_GAP_LOST_A = 1 << 2, /* records were lost */
    TG_GAP_LOST_B = 1 << 3,
    TG_GAP_DAMAGED_A = 1 << 4,
    TG_GAP_DAMAGED_B = 1 << 5,
    TG_GAP_TASKS_A = 1 << 6, /* tasks are missing, and it is not known whether they ran */
    TG_GAP_TASKS_B = 1 << 7,
    TG_GAP_ENDED_A = 1 << 8, /* the run failed, was cancelled, or has not ended */
    TG_GAP_ENDED_B = 1 << 9
};

/* What the comparison of all pairs found. */
struct tg_diff_summary {
    enum tg_verdict verdict; /* SAME, CLOSE, DIFFERS, or UNKNOWN: incomplete */
    uint64_t pairs[TG_VERDICTS];
    uint64_t not_compared; /* unknown pairs that were not compared */
    uint64_t not_hashed;   /* unknown pairs with the reason NOT_HASHED */
    bool nothing;          /* of no tensor of a task is known whether it is equal */
    uint64_t
        reads[TG_VERDICTS]; /* values that the orchestrations read back, the n-th with the n-th */
    uint32_t gaps;          /* enum tg_diff_gap */
    bool graphs_differ; /* one side has a task that the other certainly did not run, and that is not
                              part of a fusion */
};
/* Summarizes the pairs that were compared so far; the others do not count. */
TG_API void tg_diff_summarize(const struct tg_diff *diff, struct tg_diff_summary *summary);

/* An edge between two tasks that both sides have, in the deps.json of one side only. */
struct tg_diff_edge {
    uint64_t before, after; /* numbers of tg_diff_get_task: `after` waits for `before` */
    bool in_a;              /* in that of A; otherwise in that of B */
    /* The other side has no order of the two at all, although they use the same bytes there and one
     * of them writes: its result is right by luck only. */
    bool race;
};
/* Compares the edges of both deps.json; tg_diff_get_edge gives those that only one has. They cannot be
 * compared if a side has no deps.json, or if the runtimes differ: *reason then says why, and is ""
 * otherwise. NO_MEMORY. */
TG_API tg_status tg_diff_compare_edges(struct tg_diff *diff, const char **reason,
                                       struct tg_error *error);
/* Edge `number`, from 0, those of A first; false past the last one. */
TG_API bool tg_diff_get_edge(const struct tg_diff *diff, uint64_t number,
                             struct tg_diff_edge *edge);

/* ── blame ─────────────────────────────────────────────────────────────────────────────────── */

/* What a suspect did, or what was done to it. Blame works on bits: inputs agree only if all of them
 * were recorded and are the same bit for bit. */
/*      constant    word, meaning */
#define TG_GUILT_MAP(X)                                                                       \
    X(INTRODUCED, "introduced", "its inputs agree bit for bit, but its outputs do not")       \
    X(UNORDERED, "unordered", "it and the other task use the same bytes in no order")         \
    X(SCALAR, "scalar", "it was given another scalar")                                        \
    X(VIEW, "view", "it was given another part of the same tensor")                           \
    X(REWIRED, "rewired", "it was given another tensor")                                      \
    X(GIVEN, "given", "a tensor that no task wrote has other content")                        \
    X(EXTRA, "extra", "only A ran it, and what it wrote is part of the difference")           \
    X(MISSING, "missing", "only B ran it, and what it wrote is missing in A")                 \
    X(CHANGED, "changed", "an input differs although every task that wrote it left it equal") \
    X(UNCLEAR, "unclear", "it may have begun it: not all that it read and wrote is known")    \
    X(INHERITED, "inherited", "an input was wrong already")

#define TG_GUILT_ENUM_(constant, word, meaning) TG_GUILT_##constant,
enum tg_guilt { TG_GUILT_MAP(TG_GUILT_ENUM_) TG_GUILTS };
#undef TG_GUILT_ENUM_
/* The word and the meaning of a guilt; "?" for a number that is none. */
TG_API const char *tg_guilt_name(unsigned guilt);
TG_API const char *tg_guilt_text(unsigned guilt);

struct tg_blame;

/* Uses the verdicts that tg_diff_compare has found so far. NO_MEMORY. */
TG_API tg_status tg_blame_open(struct tg_diff *diff, struct tg_blame **blame,
                               struct tg_error *error);
/* NULL is allowed. */
TG_API void tg_blame_close(struct tg_blame *blame);

/* How much was blamed, and on what that rests. */
struct tg_blame_info {
    const char *graph;   /* "deps_a", "deps_b", "memory_a", "memory_b" or "none" */
    uint64_t suspects;   /* tg_blame_get_suspect */
    uint64_t inherited;  /* wrong tasks that are not suspects themselves */
    uint64_t wrong;      /* tasks with an output beyond the tolerance */
    const char *unknown; /* why no suspect is known although something is wrong; "" otherwise */
};
/* How many tasks are wrong, and how many are suspects. */
TG_API void tg_blame_get_info(const struct tg_blame *blame, struct tg_blame_info *info);

/* A task on the way from a suspect to a wrong result. */
struct tg_suspect_step {
    uint64_t task; /* number of tg_diff_get_task */
    uint64_t pair; /* its output that disagrees most; TG_NONE if there is none */
    uint64_t ulp;  /* the largest distance of that output; 0 if not known */
    double error;  /* |a - b| / |b| of that output as vectors; NaN if not known */
    bool beyond;   /* that output is beyond the tolerance */
};

/* What an argument was on one side. */
struct tg_suspect_part {
    const char *name; /* of the tensor, as the case calls it; "" if it has none */
    uint64_t task;    /* number of the task that wrote it last; TG_NONE: no recorded task */
    uint64_t record;  /* the record of that output; TG_NONE */
    int64_t first,
        last; /* the lowest and the highest element of the tensor that the view touches */
};

/* A task where a difference began that leads beyond the tolerance: any guilt but INHERITED. Suspects
 * come in the order of TG_GUILT_MAP, the earliest in the graph first; at the same depth the largest
 * error first. */
struct tg_suspect {
    enum tg_guilt guilt;
    uint64_t task;  /* number of tg_diff_get_task */
    uint64_t other; /* UNORDERED: the task that it did not wait for; TG_NONE */
    uint64_t pair;  /* the pair that shows it; TG_NONE if the task is on one side only */
    uint32_t depth; /* tasks before it on the longest path */
    double error;   /* |a - b| / |b| of that pair as vectors; NaN if not known */
    uint64_t ulp;   /* the largest distance in that pair; 0 if not known */
    uint64_t left;  /* the first pair on the path that is beyond the tolerance; TG_NONE */
    bool ordered_a, ordered_b; /* UNORDERED: that side's deps.json has an order of the two */
    struct tg_suspect_part part_a, part_b; /* what the argument of `pair` was; tensors only */
    const uint64_t *path; /* task numbers, from this one to a wrong result at the end */
    const struct tg_suspect_step *step; /* the same tasks, with how far they are off */
    size_t n_path;
};
/* Suspect `number`, from 0; false past the last one. `path` and `step` belong to the blame, and hold
 * until the next call. From the hundredth suspect on the path is only the suspect itself: paths may be
 * as long as the run, and suspects as many. */
TG_API bool tg_blame_get_suspect(const struct tg_blame *blame, uint64_t number,
                                 struct tg_suspect *suspect);

/* ── finding ───────────────────────────────────────────────────────────────────────────────── */

/* What tg_find_open looks for. */
/*      constant    word, meaning */
#define TG_FIND_KIND_MAP(X)                                                              \
    X(NAN, "nan", "NaN in a tensor")                                                     \
    X(INF, "inf", "an infinity in a tensor")                                             \
    X(OVERFLOW, "overflow",                                                              \
      "an infinity or the type's largest value, computed from finite inputs")            \
    X(CONSTANT, "constant", "an output whose elements are all equal")                    \
    X(UNWRITTEN, "unwritten", "an output that its task did not write, or not all of it") \
    X(STOMP, "stomp", "a tensor that changed although no recorded task wrote it")        \
    X(RACE, "race", "tasks that share bytes, one writing them, without an order")

#define TG_FIND_ENUM_(constant, word, meaning) TG_FIND_##constant,
enum tg_find_kind { TG_FIND_KIND_MAP(TG_FIND_ENUM_) TG_FIND_KINDS };
#undef TG_FIND_ENUM_
/* The word that `taskglass find` takes, and its meaning; "?" for a number that is none. */
TG_API const char *tg_find_kind_name(unsigned find_kind);
TG_API const char *tg_find_kind_text(unsigned find_kind);

struct tg_find;

/* Searches every stored record; `progress` may be NULL. BAD_ARGUMENT: races are found by tg_races_find (race.h);
 * NO_MEMORY; UNSUPPORTED: nothing was
 * found, but nothing could be judged either: the text says what the recording lacks. A complete
 * recording of a run without tasks lacks nothing. */
TG_API tg_status tg_find_open(const struct tg_recording *recording, enum tg_find_kind find_kind,
                              tg_analysis_progress_fn progress, void *context,
                              struct tg_find **find, struct tg_error *error);
/* The same, and CANCELLED: `watch`, which may be NULL, asked for that. */
TG_API tg_status tg_find_open_watched(const struct tg_recording *recording,
                                      enum tg_find_kind find_kind, tg_analysis_watch_fn watch,
                                      void *context, struct tg_find **find, struct tg_error *error);
/* NULL is allowed. */
TG_API void tg_find_close(struct tg_find *find);

/* How much was searched and found. */
struct tg_find_info {
    const char *order;      /* of the findings: "time", "dependencies" or "task id" */
    uint64_t findings;      /* tg_find_get_finding */
    uint64_t origins;       /* findings with trace ORIGIN */
    uint64_t proved;        /* UNWRITTEN: findings that accuse a task */
    uint64_t looked_at;     /* records searched */
    uint64_t not_stored;    /* records that could not be searched */
    uint64_t only_hashed;   /* UNWRITTEN: outputs of which only all or nothing could be judged */
    uint64_t unfinished;    /* UNWRITTEN: outputs left out because their task had not finished */
    uint64_t tasks;         /* in deps.json; 0 if there is none */
    uint64_t unrecorded;    /* tasks of deps.json without a record */
    const char *deps_error; /* why deps.json could not be read; "" if there is no error */
};
/* How much was searched and found; valid from tg_find_open on. */
TG_API void tg_find_get_info(const struct tg_find *find, struct tg_find_info *info);

/* Where a finding came from. */
/*      constant    word, meaning */
#define TG_TRACE_MAP(X)                                                       \
    X(ORIGIN, "origin", "none of the task's inputs had it")                   \
    X(GIVEN, "given", "it came in with an input that no recorded task wrote") \
    X(UNCLEAR, "unclear", "not all of the task's inputs were recorded")       \
    X(INHERITED, "inherited", "an input of the task had it")

#define TG_TRACE_ENUM_(constant, word, meaning) TG_TRACE_##constant,
enum tg_trace { TG_TRACE_MAP(TG_TRACE_ENUM_) TG_TRACES };
#undef TG_TRACE_ENUM_
/* The word and the meaning of a trace; "?" for a number that is none. */
TG_API const char *tg_trace_name(unsigned trace);
TG_API const char *tg_trace_text(unsigned trace);

/* Evidence that an output was not written. POISON and REFERENCE prove it. A kernel that writes such
 * values on purpose leaves the others too, so they only show that it is possible. */
/*      constant    word, meaning */
#define TG_SIGN_MAP(X)                                                                     \
    X(NONE, "", "")                                                                        \
    X(POISON, "poison", "it still has the pattern that filled its memory")                 \
    X(STALE, "stale",                                                                      \
      "some of it is what another kernel left there, and every other element has changed") \
    X(REFERENCE, "reference", "the reference of its kernel computes something else")       \
    X(SAME, "same", "it has the same bits as an earlier record of the same memory")        \
    X(ZERO, "zero", "it is all zero, and no earlier record of its memory is known")        \
    X(FILL, "fill", "every byte is the same, as after a fill of the memory")               \
    X(TAIL, "tail",                                                                        \
      "its end is zero, no other element is, and no earlier record of its memory is known")

#define TG_SIGN_ENUM_(constant, word, meaning) TG_SIGN_##constant,
enum tg_sign { TG_SIGN_MAP(TG_SIGN_ENUM_) TG_SIGNS };
#undef TG_SIGN_ENUM_
/* The word and the meaning of a sign; "?" for a number that is none. */
TG_API const char *tg_sign_name(unsigned sign);
TG_API const char *tg_sign_text(unsigned sign);

/* Findings come in the order that tg_find_info names. */
struct tg_find_finding {
    uint64_t record;
    enum tg_trace trace;
    uint64_t count; /* elements that match */
    uint64_t first; /* the first of them, in row-major order */
    enum tg_sign sign;
    bool is_proved;  /* UNWRITTEN: the task is accused; false: it is only possible */
    uint64_t before; /* UNWRITTEN, STOMP: the earlier record of that memory; TG_NONE: none */
    uint64_t writer; /* STOMP: a record of the task that wrote it last; TG_NONE: not known */
};
/* Finding `number`, from 0; false past the last one. */
TG_API bool tg_find_get_finding(const struct tg_find *find, uint64_t number,
                                struct tg_find_finding *finding);

/* An input of a finding's task: one of its records before dispatch. */
struct tg_find_feed {
    uint64_t record;
    bool is_known;   /* the record could be searched */
    uint64_t count;  /* elements that match */
    uint64_t from;   /* a record of the task that wrote it last; TG_NONE: none */
    bool is_outside; /* no recorded task wrote some part of it */
};
/* Input `number`, from 0, of the task of a finding; false past the last one. */
TG_API bool tg_find_get_feed(const struct tg_find *find, uint64_t finding, uint64_t number,
                             struct tg_find_feed *feed);

/* STOMP: a task that ran between the two records; tasks come in the order in which they began. */
struct tg_find_between {
    uint64_t task_id;
    uint64_t record; /* one of its records */
    bool writes;     /* one of its outputs overlaps that memory: it wrote while another task read */
};
/* Task `number`, from 0, of a STOMP finding; false past the last one, and for other kinds. Not const: the
 * handle keeps the tasks of one finding at a time. */
TG_API bool tg_find_get_between(struct tg_find *find, uint64_t finding, uint64_t number,
                                struct tg_find_between *between);

#ifdef __cplusplus
}
#endif
#endif
