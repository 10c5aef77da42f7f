// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Execution streams: a record that outlives the Weft stream, since a joined execution stream can be
// revived. Ranks are kept by the bridge.
#pragma once

#include <atomic>

#include "common.hpp"
#include "sched.hpp"

namespace weft::argobots {

struct Xstream {
    weft_stream* stream = nullptr;   // null: ended; changes under the lock of the list
    bool freeing = false;            // a caller waits for its end; under the lock of the list
    Sched* sched = nullptr;          // the main scheduler
    int rank = 0;
    bool primary = false;
    std::atomic<bool> cancelled{false};     // must end even if units are left
    weft_mutex joining = WEFT_MUTEX_INIT;   // held by a caller that waits for its end or restarts it
    Xstream* next = nullptr;                // the list of all

    ABT_xstream abt() { return reinterpret_cast<ABT_xstream>(this); }
    // `stream`, also for the stream's own units, which may run before its creator has stored
    // `stream`.
    weft_stream* now() const;
    bool terminated() const;   // it may not have been joined yet
};

inline Xstream* to_xstream(ABT_xstream xstream) { return reinterpret_cast<Xstream*>(xstream); }
// Null for null.
inline Xstream* xstream_of(const weft_stream* stream) {
    void* data = nullptr;
    if (stream != nullptr) weft_stream_data_get(stream, &data);
    return static_cast<Xstream*>(data);
}
inline Xstream* this_xstream() { return xstream_of(weft_stream_self()); }
inline weft_stream* Xstream::now() const { return this == this_xstream() ? weft_stream_self() : stream; }

// Calls `visit` for each execution stream, under the lock of the list.
template <class Visit>
void each_xstream(Visit visit);

// Makes the record of Weft's stream 0. Null: no memory.
Xstream* adopt_primary(weft_stream* stream, Sched& sched);
Xstream* primary_xstream();

// Asks the stream's scheduler to return, when nothing is left or at once. Does nothing for the
// primary stream.
void ask_to_end(Xstream& xstream, bool at_once);

// Replaces the main scheduler. Called from one of the stream's own units, or when it has ended.
int replace_sched(Xstream& xstream, Sched& sched);

// At finalization: ends the streams that the program has not freed.
void end_all_xstreams();
void drop_primary();

int count_xstreams();

struct ListGuard {
    ListGuard();
    ~ListGuard();
    ListGuard(const ListGuard&) = delete;
    static Xstream* first();
};

template <class Visit>
void each_xstream(Visit visit) {
    const ListGuard guard;
    for (Xstream* xstream = ListGuard::first(); xstream != nullptr; xstream = xstream->next) visit(*xstream);
}

}   // namespace weft::argobots
