// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/handles.hpp"

#include <sys/syscall.h>
#include <unistd.h>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/assert.hpp"
#include "base/room.hpp"

namespace weft::handles {
namespace {

constexpr int life_shift = 48;
constexpr std::uintptr_t address_bits = (std::uintptr_t{1} << life_shift) - 1;

// What is known about an address: what lives there, or was the last to live there, and how many
// objects lived there before.
struct State {
    Thing thing;
    bool lives;
    std::uint16_t life;
};

struct Entry {
    std::uintptr_t address;
    Entry* next;
    State state;

    // relaxed, both: the way by which a caller got the object, or its handle, already orders this.
    State now() const {
        State seen;
        __atomic_load(&state, &seen, __ATOMIC_RELAXED);
        return seen;
    }
    void set(State to) { __atomic_store(&state, &to, __ATOMIC_RELAXED); }
};

// Entries are added and never removed, so that neither a reader nor a signal handler needs a lock.
constexpr std::size_t lists = std::size_t{1} << 16;
Entry* book[lists];
bool writing;   // held for a few instructions, which no switch interrupts
bool gone;      // units_are_gone()

class Writing {
public:
    // The holder may have lost its CPU to threads that spin here: with many OS threads they would
    // have it most of the time. So they yield, by the kernel's call, since other libraries may
    // stand before the C library's function.
    Writing() {
        // acquire: pairs with the release of the last holder
        for (int looks = 0; __atomic_test_and_set(&writing, __ATOMIC_ACQUIRE); ++looks) {
            if (looks >= 100) syscall(SYS_sched_yield);
        }
    }
    ~Writing() { __atomic_clear(&writing, __ATOMIC_RELEASE); }   // release: pairs with the acquire in Writing()
    Writing(const Writing&) = delete;
    Writing& operator=(const Writing&) = delete;
};

Entry*& list_of(std::uintptr_t address) { return book[(address >> 4) * 0x9e3779b97f4a7c15u >> (64 - 16)]; }

Entry* find(std::uintptr_t address) {
    // acquire: pairs with the release in entry_of(), so that the entry is seen filled.
    Entry* entry = __atomic_load_n(&list_of(address), __ATOMIC_ACQUIRE);
    while (entry != nullptr && entry->address != address) entry = entry->next;
    return entry;
}

// Under Writing: memory that is never freed.
void* room(std::size_t bytes) {
    constexpr std::size_t block = std::size_t{1} << 17;
    alignas(std::max_align_t) static unsigned char first[block];
    static unsigned char* next = first;
    static std::size_t left = block;
    bytes = (bytes + alignof(std::max_align_t) - 1) & ~(alignof(std::max_align_t) - 1);
    if (left < bytes) {
        next = static_cast<unsigned char*>(std::malloc(block));
        if (next == nullptr) fatal("no memory for the book of handles, which a checked library keeps");
        left = block;
    }
    left -= bytes;
    return std::exchange(next, next + bytes);
}

// Under Writing: the entry of the address, created if need be.
Entry& entry_of(std::uintptr_t address) {
    if (Entry* const known = find(address)) return *known;
    Entry*& list = list_of(address);
    auto* const entry = new (room(sizeof(Entry))) Entry{address, list, State{}};
    __atomic_store_n(&list, entry, __ATOMIC_RELEASE);   // release: pairs with the acquire in find()
    return *entry;
}

void* with_life(std::uintptr_t address, std::uint16_t life) {
    return reinterpret_cast<void*>(address | static_cast<std::uintptr_t>(life) << life_shift);
}

const char* name_of(Thing thing) {
    switch (thing) {
    case Thing::stream: return "stream";
    case Thing::pool: return "pool";
    case Thing::scheduler: return "scheduler";
    case Thing::domain: return "domain";
    case Thing::key: return "key";
    case Thing::future: return "future";
    case Thing::channel: return "channel";
    case Thing::arena: return "arena";
    case Thing::poller: return "poller";
    case Thing::none: break;
    }
    return "thing";
}

// What ends its life, and so the call that the program has already made, or should not have made.
const char* end_of(Thing thing) {
    switch (thing) {
    case Thing::stream: return "weft_stream_join_free or weft_finalize; it is freed once, and not used afterwards";
    case Thing::pool: return "weft_pool_free or weft_finalize; it is freed once, and not used afterwards";
    case Thing::scheduler:
        return "weft_sched_free, or by the end of the stream that ran it; weft_sched_owned_set(sched, false) keeps it "
               "beyond that";
    case Thing::domain: return "weft_domain_unregister; it is unregistered once, and not used afterwards";
    case Thing::key: return "weft_key_free; it is freed once, and not used afterwards";
    case Thing::future: return "weft_future_free; free it once, after its last use";
    case Thing::channel: return "weft_channel_free; free it once, after its last use";
    case Thing::arena: return "weft_arena_free; it is freed once, and not used afterwards";
    case Thing::poller: return "weft_poller_unregister or weft_finalize; it is removed once";
    case Thing::none: break;
    }
    return "its end";
}

}   // namespace

void* enter(Thing thing, const void* object) {
    const auto address = reinterpret_cast<std::uintptr_t>(object);
    const Entry* const known = find(address);
    if (known != nullptr) {
        const State state = known->now();
        if (state.lives && state.thing == thing) return with_life(address, state.life);
    }
    const Writing guard;
    Entry& entry = entry_of(address);
    State state = entry.now();
    if (state.lives && state.thing != thing) ++state.life;   // its end was not recorded
    state.lives = true;
    state.thing = thing;
    entry.set(state);
    return with_life(address, state.life);
}

void enter_for_good(Thing thing, const void* object) {
    const Writing guard;
    entry_of(reinterpret_cast<std::uintptr_t>(object)).set({thing, true, 0});
}

void* room_for_good(std::size_t bytes) {
    const Writing guard;
    return room(bytes);
}

void* look_up(Thing thing, const void* handle, const char* call) {
    const auto bits = reinterpret_cast<std::uintptr_t>(handle);
    const Entry* const entry = find(bits & address_bits);
    if (entry == nullptr)
        wrong_call(call, "%p is no handle of a %s: no such handle was ever given out", handle, name_of(thing));
    const State state = entry->now();
    const auto life = static_cast<std::uint16_t>(bits >> life_shift);
    if (life == state.life && state.lives) {
        if (state.thing == thing) return reinterpret_cast<void*>(bits & address_bits);
        wrong_call(call, "%p is no handle of a %s: it is a %s's", handle, name_of(thing), name_of(state.thing));
    }
    wrong_call(call, "stale handle %p: its %s has been freed, by %s", handle, name_of(thing), end_of(thing));
}

void strike(const void* object) {
    Entry* const entry = find(reinterpret_cast<std::uintptr_t>(object));
    if (entry == nullptr) return;
    const Writing guard;
    State state = entry->now();
    if (!state.lives) return;
    state.lives = false;
    ++state.life;
    entry->set(state);
}

void* peek(const void* object) {
    const auto address = reinterpret_cast<std::uintptr_t>(object);
    const Entry* const entry = find(address);
    return with_life(address, entry == nullptr ? std::uint16_t{0} : entry->now().life);
}

// relaxed: the way by which a handle reaches its user orders this, too
bool units_are_gone() { return __atomic_load_n(&gone, __ATOMIC_RELAXED); }
// relaxed: the way by which a handle reaches its user orders this store, too
void set_units_gone(bool are) { __atomic_store_n(&gone, are, __ATOMIC_RELAXED); }

void book_forked() { __atomic_clear(&writing, __ATOMIC_RELAXED); }   // relaxed: no other thread runs

void wrong_call(const char* call, const char* format, ...) {
    std::fprintf(stderr, "weft: %s: ", call);
    va_list arguments;
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    va_end(arguments);
    std::fputc('\n', stderr);
    std::abort();
}

}   // namespace weft::handles
