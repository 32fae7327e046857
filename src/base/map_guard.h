/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a mapped file that another program cuts, or that its disk cannot give, from killing the process.
 * For file_read.c alone; files.h has what readers use.
 *
 * Every mapped file is in a list. While the list is not empty, a handler of SIGBUS is installed. If
 * the address of a fault lies in one of the maps, the handler puts zeros in its place, from the faulting
 * page to the map's end, notes that the map lost bytes, and returns: the reader goes on, with zeros. Any
 * other SIGBUS goes on to the handler that was there before, or does what it would do without ours:
 * a bug still ends the process where it happened, with a core.
 *
 * When the last file is closed, the former handler is put back, unless the program has installed another
 * one meanwhile. A program that installs a handler of its own while files are mapped must pass on the
 * faults that are not its own to the handler that sigaction gave it, as every program with a library in
 * it must.
 *
 * Any thread may open, read and close maps; a map must not be closed while another thread reads it.
 */
#ifndef TG_BASE_MAP_GUARD_H
#define TG_BASE_MAP_GUARD_H

#include <stddef.h>

struct tg_guarded;

/* Protects a mapped file until tg_guard_remove, which gives back the descriptor. NULL if memory ran
 * out, or if no handler can be installed. */
struct tg_guarded *tg_guard_add(const void *bytes, size_t size, int fd);
int tg_guard_remove(struct tg_guarded *guarded);
int tg_guard_fd(const struct tg_guarded *guarded);
/* tg_bytes_were_read of files.h. */
void tg_guard_account(const void *bytes, size_t size);
/* 0, TG_CAUSE_SHORTER or TG_CAUSE_CHANGED. A file may also lose bytes without a fault: those of a page
 * of which some bytes are left read as zeros. So this asks for the file's size as well. */
int tg_guard_check(struct tg_guarded *guarded);

#endif
