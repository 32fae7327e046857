/* SPDX-License-Identifier: Apache-2.0 */
/* Records in the slots of a journal (wire/journal.h): how they get in, and how they come out. */
#ifndef TG_RECORDING_SLOTS_H
#define TG_RECORDING_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/wire/journal.h>

/* A record takes at most so many slots. */
enum { TG_MOST_SLOTS = 2 };

/* Puts a record of 256 bytes, of any type, into slots with their checks. Returns how many it took. */
unsigned tg_slots_put(const void *record, unsigned char slots[TG_MOST_SLOTS * TG_JOURNAL_SLOT]);

/* How many slots the record takes that begins in this one. */
unsigned tg_slot_count(const unsigned char *slot);

/* What a slot holds. */
enum tg_slot {
    TG_SLOT_RECORD,  /* a record, whole or with the REST behind it */
    TG_SLOT_REST,    /* the rest of the record before it */
    TG_SLOT_CUT,     /* the first half of a record whose REST is not behind it */
    TG_SLOT_DAMAGED, /* the check is wrong */
};

/*
 * Looks at slot `i` of `n` slots of that size: 128, or 256 in journals of version 1. Copies what it looks
 * at before it decides, so that a file that changes meanwhile does no harm. If it is a record, `record` has
 * its 256 bytes afterwards; `check` of it is that of the slot.
 */
enum tg_slot tg_slot_take(const unsigned char *slots, size_t size, uint64_t i, uint64_t n,
                          struct tg_record *record);

/* The record of a slot that holds one, as tg_slot_take found; a slot that has changed since gives any
 * bytes. */
void tg_slot_read(const unsigned char *slots, size_t size, uint64_t i, uint64_t n,
                  struct tg_record *record);

#endif
