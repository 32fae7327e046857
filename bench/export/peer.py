#!/usr/bin/env python3
"""Writes the records of a journal into a SQLite database: peer.py JOURNAL DATABASE

What a programmer would write with Python's sqlite3: one transaction, executemany, no journal, no syncs, and
columns of the table `records` as `taskglass export --to sqlite` has them. It writes no statistics, tasks,
edges or indices, and proves no check of the journal. It reads the packed records of one dimension that
bench/export/run.py makes.
"""

import sqlite3
import struct
import sys

HEAD, SLOT = 256, 128
ARGUMENT, ROW_MAJOR = 1, 1 << 9
# type flags check sequence task_id kernel[3] stage role kind dtype ndim arg stream core data_ptr start hash
# stored position time dims[8]
PACKED = struct.Struct("<HHIQQIIIBBBBBBHIQqQQQQ8I")
SCHEMA = """CREATE TABLE records (record INTEGER PRIMARY KEY, task INTEGER, stage TEXT NOT NULL,
 role TEXT NOT NULL, kind TEXT NOT NULL, arg INTEGER NOT NULL, dtype TEXT, shape TEXT, strides TEXT,
 start INTEGER, contiguous INTEGER NOT NULL, bytes INTEGER NOT NULL, bin_offset INTEGER NOT NULL,
 bin_size INTEGER NOT NULL, truncated INTEGER NOT NULL, overwritten INTEGER NOT NULL,
 partial INTEGER NOT NULL, marked INTEGER NOT NULL, hash TEXT, data_ptr TEXT NOT NULL, value, raw TEXT,
 core INTEGER, time_ns INTEGER)"""
STAGES = ("before_dispatch", "after_completion", "orchestration")
DTYPES = {2: "float32", 9: "int64"}
ROLES = ("scalar", "input", "output", "inout")


def rows(data):
    end = len(data) - (len(data) - HEAD) % SLOT
    number = 0
    for (kind_of_record, flags, _, _, task, _, _, _, stage, role, kind, dtype, _, arg, _, core, pointer, start,
         content, stored, position, time, extent, *_) in PACKED.iter_unpack(memoryview(data)[HEAD:end]):
        if kind_of_record != ARGUMENT or not flags & ROW_MAJOR:
            continue
        yield (number, task if stage < 2 else None, STAGES[stage], ROLES[role & 3],
               "scalar" if kind else "tensor", arg, DTYPES[dtype], f"[{extent}]", "[1]", start, 1,
               4 * extent, position, stored, 0, 0, 0, 0, f"0x{content:016x}", f"0x{pointer:016x}", None, None,
               core, time)
        number += 1


def main():
    journal, database = sys.argv[1:]
    with open(journal, "rb") as file:
        data = file.read()
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("BEGIN")
    connection.execute(SCHEMA)
    connection.executemany(f"INSERT INTO records VALUES ({', '.join('?' * 24)})", rows(data))
    connection.execute("COMMIT")
    connection.close()


if __name__ == "__main__":
    main()
