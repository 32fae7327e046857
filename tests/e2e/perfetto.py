# SPDX-License-Identifier: Apache-2.0
"""Reads Perfetto traces as Perfetto's own importer does, and says what is wrong with them.

It shares nothing with the writer. The numbers below are those that Perfetto publishes in its folder
protos/perfetto/trace (github.com/google/perfetto): trace.proto, trace_packet.proto,
interned_data/interned_data.proto, profiling/profile_common.proto (InternedString) and in track_event/
track_descriptor.proto, process_descriptor.proto, counter_descriptor.proto, track_event.proto and
debug_annotation.proto. Published numbers never change their meaning.

    trace = perfetto.read(bytes)
    trace.slices, trace.counters, trace.flows, trace.tracks
"""
import struct

VARINT, FIXED64, LENGTH = 0, 1, 2

# message: {number: (name, kind)}. A kind is a type of value, or the name of a message.
PUBLISHED = {
    "Trace": {1: ("packet", "TracePacket")},
    "TracePacket": {
        8: ("timestamp", "uint64"), 10: ("trusted_packet_sequence_id", "uint32"),
        11: ("track_event", "TrackEvent"), 12: ("interned_data", "InternedData"),
        13: ("sequence_flags", "uint32"), 58: ("timestamp_clock_id", "uint32"),
        60: ("track_descriptor", "TrackDescriptor")},
    "InternedData": {
        1: ("event_categories", "Interned"), 2: ("event_names", "Interned"),
        3: ("debug_annotation_names", "Interned"), 29: ("debug_annotation_string_values", "InternedString")},
    "Interned": {1: ("iid", "uint64"), 2: ("name", "string")},
    "InternedString": {1: ("iid", "uint64"), 2: ("str", "bytes")},
    "TrackDescriptor": {
        1: ("uuid", "uint64"), 2: ("name", "string"), 3: ("process", "ProcessDescriptor"),
        5: ("parent_uuid", "uint64"), 8: ("counter", "CounterDescriptor"),
        11: ("child_ordering", "enum"), 12: ("sibling_order_rank", "int32")},
    "ProcessDescriptor": {1: ("pid", "int32"), 6: ("process_name", "string")},
    "CounterDescriptor": {3: ("unit", "enum")},
    "TrackEvent": {
        3: ("category_iids", "uint64"), 4: ("debug_annotations", "DebugAnnotation"), 9: ("type", "enum"),
        10: ("name_iid", "uint64"), 11: ("track_uuid", "uint64"), 22: ("categories", "string"), 23: ("name", "string"),
        30: ("counter_value", "int64"), 47: ("flow_ids", "fixed64"),
        48: ("terminating_flow_ids", "fixed64")},
    "DebugAnnotation": {
        1: ("name_iid", "uint64"), 2: ("bool_value", "bool"), 3: ("uint_value", "uint64"),
        4: ("int_value", "int64"), 5: ("double_value", "double"), 6: ("string_value", "string"),
        7: ("pointer_value", "uint64"), 10: ("name", "string"),
        11: ("dict_entries", "DebugAnnotation"), 12: ("array_values", "DebugAnnotation"),
        17: ("string_value_iid", "uint64")},
}
REPEATED = {"packet", "event_categories", "event_names", "debug_annotation_names",
            "debug_annotation_string_values", "category_iids", "categories", "debug_annotations", "flow_ids",
            "terminating_flow_ids", "dict_entries", "array_values"}
STATE_CLEARED, NEEDS_STATE = 1, 2
BEGIN, END, COUNTER = 1, 2, 4
CHILDREN_BY_RANK = 3
UNITS = {2: "count", 3: "bytes"}
BOOTTIME = 6


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        assert shift <= 70, "a number of more than ten bytes"
        if not byte & 0x80:
            return value & (1 << 64) - 1, at


def decode(message, data):
    """A message as a dictionary. A field that is not published, or of another wire type, is an error."""
    found, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        assert number in PUBLISHED[message], f"{message} has no field {number}"
        name, kind = PUBLISHED[message][number]
        wanted = {"string": LENGTH, "bytes": LENGTH, "fixed64": FIXED64, "double": FIXED64}.get(
            kind, LENGTH if kind in PUBLISHED else VARINT)
        assert wire == wanted, f"{message}.{name} has wire type {wire}, not {wanted}"
        if wire == VARINT:
            value, at = varint(data, at)
            if kind in ("int32", "int64") and value >> 63:
                value -= 1 << 64
        elif wire == FIXED64:
            value = struct.unpack_from("<d" if kind == "double" else "<Q", data, at)[0]
            at += 8
        else:
            size, at = varint(data, at)
            value = bytes(data[at:at + size])
            assert len(value) == size, f"{message}.{name} ends behind the file"
            at += size
            value = (decode(kind, value) if kind in PUBLISHED else
                     value.decode("utf-8"))  # fails where it is not UTF-8
        if name in REPEATED:
            found.setdefault(name, []).append(value)
        else:
            assert name not in found, f"{message}.{name} is there twice"
            found[name] = value
    return found


class Slice:
    def __init__(self, track, name, category, begin, args, depth):
        self.track, self.name, self.category, self.begin = track, name, category, begin
        self.args, self.depth, self.end = args, depth, None


class Trace:
    def __init__(self):
        self.tracks = {}     # uuid: descriptor
        self.slices = []     # in the order of their begin
        self.counters = {}   # name: [(time, value)]
        self.units = {}      # name: unit
        self.flows = []      # (slice, slice)

    def of(self, category):
        return [each for each in self.slices if each.category == category]

    def track_of(self, each):
        return self.tracks[each.track]["name"]


class Importer:
    """The state of each sequence, and what was seen. A trace of several ranks has a sequence and a process for each."""

    def __init__(self, ranks=None):
        self.trace = Trace()
        self.ranks = ranks  # None: the trace of one run
        self.state = {}     # by sequence, the names of interned data
        self.names = None   # those of the packet at hand; None before the state was cleared
        self.events = []   # (timestamp, place in the file, event)

    def packet(self, packet):
        flags = packet.get("sequence_flags", 0)
        sequence = packet["trusted_packet_sequence_id"]
        assert 1 <= sequence <= (self.ranks or 1)
        self.names = self.state.get(sequence)
        assert packet.get("timestamp_clock_id", BOOTTIME) == BOOTTIME  # no snapshot says what others mean
        if flags & STATE_CLEARED:
            assert self.names is None, "the state is cleared once"
            self.names = self.state[sequence] = {}
        assert self.names is not None and flags & NEEDS_STATE or flags & STATE_CLEARED
        for kind, entries in packet.get("interned_data", {}).items():
            table = self.names.setdefault(kind, {})
            for entry in entries:
                assert entry["iid"] > 0 and entry["iid"] not in table
                table[entry["iid"]] = entry.get("name", entry.get("str"))
        if "track_descriptor" in packet:
            self.descriptor(packet["track_descriptor"])
        if "track_event" in packet:
            event = packet["track_event"]
            assert event["track_uuid"] in self.trace.tracks, "a track is described before its first event"
            assert packet["timestamp"] < 1 << 63
            self.events.append((packet["timestamp"], len(self.events), event, sequence))

    def descriptor(self, track):
        tracks = self.trace.tracks
        assert track["uuid"] not in (0, *tracks) and track["name"]
        if "process" in track:
            pids = [each["process"]["pid"] for each in tracks.values() if "process" in each]
            if self.ranks is None:
                assert not tracks and track["process"]["pid"] > 0
            assert track["process"]["pid"] not in pids and track["process"]["process_name"]
            assert track["child_ordering"] == CHILDREN_BY_RANK
        else:
            assert "process" in tracks[track["parent_uuid"]]
            siblings = [each for each in tracks.values() if each.get("parent_uuid") == track["parent_uuid"]]
            assert track["sibling_order_rank"] not in [each["sibling_order_rank"] for each in siblings]
            assert track["name"] not in [each["name"] for each in siblings], (
                "tracks of the same name are shown as one")
        if "counter" in track:
            self.trace.units[track["name"]] = UNITS[track["counter"]["unit"]]
            self.trace.counters.setdefault(track["name"], [])
        tracks[track["uuid"]] = track

    def value(self, annotation):
        if "array_values" in annotation:
            return [self.value(each) for each in annotation["array_values"]]
        values = [value for key, value in annotation.items() if not key.startswith("name")]
        assert len(values) == 1, annotation
        if "string_value_iid" in annotation:
            return self.names["debug_annotation_string_values"][values[0]]
        if "bool_value" in annotation:
            return bool(values[0])
        return values[0]

    def args(self, event):
        found = {}
        for annotation in event.get("debug_annotations", []):
            name = annotation.get("name") or self.names["debug_annotation_names"][annotation["name_iid"]]
            assert name not in found, f"two arguments {name}"
            found[name] = self.value(annotation)
        return found

    def run(self):
        """Events by time; those of the same time as they lie in the file."""
        stacks, flows = {}, {}
        for time, _, event, sequence in sorted(self.events, key=lambda each: each[:2]):
            self.names = self.state[sequence]
            uuid = event["track_uuid"]
            track = self.trace.tracks[uuid]
            if event["type"] == COUNTER:
                values = self.trace.counters[track["name"]]
                assert "counter" in track and event["counter_value"] >= 0
                values.append((time, event["counter_value"]))
                continue
            assert "counter" not in track
            stack = stacks.setdefault(uuid, [])
            if event["type"] == END:
                stack.pop().end = time  # that of the slice which began last
                continue
            assert event["type"] == BEGIN
            name = event.get("name") or self.names["event_names"][event["name_iid"]]
            category, = event.get("categories") or [self.names["event_categories"][iid] for iid in event["category_iids"]]
            new = Slice(uuid, name, category, time, self.args(event), len(stack))
            stack.append(new)
            self.trace.slices.append(new)
            for flow in event.get("flow_ids", []):
                assert flow > 0 and flow not in flows
                flows[flow] = new
            for flow in event.get("terminating_flow_ids", []):
                assert flow in flows, "a flow ends before it begins"
                self.trace.flows.append((flows.pop(flow), new))
        assert not any(stacks.values()), "a slice has no end"
        self.open_flows = flows
        return self.trace


def read(data, ranks=None):
    """The trace; AssertionError says what an importer would stumble over. `ranks`: it is that of several ranks."""
    importer, at = Importer(ranks), 0
    view = memoryview(data)
    while at < len(view):
        tag, at = varint(view, at)
        assert tag == 1 << 3 | LENGTH, "a trace is a row of packets"
        size, at = varint(view, at)
        importer.packet(decode("TracePacket", view[at:at + size]))
        at += size
    trace = importer.run()
    trace.open_flows = importer.open_flows
    return trace


# The constants of src/trace/perfetto.h, by the names that Perfetto gives what they stand for.
CONSTANTS = {
    "PACKET": "Trace.packet", "TIMESTAMP": "TracePacket.timestamp",
    "SEQUENCE_ID": "TracePacket.trusted_packet_sequence_id", "TRACK_EVENT": "TracePacket.track_event",
    "INTERNED_DATA": "TracePacket.interned_data", "SEQUENCE_FLAGS": "TracePacket.sequence_flags",
    "TRACK_DESCRIPTOR": "TracePacket.track_descriptor", "STATE_CLEARED": STATE_CLEARED,
    "NEEDS_STATE": NEEDS_STATE, "EVENT_CATEGORIES": "InternedData.event_categories",
    "EVENT_NAMES": "InternedData.event_names", "ANNOTATION_NAMES": "InternedData.debug_annotation_names",
    "ANNOTATION_STRINGS": "InternedData.debug_annotation_string_values", "IID": "Interned.iid",
    "TEXT": "Interned.name", "UUID": "TrackDescriptor.uuid", "TRACK_NAME": "TrackDescriptor.name",
    "PROCESS": "TrackDescriptor.process", "PARENT_UUID": "TrackDescriptor.parent_uuid",
    "COUNTER": "TrackDescriptor.counter", "CHILD_ORDERING": "TrackDescriptor.child_ordering",
    "ORDER_RANK": "TrackDescriptor.sibling_order_rank", "ORDER_EXPLICIT": CHILDREN_BY_RANK,
    "PID": "ProcessDescriptor.pid", "PROCESS_NAME": "ProcessDescriptor.process_name",
    "UNIT": "CounterDescriptor.unit", "UNIT_COUNT": 2, "UNIT_BYTES": 3,
    "CATEGORY_IIDS": "TrackEvent.category_iids", "CATEGORIES": "TrackEvent.categories",
    "ANNOTATIONS": "TrackEvent.debug_annotations",
    "TYPE": "TrackEvent.type", "NAME_IID": "TrackEvent.name_iid", "TRACK_UUID": "TrackEvent.track_uuid",
    "NAME": "TrackEvent.name", "COUNTER_VALUE": "TrackEvent.counter_value",
    "FLOW_IDS": "TrackEvent.flow_ids", "TERMINATING_FLOW_IDS": "TrackEvent.terminating_flow_ids",
    "SLICE_BEGIN": BEGIN, "SLICE_END": END, "COUNTER_EVENT": COUNTER,
    "ANNOTATION_NAME_IID": "DebugAnnotation.name_iid", "BOOL_VALUE": "DebugAnnotation.bool_value",
    "UINT_VALUE": "DebugAnnotation.uint_value", "STRING_VALUE": "DebugAnnotation.string_value",
    "POINTER_VALUE": "DebugAnnotation.pointer_value", "ANNOTATION_NAME": "DebugAnnotation.name",
    "ARRAY_VALUES": "DebugAnnotation.array_values", "STRING_IID": "DebugAnnotation.string_value_iid",
}


def published(constant):
    """The published number of a constant of the writer."""
    name = CONSTANTS[constant]
    if isinstance(name, int):
        return name
    message, field = name.split(".")
    number, = (number for number, each in PUBLISHED[message].items() if each[0] == field)
    return number
