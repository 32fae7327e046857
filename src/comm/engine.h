/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine of communication, for the files of this room.
 *
 *   open.c        joins the job, starts the progress thread
 *   thread.c      the progress thread: requests of other threads, events, timers, sleep
 *   run.c         a run: begins, fails, ends
 *   call.c        a call: posted, matched with those of other ranks, done
 *   plan.c        the actions of a call, and their order
 *   action.c      does them
 *   algorithm.c   which actions each kind of call has
 *   span.c        the tensors of a call, in place or packed
 *
 * All of struct tg_comm belongs to the progress thread, except what is marked. Other threads ask it
 * (struct tg_request) and wait for the answer.
 */
#ifndef TG_COMM_ENGINE_H
#define TG_COMM_ENGINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <taskglass/json.h>
#include <taskglass/tensor.h>

#include "comm/clock.h"
#include "comm/comm.h"
#include "comm/message.h"
#include "comm/plan.h"

/* --- calls ---------------------------------------------------------------------------------- */

/* A tensor of a call on this side: its elements packed, in device memory itself or in a copy. */
struct tg_span {
    unsigned char *bytes;
    bool is_copy;          /* `bytes` is on the heap: loaded before it is read, stored after */
    unsigned char *mapped; /* of a copy: the storage at tensor.addr, if it can be mapped */
    struct tg_tensor tensor;
    uint64_t elements, size;
    unsigned char *window; /* bytes of a storage that cannot be mapped, on the heap; NULL: none */
    uint64_t window_begin, window_size;
    uint64_t loaded, stored, written; /* elements so far; stored ones may wait to be written */
};

struct tg_call {
    struct tg_call *next, **link; /* in run.calls */
    struct tg_meet *meet;
    struct tg_comm_call asked;
    struct tg_message head; /* the call as other ranks know it */
    struct tg_span in, out; /* out.bytes may be in.bytes */
    struct tg_plan plan;
    uint32_t matches_left; /* other ranks that have not said that their call fits */
    bool matched, is_done;
    struct tg_call *other; /* of a send to this rank itself: the receive */
    int64_t posted_ns, matched_ns, done_ns;
};

/* A message that came before its call. */
struct tg_early {
    struct tg_early *next;
    uint32_t from;
    uint64_t message, payload_size;
    struct tg_message head;
};

/* Where a call and what other ranks sent for it meet. Point-to-point: by direction, peer, tag and
 * number; collective calls: by number. */
struct tg_meet_key {
    uint32_t kind; /* TG_COMM_SEND, TG_COMM_RECV, or TG_COMM_KINDS: collective */
    int32_t peer, tag;
    uint64_t number;
};
struct tg_meet {
    struct tg_meet *next;
    struct tg_meet_key key;
    struct tg_call *call;
    struct tg_early *first, *last;
};

/* What a token stands for. */
enum tg_pending_kind {
    PENDING_FREE = 0,
    PENDING_ACTION,   /* of a call */
    PENDING_EXCHANGE, /* bytes of another rank, in `buffer` */
    PENDING_NOTHING   /* nobody wants to know */
};
struct tg_pending {
    enum tg_pending_kind kind;
    uint32_t generation;
    uint32_t peer;
    struct tg_call *call; /* PENDING_ACTION */
    uint32_t action;
    uint64_t number; /* PENDING_EXCHANGE */
    void *buffer;    /* freed with it */
    uint64_t size;   /* of the payload */
    bool in_place;   /* the transport uses device memory */
    uint32_t next_free;
};

/* value[0] of a FAILED. */
enum { TG_FAILED_TOLD = 0, TG_FAILED_TO_TELL = 1 };

struct tg_works {
    struct tg_work *first, *last;
};

/* Temporary bytes that are not used now; fresh ones would cost a page fault for each page. */
enum { TG_SPARES = 16 };
struct tg_spare {
    unsigned char *bytes;
    uint64_t size;
};

/* --- a run ---------------------------------------------------------------------------------- */

enum tg_run_phase { RUN_NONE = 0, RUN_GOES, RUN_ENDS, RUN_DRAINS };

enum { TG_MEETS = 1024 };

struct tg_comm_log {
    int fd; /* -1: none */
    struct tg_json json;
    char *buffer;
    uint64_t calls;    /* that had their line */
    double flushed_at; /* when lines were last given to the system, or the first came after that */
    bool has_new;      /* lines that a rank that is killed would lose */
    uint64_t lost;     /* lines */
};

struct tg_comm_run {
    enum tg_run_phase phase;
    struct tg_comm_port port;
    bool failed;
    bool by_host;  /* the failure is this rank's own, and its host knows it */
    bool reported; /* a mismatch that rank 0 will tell all */
    bool settled;  /* RUN_ENDS: this rank has said so */
    struct tg_error error;
    struct tg_call *calls; /* posted, and neither done nor matched yet */
    uint64_t n_waiting;    /* of these, those that are not done */
    uint64_t n_unmatched;  /* … and those that are done, but not matched */
    struct tg_meet *meets[TG_MEETS];
    uint64_t collectives; /* one more than the largest number that was posted */
    struct tg_comm_result result;
    struct tg_comm_log log;
    double ends_since; /* RUN_ENDS, RUN_DRAINS: when the last progress was seen */
    uint64_t seen_progress;
};

/* --- a job ---------------------------------------------------------------------------------- */

struct tg_rank {
    bool has_come, lost, left;
    char why[160]; /* lost: what is known */
    int64_t pid;
    char host[65];
    uint32_t ended;       /* the last run that ended well there */
    uint32_t settled;     /* the last one in which it has nothing to complain of */
    uint64_t ended_calls; /* … and its collective calls */
    bool ended_failed;    /* … or it failed */
    uint64_t progress;    /* as it said last */
    uint32_t waits;       /* the run that its host waits for; 0: none */
    char text[sizeof(((struct tg_error *)0)->text)]; /* of a FAILED that is not complete */
    size_t text_size;
};

enum tg_request_kind {
    REQUEST_NONE = 0,
    REQUEST_BEGIN,
    REQUEST_END,
    REQUEST_EXPLAIN,
    REQUEST_EXCHANGE,
    REQUEST_JOIN,
    REQUEST_CLOSE
};

/* What another thread asks of the progress thread. */
struct tg_request {
    enum tg_request_kind kind;
    bool is_answered; /* under comm.lock */
    tg_status status;
    struct tg_error *error;
    bool (*stops)(void *context); /* END: asked while the caller waits; NULL: nobody stops it */
    void *context;                /* … of stops */
    bool is_stopped;              /* … under comm.lock: it said so */
    double deadline;              /* EXCHANGE, EXPLAIN, JOIN */
    const struct tg_comm_port *port;
    const struct tg_comm_run_config *config;
    struct tg_comm_result *result;
    const char *text;
    const void *mine;
    uint32_t size;
    void *all;
    bool *lost;
    char *explanation;
};

struct tg_exchange; /* exchange.c */
struct tg_asked;    /* explain.c */

struct tg_comm {
    const struct tg_comm_ops *ops; /* NULL: a job of one rank */
    void *state;
    void *library; /* of a plug-in */
    uint32_t rank, ranks;
    uint32_t local_rank, local_ranks;
    pthread_t thread;
    bool has_thread;
    int wake; /* eventfd */

    /* Shared with other threads. */
    pthread_mutex_t turn; /* held by the thread whose request is being done */
    pthread_mutex_t lock; /* of `request` */
    pthread_cond_t answered;
    struct tg_request *request;
    uint64_t noted;    /* atomic: tg_comm_note_progress */
    int64_t noted_ns;  /* atomic: … when */
    uint64_t progress; /* atomic: of all ranks, as known here */
    pthread_mutex_t clock_lock;
    struct tg_clock clock;

    /* Of the thread that begins and ends runs: what tg_comm_end asks. */
    bool (*stops)(void *context);
    void *stops_context;

    struct tg_request *current; /* the request that is being done */
    struct tg_rank *peer;
    uint32_t epoch; /* of the run that began last */
    bool has_failed, closing, broken;
    struct tg_comm_run run;
    struct tg_call *abandoned; /* of runs that failed: the transport may still use their bytes */
    struct tg_early *later, **later_end; /* messages of runs that have not begun here */

    struct tg_pending *pending;
    size_t n_pending, pending_room;
    uint32_t first_free;
    struct tg_spare spare[TG_SPARES];
    uint32_t told_epoch; /* rank 0: the last run whose mismatch was told */
    char *told;          /* … its text, if that run has not begun here */
    uint64_t n_in_place; /* pending ones that use device memory */

    struct tg_works work; /* actions that take time, in order */
    struct tg_works held; /* reductions whose bytes have come, and are not received yet */
    uint32_t n_receiving; /* reductions that receive, or wait to combine what they have received */
    uint64_t own_progress;
    double told_progress_at;
    uint64_t told_progress;
    bool told_waits; /* that this rank's host waits for the run */
    double next_ping;
    uint32_t pings_left; /* of a burst */

    struct tg_exchange *exchanges;
    uint64_t n_exchanges; /* of this rank, the one that goes on included */
    bool exchanging;
    struct tg_asked *asked;
    uint64_t questions;
};

/* --- thread.c ------------------------------------------------------------------------------- */
void *tg_comm_thread(void *comm);
/* Asks the progress thread, and waits for the answer. */
tg_status tg_comm_ask(struct tg_comm *comm, struct tg_request *request);
void tg_comm_answer(struct tg_comm *comm, tg_status status);
double tg_comm_now(void);
int64_t tg_comm_now_ns(void);
void tg_comm_update_progress(struct tg_comm *comm);
/* Of this rank, its finished tasks included: what others are told. */
uint64_t tg_comm_own_progress(const struct tg_comm *comm);
/* True if the caller of the request that is being done does not want to wait for it any more. */
bool tg_comm_is_stopped(struct tg_comm *comm);

/* --- transmit.c: messages to and from the transport ------------------------------------------ */
void tg_comm_send_head(struct tg_comm *comm, uint32_t peer, const struct tg_message *message);
void tg_comm_send_all(struct tg_comm *comm, const struct tg_message *message);
/* `to` may be comm->ranks: all. */
void tg_comm_send_text(struct tg_comm *comm, uint32_t to, uint32_t kind, uint32_t epoch,
                       int64_t value, tg_status status, const char *text);
void tg_comm_ping(struct tg_comm *comm);
/* A message that has come, now or while it had to wait. */
void tg_comm_dispatch(struct tg_comm *comm, uint32_t from, const struct tg_message *message,
                      uint64_t number, uint64_t payload_size);
/* A message with a payload that `given` describes; its buffer is taken. False: it cannot be. */
bool tg_comm_send_payload(struct tg_comm *comm, uint32_t peer, const struct tg_message *message,
                          const void *payload, uint64_t size, struct tg_pending *given);
void tg_comm_send_copy(struct tg_comm *comm, uint32_t peer, const struct tg_message *message,
                       const void *bytes, uint32_t size);
bool tg_comm_receive_payload(struct tg_comm *comm, uint32_t peer, uint64_t message, void *to,
                             uint64_t size, struct tg_pending *given);
void tg_comm_drop_payload(struct tg_comm *comm, uint32_t peer, uint64_t message, uint64_t size);
/* The actions of a call must not be told any more. True: the transport still uses its bytes. */
bool tg_comm_forget_pending(struct tg_comm *comm, const struct tg_call *call);
/* True if the transport uses bytes of any call. */
bool tg_comm_has_pending(const struct tg_comm *comm);
/* True if the transport uses device memory for messages of the peer. */
bool tg_comm_uses_memory(const struct tg_comm *comm, uint32_t peer);
void tg_comm_lose_pending(struct tg_comm *comm, uint32_t peer);
/* One event of the transport; false if there was none. */
bool tg_comm_poll_event(struct tg_comm *comm);

/* --- run.c ---------------------------------------------------------------------------------- */
void tg_run_begin(struct tg_comm *comm, struct tg_request *request);
void tg_run_end(struct tg_comm *comm, struct tg_request *request);
/* Looks whether the end is reached; called after whatever happened. */
void tg_run_check_end(struct tg_comm *comm);
/* The run fails here: tells the port once, and with `tell` the other ranks. */
void tg_run_fail(struct tg_comm *comm, bool tell, tg_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Calls of ranks do not fit together. Several ranks may see it, in several ways; rank 0 decides which
 * report all ranks give. */
void tg_run_report(struct tg_comm *comm, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void tg_run_on_report(struct tg_comm *comm, uint32_t from, const struct tg_message *message);
void tg_run_on_ended(struct tg_comm *comm, uint32_t from, const struct tg_message *message);
void tg_run_on_failed(struct tg_comm *comm, uint32_t from, const struct tg_message *message);
void tg_run_on_lost(struct tg_comm *comm, uint32_t peer, const char *text, bool left);
/* "rank 2 (pid 77 on host)" */
const char *tg_rank_name(const struct tg_comm *comm, uint32_t rank, char text[120]);

/* --- call.c, call_post.c -------------------------------------------------------------------- */
struct tg_meet *tg_call_find(struct tg_comm *comm, uint32_t kind, int32_t peer, int32_t tag,
                             uint64_t number);
struct tg_meet *tg_call_make_meet(struct tg_comm *comm, const struct tg_message *call);
/* A message that is about a call of this rank. */
void tg_call_meet(struct tg_comm *comm, struct tg_call *call, uint32_t from,
                  const struct tg_message *head, uint64_t message, uint64_t payload_size);
void tg_call_report_difference(struct tg_comm *comm, const struct tg_message *own, uint32_t from,
                               const struct tg_message *theirs);
/* Takes calls from the port; true if there was one. */
bool tg_call_take(struct tg_comm *comm);
void tg_call_on_message(struct tg_comm *comm, uint32_t from, const struct tg_message *head,
                        uint64_t message, uint64_t payload_size);
void tg_call_on_matched(struct tg_comm *comm, uint32_t from, const struct tg_message *head);
void tg_call_is_done(struct tg_comm *comm, struct tg_call *call);
void tg_call_free(struct tg_comm *comm, struct tg_call *call);
void tg_call_free_all(struct tg_comm *comm);
/* When the transport is closed. */
void tg_call_free_abandoned(struct tg_comm *comm);
/* Frees messages that wait for calls, or for actions of calls, and drops their payloads: else their senders would
 * wait for somebody to ask for them. */
void tg_call_drop_early(struct tg_comm *comm);
/* Calls that rank `peer`, whose run has ended, can no longer serve: fails the run if there is one. */
void tg_call_check_ended(struct tg_comm *comm, uint32_t peer);

/* --- span.c --------------------------------------------------------------------------------- */
tg_status tg_span_open(const struct tg_comm_port *port, const struct tg_tensor *tensor,
                       struct tg_span *span, struct tg_error *error);
void tg_span_close(struct tg_span *span);
/* A step of packing `size` bytes from `offset` on out of device memory, and back. *did: bytes of them that
 * are done now, perhaps none; the next step is about the rest. */
tg_status tg_span_load(const struct tg_comm_port *port, struct tg_span *span, uint64_t offset,
                       uint64_t size, uint64_t *did, struct tg_error *error);
tg_status tg_span_store(const struct tg_comm_port *port, struct tg_span *span, uint64_t offset,
                        uint64_t size, uint64_t *did, struct tg_error *error);

/* --- action.c ------------------------------------------------------------------------------- */
/* Starts what can start; called once when a call is posted. */
void tg_action_start(struct tg_comm *comm, struct tg_call *call);
/* A message for a call that is here. */
void tg_action_on_part(struct tg_comm *comm, struct tg_call *call, uint32_t from,
                       const struct tg_message *head, uint64_t message, uint64_t payload_size);
void tg_action_on_event(struct tg_comm *comm, const struct tg_pending *pending);
/* Drops the messages that came for actions of the call which have not started. */
void tg_action_drop_early(struct tg_comm *comm, struct tg_call *call);
/* Does one action that takes time, or a step of it; false if there is none. */
bool tg_action_work(struct tg_comm *comm);
void tg_action_forget(struct tg_comm *comm, const struct tg_call *call);

/* --- algorithm.c ---------------------------------------------------------------------------- */
/* Fills call->plan; false if memory ran out. */
bool tg_algorithm_plan(struct tg_comm *comm, struct tg_call *call);

/* --- log.c ---------------------------------------------------------------------------------- */
void tg_log_open(struct tg_comm *comm, const char *path);
void tg_log_call(struct tg_comm *comm, const struct tg_call *call, const char *state);
/* Gives the lines to the system if they have waited for long enough: a rank that is killed loses few. */
void tg_log_flush(struct tg_comm *comm, double now);
/* Seconds until tg_log_flush has something to do; at most `wait`. */
double tg_log_wait(const struct tg_comm *comm, double now, double wait);
/* With the line that says that no call is missing. */
void tg_log_close(struct tg_comm *comm);

/* --- exchange.c ----------------------------------------------------------------------------- */
void tg_exchange_begin(struct tg_comm *comm, struct tg_request *request);
void tg_exchange_check(struct tg_comm *comm, double now);
void tg_exchange_on_message(struct tg_comm *comm, uint32_t from, const struct tg_message *head,
                            uint64_t message, uint64_t payload_size);
void tg_exchange_on_received(struct tg_comm *comm, const struct tg_pending *pending);
void tg_exchange_free(struct tg_comm *comm);

/* --- explain.c ------------------------------------------------------------------------------ */
void tg_explain_begin(struct tg_comm *comm, struct tg_request *request);
void tg_explain_check(struct tg_comm *comm, double now);
void tg_explain_on_ask(struct tg_comm *comm, uint32_t from, const struct tg_message *message);
void tg_explain_on_answer(struct tg_comm *comm, uint32_t from, const struct tg_message *message);
void tg_explain_free(struct tg_comm *comm);

#endif
