/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runs that are served. Listing opens none; the first request for a run opens it, and a few stay open. A run that
 * grew since is opened again by the next request, while requests under way keep the old one: so a struct tg_bench_run
 * never changes what it shows, and counts its users.
 *
 *   bench.c        opens and closes the workbench; which runs are open
 *   bench_list.c   which runs there are, and their keys
 *   bench_run.c    one run: opening it, and whether its files have changed
 *   bench_ranks.c  runs of several ranks: each rank is a run that is not in the list, with the key NAME@RANK
 *
 * Any thread may call these functions at any time.
 */
#ifndef TG_WORKBENCH_BENCH_H
#define TG_WORKBENCH_BENCH_H

#include <pthread.h>
#include <taskglass/recording.h>
#include <taskglass/runs.h>
#include <taskglass/workbench.h>

struct tg_bench_tasks;
struct tg_bench_edges;
struct tg_bench_given;
struct tg_ranks;

enum { TG_BENCH_KEY = 256, TG_BENCH_OPEN = 4, TG_BENCH_MOST = 128 << 20 };

/* The files of a run as a number: it changes if they grow, are replaced, or their writer ends. */
struct tg_bench_state {
    uint64_t files;
};

/* A run that the workbench knows. It stays where it is until the workbench is closed. */
struct tg_bench_entry {
    char key[TG_BENCH_KEY];
    char *path;                /* what commands take: a directory, or a file of a recording */
    char *folder;              /* the directory of the run's files */
    uint64_t generation;       /* counts how often its files have changed; 0: it never was open */
    struct tg_bench_run *open; /* NULL: it is not */
    struct tg_bench_state was; /* its files when it was opened last */
    bool is_opening;           /* a thread opens it; the others wait */
    struct tg_bench_entry *whole; /* of a rank: the run that it is a rank of; else NULL */
    uint32_t rank;
};

/* One run, as its files were when it was opened. */
struct tg_bench_run {
    struct tg_workbench *bench;
    char key[TG_BENCH_KEY];
    char *path, *folder;            /* as in its entry */
    struct tg_recording *recording; /* NULL: it has none, and `why` says so */
    struct tg_recording_info info;  /* of the recording */
    char why[500];
    struct tg_ranks *ranks;   /* of a run of several ranks; NULL: it is none */
    char whole[TG_BENCH_KEY]; /* of a rank: the key of its run; "" */
    uint32_t rank;
    uint64_t generation;
    /* What is made when a request first needs it, under `lock`; then it does not change. Whoever holds it may take the
     * lock of the workbench, and never the other way round. */
    pthread_mutex_t lock;
    struct tg_bench_tasks *tasks; /* tasks.h: the tasks and their times */
    struct tg_bench_edges *edges; /* edges.h: who waited for whom */
    struct tg_bench_given *given; /* given.h: the tensors of the case */
    /* Private to bench.c, under the lock of the workbench. */
    unsigned users;
    bool is_old;      /* its files have changed: nobody else gets it */
    size_t weight;    /* bytes that its indices take */
    uint64_t used;    /* counts takes: the smallest number was not used for longest */
    uint64_t look_at; /* when to look at the files again */
    struct tg_bench_entry *entry;
    struct tg_bench_run *next;
};

/* A row of the list of runs. */
struct tg_bench_row {
    const struct tg_bench_entry *entry;
    struct tg_runs_entry run; /* its `path` is the entry's */
    bool is_counted;          /* `run` has the size of its files */
    uint32_t ranks;           /* 0: it is no run of several ranks */
};
struct tg_bench_list {
    struct tg_bench_row *row; /* those that go on first, then the newest first */
    size_t count, room;
    uint64_t unread; /* directories that the user may not read */
};

struct tg_workbench {
    char *root;       /* the path as the user gave it */
    bool is_folder;   /* `root` has runs in it, and new ones may come; else there are `fixed` */
    bool is_static;   /* the answers go into a page without a server */
    unsigned n_fixed; /* 1, or 2 to compare */
    struct tg_bench_entry *fixed[2];
    pthread_mutex_t lock;                      /* of everything below */
    pthread_cond_t opened;                     /* a run was opened, or could not be */
    struct tg_bench_entry **by_path, **by_key; /* the same entries, sorted */
    size_t n_entries, path_room, key_room;
    struct tg_bench_run *first; /* the runs that are open, old ones not */
    uint64_t takes;
    uint64_t listed_at; /* when the folder was read last */
};

/* The run of that key, opened if it is not; the caller gives it back. NOT_FOUND, IO_ERROR, NO_MEMORY. A run without
 * a recording is OK: requests that need one call tg_bench_need_recording. */
tg_status tg_bench_take(struct tg_workbench *bench, const char *key, struct tg_bench_run **run,
                        struct tg_error *error);
void tg_bench_keep(struct tg_bench_run *run); /* one more user */
void tg_bench_give_back(struct tg_bench_run *run);

/* Says that an index of the run takes so many bytes. Runs that nobody uses are closed while all of them together take
 * more than TG_BENCH_MOST; the one that was used last stays. */
void tg_bench_weigh(struct tg_bench_run *run, size_t bytes);

/* UNSUPPORTED, with the reason, if the run has no recording. */
tg_status tg_bench_need_recording(const struct tg_bench_run *run, struct tg_error *error);

/* Finds out what `path` and `other` are, and fills root, is_folder and fixed. Errors are those of tg_workbench_open. */
tg_status tg_bench_find(struct tg_workbench *bench, const char *path, const char *other,
                        struct tg_error *error);
/* The runs as they are now. The caller frees the list, also after a failure. */
tg_status tg_bench_list(struct tg_workbench *bench, struct tg_bench_list *list,
                        struct tg_error *error);
void tg_bench_list_free(struct tg_bench_list *list);
struct tg_json;
/* Writes a row as an object (runs.c). */
void tg_bench_put_row(struct tg_json *json, const struct tg_bench_row *row);
/* The entry of that key, NULL if there is none. The caller holds the lock. */
struct tg_bench_entry *tg_bench_entry_of(struct tg_workbench *bench, const char *key);

/* The entry of a path, made if it is new; NULL if memory ran out. `key`: NULL: it gets one by the folder's name. The
 * caller holds the lock. */
struct tg_bench_entry *tg_bench_add_entry(struct tg_workbench *bench, const char *path,
                                          const char *folder, const char *key);

/* True if the directory is that of a run of several ranks. */
bool tg_bench_is_of_ranks(const char *dir);
/* The entry of a rank by its key; NULL if there is none. Takes the lock. */
struct tg_bench_entry *tg_bench_rank_entry(struct tg_workbench *bench, const char *key);
/* The key of a rank; false if it would be too long. */
bool tg_bench_rank_key(const char *whole, uint32_t rank, char key[TG_BENCH_KEY]);
/* Fills in what ranks.json says, for the list. */
void tg_bench_describe_ranks(struct tg_bench_row *row, const char *folder);

/* Looks at the files of a run, without reading them. */
struct tg_bench_state tg_bench_state_of(const struct tg_bench_entry *entry);
/* Opens the run, which has no users yet. NOT_FOUND: its directory is gone; IO_ERROR, NO_MEMORY. */
tg_status tg_bench_run_open(struct tg_workbench *bench, const struct tg_bench_entry *entry,
                            struct tg_bench_run **run, struct tg_error *error);
void tg_bench_run_close(struct tg_bench_run *run);

#endif
