/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of Perfetto's trace format that Taskglass writes and reads: numbers of fields, as Perfetto
 * publishes them in its folder protos/perfetto/trace (tests/e2e/perfetto.py has them a second time, from there,
 * and compares). The numbers of published messages never change.
 */
#ifndef TG_TRACE_PERFETTO_H
#define TG_TRACE_PERFETTO_H

enum {
    /* Trace */
    TG_PF_PACKET = 1,
    /* TracePacket */
    TG_PF_TIMESTAMP = 8,
    TG_PF_SEQUENCE_ID = 10,
    TG_PF_TRACK_EVENT = 11,
    TG_PF_INTERNED_DATA = 12,
    TG_PF_SEQUENCE_FLAGS = 13,
    TG_PF_TRACK_DESCRIPTOR = 60,
    /* TracePacket.SequenceFlags */
    TG_PF_STATE_CLEARED = 1,
    TG_PF_NEEDS_STATE = 2,
    /* InternedData; its entries are {iid = 1, name or str = 2} */
    TG_PF_EVENT_CATEGORIES = 1,
    TG_PF_EVENT_NAMES = 2,
    TG_PF_ANNOTATION_NAMES = 3,
    TG_PF_ANNOTATION_STRINGS = 29,
    TG_PF_IID = 1,
    TG_PF_TEXT = 2,
    /* TrackDescriptor */
    TG_PF_UUID = 1,
    TG_PF_TRACK_NAME = 2,
    TG_PF_PROCESS = 3,
    TG_PF_PARENT_UUID = 5,
    TG_PF_COUNTER = 8,
    TG_PF_CHILD_ORDERING = 11,
    TG_PF_ORDER_RANK = 12,
    /* TrackDescriptor.ChildTracksOrdering */
    TG_PF_ORDER_EXPLICIT = 3,
    /* ProcessDescriptor */
    TG_PF_PID = 1,
    TG_PF_PROCESS_NAME = 6,
    /* CounterDescriptor, and its Unit */
    TG_PF_UNIT = 3,
    TG_PF_UNIT_COUNT = 2,
    TG_PF_UNIT_BYTES = 3,
    /* TrackEvent */
    TG_PF_CATEGORY_IIDS = 3,
    TG_PF_ANNOTATIONS = 4,
    TG_PF_TYPE = 9,
    TG_PF_NAME_IID = 10,
    TG_PF_TRACK_UUID = 11,
    TG_PF_CATEGORIES = 22,
    TG_PF_NAME = 23,
    TG_PF_COUNTER_VALUE = 30,
    TG_PF_FLOW_IDS = 47,
    TG_PF_TERMINATING_FLOW_IDS = 48,
    /* TrackEvent.Type */
    TG_PF_SLICE_BEGIN = 1,
    TG_PF_SLICE_END = 2,
    TG_PF_COUNTER_EVENT = 4,
    /* DebugAnnotation */
    TG_PF_ANNOTATION_NAME_IID = 1,
    TG_PF_BOOL_VALUE = 2,
    TG_PF_UINT_VALUE = 3,
    TG_PF_STRING_VALUE = 6,
    TG_PF_POINTER_VALUE = 7,
    TG_PF_ANNOTATION_NAME = 10,
    TG_PF_ARRAY_VALUES = 12,
    TG_PF_STRING_IID = 17
};

#endif
