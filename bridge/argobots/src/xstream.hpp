// Execution streams: a record that outlives the stream of Weft's, since one that was joined is
// revived. Ranks are the bridge's own.
#pragma once

#include <atomic>

#include "common.hpp"
#include "sched.hpp"

namespace weft::argobots {

struct Xstream {
    weft_stream* stream = nullptr;   // null: it has ended; changes under the lock of the list
    bool freeing = false;            // somebody waits for its end; under that lock
    Sched* sched = nullptr;          // the main scheduler
    int rank = 0;
    bool primary = false;
    std::atomic<bool> cancelled{false};     // it is to end though units are left
    weft_mutex joining = WEFT_MUTEX_INIT;   // held by whoever waits for its end, or begins it anew
    Xstream* next = nullptr;                // the list of all

    ABT_xstream abt() { return reinterpret_cast<ABT_xstream>(this); }
    // `stream`, and also for its own units, which may run before whoever creates it has come to
    // know it.
    weft_stream* now() const;
    bool terminated() const;   // it may not have been joined
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

// Calls visit for each, under the lock of the list.
template <class Visit>
void each_xstream(Visit visit);

// The record of Weft's stream 0. Null: no memory.
Xstream* adopt_primary(weft_stream* stream, Sched& sched);
Xstream* primary_xstream();

// Its scheduler is to return, when nothing is left or at once. Nothing of the primary one.
void ask_to_end(Xstream& xstream, bool at_once);

// Another scheduler is its main one. From a unit of its own, or while it has ended.
int replace_sched(Xstream& xstream, Sched& sched);

// At the end of all: those that the program has not freed.
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
