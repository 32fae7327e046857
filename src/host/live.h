/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run answers questions about itself, on a socket in its output directory, while it is under way.
 * docs/live-protocol.md has the protocol for those who write a client; taskglass/live.h is ours.
 *
 *   the run's threads                     this file's thread                      peers, at most 8
 *   ─────────────────                     ──────────────────                      ────────────────
 *   enter(phase)  ─ atomic ─────────────► phase  ┐
 *   note_idle     ─ atomic ─────────────► idle   ├─ live_json.c ─► one line ────► `taskglass top`
 *   attach/detach ─ lock ───────────────► run    ┘                  of JSON       `nc -U live.sock`
 *                                          │                ◄── {"ask": "all"} ──
 *   device memory ◄────── copies ──────────┘
 *
 * Who owns what. The thread owns the socket, the peers and a view of the run (tg_run_view): a second
 * handle, with which it reads device memory as the run's own thread does, and into memory of its own. It
 * writes nothing to the device and nothing to the run. The run must outlive the view's use, so the thread
 * holds `lock` while it looks, and the run takes the lock when it attaches, and before it ends. That is
 * the only lock that they share: a run that goes on takes it never. What the thread does under the lock is
 * bounded (TG_VIEW_STEPS), so the end of a run waits for milliseconds at most.
 *
 * A sample is not a snapshot: the device goes on while the thread copies, so numbers of one reply may be
 * some microseconds apart. Each of them is checked as in the report of a hang.
 *
 * When. The thread starts with the run and sleeps TG_LIVE_DELAY_MS before it makes the socket: a run that
 * is over by then has paid for a thread, and for no file. Nothing about a run depends on whether there is
 * a socket: where none can be made (no thread, a file system without sockets), the run goes on without.
 *
 * Peers may be hostile, within the same user: the socket has mode 0600 from its first moment, and peers of
 * another user are closed unheard. Of a peer the thread takes TG_LIVE_MOST_REQUEST bytes for a request,
 * some seconds until it is complete and until the reply is read, and one request at a time. If all places
 * are taken, the peer that has been silent for longest gives way, or the new one is told to come again.
 */
#ifndef TG_HOST_LIVE_H
#define TG_HOST_LIVE_H

#include "recording/run_folder.h"
#include <stdio.h>
#include <taskglass/live.h>

struct tg_run;
struct tg_run_result;
struct tg_live_server;

enum { TG_LIVE_DELAY_MS = 20, TG_LIVE_MOST_REQUEST = 1024, TG_LIVE_MOST_PEERS = 8 };

/* What does not change during a run; the server copies it. NULL: not known. */
struct tg_live_about {
    const char *workload, *case_name, *platform, *runtime;
    double began; /* on the clock of base/limit.h; 0: now */
};

/* Starts to answer in the folder of that lock, which the caller holds until it has called
 * tg_live_server_stop. NULL if that is not possible. All functions below do nothing for NULL. */
struct tg_live_server *tg_live_server_start(const struct tg_run_lock *folder,
                                            const struct tg_live_about *about);
/* Closes and removes the socket. */
void tg_live_server_stop(struct tg_live_server *server);

void tg_live_server_enter(struct tg_live_server *server, enum tg_live_phase phase);
/* How much of the no-progress limit is over. */
void tg_live_server_note_idle(struct tg_live_server *server, double counted, double limit);

/* The run has been launched: the server may read the memory of its device until tg_live_server_detach. */
void tg_live_server_attach(struct tg_live_server *server, const struct tg_run *run);
/* Returns when the server no longer uses the run. May be called again, with later numbers: what the server
 * says of the tasks from now on. */
void tg_live_server_detach(struct tg_live_server *server, const struct tg_run_result *result);

/* live_request.c: reads one request, without its line end. On success *sections has a bit for each
 * enum tg_live_section. False: *problem says what is wrong, for the peer. */
bool tg_live_parse_request(const char *text, size_t size, uint32_t *sections, const char **problem);

#endif
