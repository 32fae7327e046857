/* SPDX-License-Identifier: Apache-2.0 */
/* The table of functions, and how a rank joins a job and leaves it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/mpi_state.h"

/* How long to wait for the others if MPI goes on without this end. */
#define LEAVE_SECONDS 2.0

static void destroy(struct tg_mpi *mpi)
{
    free(mpi->buffer);
    free(mpi->peer);
    free(mpi);
}

/* The first line of the version, as far as its number: "Open MPI v4.1.4". */
static void describe(struct tg_mpi *mpi)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    (void)MPI_Get_library_version(text, &length);
    text[strcspn(text, "\n,")] = '\0';
    for (char *at = text; *at; at++)
        if (*at == '\t')
            *at = ' ';
    /* MPICH writes "MPICH Version:      4.0.2". */
    const char *colon = strstr(text, " Version:");
    if (colon) {
        const char *number = colon + strlen(" Version:");
        snprintf(mpi->about, sizeof mpi->about, "%.*s %.40s", (int)(colon - text), text,
                 number + strspn(number, " "));
    } else {
        snprintf(mpi->about, sizeof mpi->about, "%.79s", text);
    }
}

static bool join(struct tg_mpi *mpi)
{
    int rank, ranks;
    if (MPI_Comm_dup(MPI_COMM_WORLD, &mpi->comm) != MPI_SUCCESS)
        return false;
    MPI_Comm_set_errhandler(mpi->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(mpi->comm, &rank);
    MPI_Comm_size(mpi->comm, &ranks);
    mpi->rank = (uint32_t)rank;
    mpi->ranks = (uint32_t)ranks;
    return true;
}

static bool meet(struct tg_mpi *mpi)
{
    MPI_Comm local;
    int rank, ranks;
    if (MPI_Comm_split_type(mpi->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local) !=
        MPI_SUCCESS)
        return false;
    MPI_Comm_rank(local, &rank);
    MPI_Comm_size(local, &ranks);
    mpi->local_rank = (uint32_t)rank;
    mpi->local_ranks = (uint32_t)ranks;
    bool is_good = tg_mpi_meet_peers(mpi, local);
    MPI_Comm_free(&local);
    return is_good;
}

static void count_tags(struct tg_mpi *mpi)
{
    int *most = NULL, is_known = 0;
    (void)MPI_Comm_get_attr(mpi->comm, MPI_TAG_UB, &most, &is_known);
    mpi->tags = (uint32_t)(is_known && most ? *most : 32767) - TG_MPI_FIRST_TAG;
}

static tg_status begin(struct tg_mpi *mpi, struct tg_error *error)
{
    int has_begun = 0, has_ended = 0, level = MPI_THREAD_SINGLE;
    MPI_Initialized(&has_begun);
    MPI_Finalized(&has_ended);
    if (has_ended)
        return tg_mpi_fail(error, TG_UNSUPPORTED,
                           "MPI has ended in this process, and cannot begin again; a program that "
                           "runs several cases calls MPI_Init itself, before the first");
    if (!has_begun) {
        mpi->is_ours = true;
        if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
            return tg_mpi_fail(error, TG_IO_ERROR, "MPI_Init_thread failed");
    } else {
        MPI_Query_thread(&level);
    }
    if (level < MPI_THREAD_SERIALIZED)
        return tg_mpi_fail(error, TG_UNSUPPORTED,
                           "this MPI serves one thread only; call MPI_Init_thread with "
                           "MPI_THREAD_SERIALIZED, or use an MPI that has it");
    return TG_OK;
}

static tg_status open_mpi(void **state, struct tg_error *error)
{
    struct tg_mpi *mpi = calloc(1, sizeof *mpi);
    *state = NULL;
    if (!mpi)
        return tg_mpi_fail(error, TG_NO_MEMORY, "out of host memory for MPI");
    mpi->sends_end = &mpi->sends;
    mpi->receives_end = &mpi->receives;
    mpi->ready_end = &mpi->ready;
    tg_status status = begin(mpi, error);
    if (status != TG_OK) {
        destroy(mpi);
        return status;
    }
    describe(mpi);
    bool is_good = join(mpi);
    mpi->peer = is_good ? calloc(mpi->ranks, sizeof *mpi->peer) : NULL;
    mpi->buffer = malloc(TG_MPI_RING * sizeof *mpi->buffer);
    is_good = is_good && mpi->peer && mpi->buffer && meet(mpi);
    if (is_good) {
        count_tags(mpi);
        is_good = tg_mpi_post_ring(mpi);
    }
    if (!is_good) { /* MPI may still use the memory, so that it stays */
        return tg_mpi_fail(error, TG_IO_ERROR, "MPI could not connect the ranks");
    }
    *state = mpi;
    return TG_OK;
}

/* MPI_Finalize waits for all ranks. One that left without it, because another was late, would let that one wait for
 * ever, or mpirun end it; so this end waits as long as all are there. A program that ends MPI by itself waits then. */
static void close_mpi(void *state, bool failed)
{
    struct tg_mpi *mpi = state;
    for (uint32_t r = 0; r < mpi->ranks; r++)
        failed = failed || mpi->peer[r].lost;
    failed = failed || !tg_mpi_drain(mpi, mpi->is_ours ? 0 : LEAVE_SECONDS);
    failed = failed || mpi->sends || mpi->receives;
    tg_mpi_free_messages(mpi, failed);
    if (failed)
        return; /* MPI_Finalize would wait for the ranks that are gone */
    MPI_Comm_free(&mpi->comm);
    if (mpi->is_ours)
        MPI_Finalize();
    destroy(mpi);
}

static uint32_t rank_of(const void *state)
{
    return ((const struct tg_mpi *)state)->rank;
}

static uint32_t ranks_of(const void *state)
{
    return ((const struct tg_mpi *)state)->ranks;
}

static void local_of(const void *state, uint32_t *rank, uint32_t *ranks)
{
    const struct tg_mpi *mpi = state;
    *rank = mpi->local_rank;
    *ranks = mpi->local_ranks;
}

static const char *about(const void *state)
{
    return ((const struct tg_mpi *)state)->about;
}

/* MPI has nothing that poll() could wait for. */
static int no_fd(const void *state)
{
    (void)state;
    return -1;
}

static const struct tg_comm_ops ops = {
    .abi = TG_COMM_ABI,
    .size = sizeof ops,
    .name = "mpi",
    .open = open_mpi,
    .close = close_mpi,
    .rank = rank_of,
    .ranks = ranks_of,
    .local = local_of,
    .about = about,
    .send = tg_mpi_send,
    .receive = tg_mpi_receive,
    .poll = tg_mpi_poll,
    .fd = no_fd,
    .forget = NULL, /* a request is MPI's until it is complete: the caller keeps its memory */
};

__attribute__((visibility("default"))) const struct tg_comm_ops *tg_comm_plugin(void);
const struct tg_comm_ops *tg_comm_plugin(void)
{
    return &ops;
}
