/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the recordings of all ranks of a run say together (taskglass/ranks.h opens the directory):
 * whether their messages fit, why the run failed or hung, on which rank a difference began, whether
 * tensors that must be equal on all ranks are, and whether the parts on the ranks are what one device
 * computes.
 *
 * The files are not trusted; texts are clean (text.h), one line, and lists are bounded. What is not known
 * is said, and never guessed. A handle belongs to one thread at a time.
 */
#ifndef TASKGLASS_RANKS_ANSWERS_H
#define TASKGLASS_RANKS_ANSWERS_H

#include <taskglass/analysis.h>
#include <taskglass/query.h>
#include <taskglass/ranks.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TG_RANKS_FINDINGS = 10, TG_RANKS_TEXT = 500 };

/* ── do the messages fit? ──────────────────────────────────────────────────────────────── */

/* Whether the files in the folder of rank `number` are its own, as far as they say it: folders may have been exchanged,
 * or copied from another run. NOT_FOUND: the folder is not here. BAD_ARGUMENT: they are another rank's, or another
 * run's, and `error` says which; or there is no such rank. NO_MEMORY. */
TG_API tg_status tg_ranks_check_folder(const struct tg_ranks *ranks, uint32_t number,
                                       struct tg_error *error);

/* What tg_ranks_verify came to. */
enum tg_ranks_fit {
    TG_FIT_GOOD, /* all calls fit, and all contents that can be compared were, or there are no calls */
    TG_FIT_PART,    /* all calls fit, but contents were not compared, because hashes are missing */
    TG_FIT_UNKNOWN, /* of some calls it is not known whether they fit */
    TG_FIT_BAD,
    TG_FITS
};

/* A call that does not fit to that of another rank. */
struct tg_ranks_misfit {
    uint32_t rank, other; /* `other` may be the same for a call that nobody answered */
    uint64_t task;        /* on `rank` */
    char text[TG_RANKS_TEXT];
};

/* What tg_ranks_verify found. */
struct tg_ranks_messages {
    uint64_t messages;    /* sends with their receives */
    uint64_t collectives; /* calls of all ranks */
    uint64_t compared;    /* hashes of both ends were compared */
    uint64_t unknown;     /* ends that are not known, or that have not ended */
    uint64_t unhashed;    /* ends that fit, but whose hash, or the other end's, was not recorded */
    uint64_t unshared;    /* calls of all ranks whose results nothing could be compared with */
    uint64_t damaged;     /* lines of comm.jsonl that are not calls */
    uint64_t incomplete;  /* ranks whose comm.jsonl does not have all calls */
    uint64_t absent; /* ranks whose calls are not known: their folder, or comm.jsonl, is not here */
    uint64_t problems; /* misfits; `misfit` has the first */
    enum tg_ranks_fit result;
    uint32_t n_misfits;
    struct tg_ranks_misfit misfit[TG_RANKS_FINDINGS];
};

/*
 * Compares both ends of every message: who sent and who received, type, number of elements, and by hash
 * the bytes, where both were recorded. Results of tg_all_reduce, tg_all_gather and tg_broadcast must be
 * the same on all ranks; those of tg_reduce_scatter and tg_all_to_all are different on each, and are not
 * compared. A call that another rank lacks is a misfit only if that rank ended well and all its calls are
 * known. IO_ERROR, NO_MEMORY. A recording that cannot be opened only makes its ends unknown.
 */
TG_API tg_status tg_ranks_verify(const struct tg_ranks *ranks, struct tg_ranks_messages *messages,
                                 struct tg_error *error);
/* "good", "not all compared", "not known", "bad"; "unknown" for a number that is none. */
TG_API const char *tg_ranks_fit_name(unsigned result);

/* ── why did it fail or hang? ──────────────────────────────────────────────────────────── */

enum { TG_RANKS_WAITS = 64, TG_RANKS_UNKNOWN = 16 };

/* A call that had not completed. */
struct tg_ranks_wait {
    uint32_t rank;
    struct tg_call call; /* `site` lives as long as the explanation */
    bool has_for;        /* another rank's call is missing or different: */
    uint32_t waits_for;  /* that rank; the lowest if there are several */
    uint32_t n_for;      /* how many they are */
    bool is_mismatch;    /* that rank has made another call in its place */
    char text[TG_RANKS_TEXT];
};

/* How one rank ended, as far as its files say. */
struct tg_ranks_end {
    uint32_t rank;
    char status[40]; /* "OK", "HANG" …, "RUNNING", "" if nothing says it */
    char error[500]; /* its own error */
    bool is_own;     /* it failed by itself; false: because of another rank, or not at all */
    bool has_time;
    int64_t time_ns;  /* when it ended, on rank 0's clock */
    int64_t error_ns; /* of that time */
};

/* An explanation over all ranks. */
struct tg_ranks_explanation {
    bool is_well;    /* every rank ended well */
    bool is_running; /* as far as its files say: no rank has failed, and not all have ended */
    char root[TG_RANKS_TEXT]; /* in one sentence */
    bool has_first; /* `first` is the rank that failed first; false if of a rank nothing is known */
    uint32_t first;
    char order
        [TG_RANKS_TEXT]; /* who failed first, and how sure that is; "" if nobody failed by itself */
    uint32_t n_waits, more_waits;
    struct tg_ranks_wait wait[TG_RANKS_WAITS];
    uint32_t ranks;
    struct tg_ranks_end *end; /* of each rank */
    uint32_t n_unknown;
    char unknown[TG_RANKS_UNKNOWN][240]; /* the last one counts those that there is no room for */
    void *own;                           /* private */
};

/* Explains a run with several ranks from the files of all of them. The caller frees *explanation.
 * IO_ERROR, NO_MEMORY. */
TG_API tg_status tg_ranks_explain(const struct tg_ranks *ranks,
                                  struct tg_ranks_explanation **explanation,
                                  struct tg_error *error);
/* NULL is allowed. */
TG_API void tg_ranks_explanation_free(struct tg_ranks_explanation *explanation);

/* ── two runs: where did a difference begin? ───────────────────────────────────────────── */

enum { TG_RANKS_CAUSES = 16 };

/* A task that began a difference, or that received one. */
struct tg_ranks_cause {
    uint32_t rank;
    uint64_t task_a, task_b; /* TG_TASK_NONE: that side has none */
    char kernel[120];
    enum tg_guilt guilt;
    uint32_t depth;
    bool has_from; /* a call: it received the difference from this rank */
    uint32_t from;
    char text[TG_RANKS_TEXT];
};

/* What a comparison of two runs found, over all ranks. */
struct tg_ranks_difference {
    enum tg_verdict
        verdict; /* the worst of all ranks; UNKNOWN if some are not known and none differs */
    uint64_t differ, equal, unknown; /* ranks */
    /* Tasks that began it, the first one first: not victims of another rank's. */
    uint32_t n_causes, more_causes;
    struct tg_ranks_cause cause[TG_RANKS_CAUSES];
    /* Calls by which a difference reached a rank. */
    uint32_t n_reached, more_reached;
    struct tg_ranks_cause reached[TG_RANKS_CAUSES];
    uint32_t n_unknown;
    char missing[TG_RANKS_UNKNOWN][240]; /* what is not known; the last one counts the rest */
};

/* Compares rank r of `a` with rank r of `b`, and follows differences from ranks that received them to
 * those that sent them: element by element where the values were recorded. A folder with the files of
 * another rank makes its rank unknown. BAD_ARGUMENT: they have different numbers of ranks. IO_ERROR,
 * NO_MEMORY. */
TG_API tg_status tg_ranks_diff(const struct tg_ranks *a, const struct tg_ranks *b,
                               const struct tg_diff_options *options,
                               struct tg_ranks_difference *difference, struct tg_error *error);

/* ── are tensors the same on all ranks? ────────────────────────────────────────────────── */

/* One tensor on all ranks. */
struct tg_ranks_same {
    char name[200];          /* "tg_all_reduce number 3", "task 4 mlp_bias argument 2, after" */
    enum tg_verdict verdict; /* SAME, CLOSE (within the tolerance), DIFFERS, UNKNOWN */
    uint32_t known;          /* ranks whose bytes or hash are known */
    /* DIFFERS: more than half of all ranks agree, each with each other one and with no rank outside. `odd` is the first
     * of the others that are known. */
    bool has_odd;
    uint32_t odd,
        usual; /* `usual`: a rank that is like most; DIFFERS without has_odd: two that differ; else 0 */
    uint32_t n_odd;  /* has_odd: ranks that are not like most */
    bool has_values; /* `values` compares `odd` (a) with `usual` (b) */
    struct tg_comparison values;
    int ndim;
    int64_t shape[TG_MAX_DIMS];
    uint32_t dtype;
    char text[TG_RANKS_TEXT];
};
/* Called for each tensor; a return other than 0 ends it. */
typedef int (*tg_ranks_same_fn)(void *context, const struct tg_ranks_same *same);

/* What was compared. */
struct tg_ranks_sameness {
    uint64_t tensors, same, close, differ, unknown;
};

/*
 * Compares results of tg_all_reduce, tg_broadcast and tg_all_gather on all ranks, or, if `query` selects
 * records, those: the n-th on each rank in the order of tasks, stages and arguments. If ranks have different numbers
 * of them, or the n-th are of different kernels, stages or arguments, or of different tasks where every recording lacks
 * records, that is UNKNOWN. So are the calls that no file has, if no rank's calls are complete. Bit for bit, unless
 * options->rules has tolerances: then each rank is compared with each other one that has other bits.
 * NOT_FOUND: there is nothing to compare, as in a run of one rank (says why).
 */
TG_API tg_status tg_ranks_across(const struct tg_ranks *ranks, const struct tg_query *query,
                                 const struct tg_diff_options *options, tg_ranks_same_fn tell,
                                 void *context, struct tg_ranks_sameness *sameness,
                                 struct tg_error *error);

/* ── one device against many ───────────────────────────────────────────────────────────── */

/* How the parts of a tensor lie on the ranks. */
enum tg_shard_how { TG_SHARD_SPLIT, TG_SHARD_PARTIAL, TG_SHARD_REPLICATED };

/*
 * How the parts of a tensor lie on the ranks, and which tensors are meant:
 *
 *     mlp_bias.2=b h(rank)            argument 2 of kernel mlp_bias; dimension 1 is split over the ranks
 *     gemm.2:gemm_part.2=partial(sum) gemm on one device, gemm_part on the ranks, each a summand
 *     @12.2:@1:7.2=replicated         by task instead of kernel; every rank has the whole
 *     step.1=y(rank/2) x(rank%2)      a grid of ranks: dimension 0 by rank / 2, dimension 1 by rank % 2
 *
 * Dimension words are only names. Blocks lie in the order of their numbers and may have different sizes.
 * The n-th task of the kernel on one device is compared with the n-th on each rank. Where tasks write
 * tiles of a tensor of the case, a star puts them together first: mlp_bias.2*=b h(rank).
 */
struct tg_shard {
    char kernel[2][200]; /* on one device, on the ranks; "": by task */
    uint64_t task[2];    /* TG_TASK_NONE: by kernel */
    uint32_t argument[2];
    bool is_joined[2]; /* tiles of all the kernel's tasks are put together */
    enum tg_shard_how how;
    uint32_t operation; /* PARTIAL: enum tg_reduction */
    int ndim;           /* SPLIT: words */
    /* SPLIT: block = rank / divide % modulo in that dimension; divide 0: the dimension is not split. */
    uint32_t divide[TG_MAX_DIMS], modulo[TG_MAX_DIMS];
    char text[300]; /* as it was written */
};
/* BAD_ARGUMENT says what is wrong with the text. */
TG_API tg_status tg_shard_parse(const char *text, struct tg_shard *shard, struct tg_error *error);

/* One tensor of one device beside its parts. */
struct tg_shard_result {
    const struct tg_shard *shard;
    uint64_t number; /* the how-manieth task of the kernel, from 0 */
    /* On the one device; of joined tiles that of the first mismatch. TG_TASK_NONE: it has fewer tensors. */
    uint64_t task_one;
    enum tg_verdict verdict; /* SAME, CLOSE, DIFFERS, UNKNOWN */
    uint32_t dtype;
    int ndim;
    int64_t shape[TG_MAX_DIMS]; /* of the whole */
    uint64_t mismatches;        /* elements of parts that are beyond the tolerance */
    double max_abs;             /* over all parts */
    bool has_first;
    int64_t first[TG_MAX_DIMS]; /* coordinates in the whole tensor of the first mismatch */
    bool has_rank;              /* false: the sum of all ranks */
    uint32_t rank;              /* that holds it */
    uint64_t task_rank;         /* the task there that wrote it; TG_TASK_NONE: not known */
    uint64_t one, many;         /* the bits of both values */
    char text[TG_RANKS_TEXT];   /* UNKNOWN: why; DIFFERS: what else was not compared, or "" */
};
/* Called for each tensor; a return other than 0 ends it. */
typedef int (*tg_shard_fn)(void *context, const struct tg_shard_result *result);

/*
 * Compares the tensors of one device with what the ranks have. A part that is missing, or of another type or
 * shape, makes a tensor UNKNOWN unless another part of it DIFFERS. Parts that are split must be all blocks of the
 * whole. Summands are reduced as tg_all_reduce does; integers wrap around. Of tensors that are selected by kernel, which
 * belong together is UNKNOWN, in one result for all of them, if the sides have different numbers of them, if every
 * recording lacks records, or if one does of which tiles are put together. NOT_FOUND: a shard selects nothing.
 */
TG_API tg_status tg_ranks_compare(const struct tg_recording *one, const struct tg_ranks *many,
                                  const struct tg_shard *shard, size_t n_shards,
                                  const struct tg_diff_options *options, tg_shard_fn tell,
                                  void *context, struct tg_ranks_sameness *sameness,
                                  struct tg_error *error);

#ifdef __cplusplus
}
#endif
#endif
