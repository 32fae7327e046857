/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runs of the past: what lies under outputs/, and how to remove it.
 *
 *     struct tg_runs *runs;
 *     struct tg_runs_entry run;
 *     if (tg_runs_open(NULL, &runs, &error) == TG_OK) {
 *         for (uint64_t i = 0; tg_runs_get(runs, i, &run); i++)
 *             printf("%s: %s\n", run.path, tg_recording_state_name(run.state));
 *         tg_runs_close(runs);
 *     }
 *
 * The files of a run are not trusted. Nothing here blocks on a FIFO, follows a symbolic link out of a run's
 * directory, or reads more than 16 MiB of a run.json.
 */
#ifndef TASKGLASS_RUNS_H
#define TASKGLASS_RUNS_H

#include <taskglass/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tg_runs;

/* One run. Texts are clean (text.h), but for `path`, which a program opens. */
struct tg_runs_entry {
    const char *path;                                            /* lives as long as the list */
    char name[256];                                              /* of its directory */
    char workload[64], case_name[64], platform[32], runtime[48]; /* "": not known */
    int64_t began;   /* seconds since 1970: as run.json says, or when its directory last changed */
    double seconds;  /* from begin to end; 0: not known */
    uint32_t state;  /* enum tg_recording_state; INTERRUPTED: its host was killed */
    bool has_status; /* run.json names the status that it ended with */
    tg_status status;
    bool has_counts; /* run.json has the tasks and, if the run was recorded, the records */
    bool recorded;
    uint64_t tasks, finished;
    uint64_t records, lost; /* lost: records that the recorder counted as lost */
    uint64_t bytes;         /* that its files take on the disk */
    uint32_t others;        /* files and folders in it that no run writes */
    uint32_t
        ranks; /* of a run with several ranks (ranks.h), whose counts are those of all ranks here; 0 for
                       any other */
};

/*
 * Finds the runs in a directory, the newest first; NULL: in outputs/. If the directory is itself that of a
 * run, the list has this one. A run is a directory with a file that a run writes; a run.json or deps.json that
 * names no workload is somebody else's, unless the directory has a name that runs make. A run with several
 * ranks is one run. Symbolic links are left out. NOT_FOUND: there is no such directory. IO_ERROR, NO_MEMORY. The caller closes *runs.
 */
TG_API tg_status tg_runs_open(const char *dir, struct tg_runs **runs, struct tg_error *error);
/* False past the last. */
TG_API bool tg_runs_get(const struct tg_runs *runs, uint64_t number, struct tg_runs_entry *run);
/* Directories that the user may not read, so that nobody knows whether they are runs. *path, if not NULL: the
 * first of them, clean; lives as long as the list. */
TG_API uint64_t tg_runs_unread(const struct tg_runs *runs, const char **path);
TG_API void tg_runs_close(struct tg_runs *runs);

/* Which runs to select. Zeros: all of them. */
struct tg_runs_filter {
    const char *workload; /* of this workload */
    const char
        *result; /* that ended so: "failed", "finished" …, or the name of a status; in any case */
    bool has_age;
    int64_t older_than; /* has_age: that began at least so many seconds ago */
    uint64_t keep;      /* all but the newest so many of them */
    bool ended;         /* not those that still go on */
};
/* Leaves only the runs that the filter selects in the list. BAD_ARGUMENT: an unknown result. */
TG_API tg_status tg_runs_select(struct tg_runs *runs, const struct tg_runs_filter *filter,
                                struct tg_error *error);
/* BAD_ARGUMENT: no run can end so; the text has the words. */
TG_API tg_status tg_runs_check_result(const char *word, struct tg_error *error);
/* "90s", "30m", "12h", "7d", "2w" in seconds. BAD_ARGUMENT. */
TG_API tg_status tg_runs_parse_age(const char *text, int64_t *seconds, struct tg_error *error);
/* The run of that name, alone in a list: `word` is a path, or the name of a directory under outputs/.
 * NOT_FOUND; BAD_ARGUMENT: it is not the directory of a run, or there are two of that name. */
TG_API tg_status tg_runs_find(const char *word, struct tg_runs **runs, struct tg_error *error);

/* What tg_runs_remove did. */
struct tg_runs_removed {
    uint64_t bytes; /* that the files took on the disk */
    uint32_t files;
    uint32_t others; /* files and folders that no run writes; they and the directory stay */
    char other[256]; /* the name of one of them, clean; "" if there is none */
};

/*
 * Removes the files that a run wrote, of all its ranks, and its directory if nothing else is in it. `removed` may be NULL.
 * Symbolic links are not followed. BUSY: the run still goes on. BAD_ARGUMENT: the path is not the directory of
 * a run. NOT_FOUND. IO_ERROR: something could not be removed; the run is still listed then.
 */
TG_API tg_status tg_runs_remove(const char *path, struct tg_runs_removed *removed,
                                struct tg_error *error);

#ifdef __cplusplus
}
#endif
#endif
