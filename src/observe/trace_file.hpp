// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The file of WEFT_TRACE: a ring of events for each rank of a stream, and one for the OS threads
// that are no streams; at the end they become a trace that Chrome and Perfetto read. Made with the
// runtime, which owns it.
#pragma once

#include <cstdio>

#include "trace/ring.hpp"
#include "weft/status.h"

namespace weft {

class TraceFile {
public:
    static constexpr std::size_t most_tracks = 16 * 1024 + 1;

    // Not WEFT_OK: the file cannot be written, or there is no memory.
    static weft_status open(const char* name, std::size_t events_each, TraceFile** made);
    // Null: does nothing. What has not been written is dropped.
    static void close(TraceFile* file);

    // The ring of that track, which the next stream of that rank continues; null: no memory. One
    // call at a time. `name` has 16 bytes at most, or is null: the OS threads that are no streams.
    trace::Ring* ring(std::size_t track, const char* name);

    // Writes once; a second call does nothing. Events that running streams add meanwhile may be
    // missed. A file that cannot be written is reported on stderr.
    void write() noexcept;

    // What the writer reads.
    struct Track {
        trace::Ring* ring = nullptr;
        char name[16] = {};
    };
    const Track& track(std::size_t number) const { return tracks_[number]; }
    std::uint64_t begin_stamp() const { return begin_stamp_; }

    TraceFile(std::FILE* file, const char* name, std::size_t events_each);
    TraceFile(const TraceFile&) = delete;
    ~TraceFile();

private:
    atomic<std::FILE*> file_;   // null: the file has been written
    const char* const name_;
    const std::size_t events_each_;
    const std::uint64_t begin_ns_;
    const std::uint64_t begin_stamp_;
    Track tracks_[most_tracks] = {};
};

}   // namespace weft
