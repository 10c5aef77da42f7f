// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "inspect/dump.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

#include "context/unwind.hpp"
#include "os/clock.hpp"
#include "os/safe_read.hpp"
#include "process/domain_state.hpp"
#include "process/guest_state.hpp"
#include "trace/describers.hpp"
#include "trace/symbols.hpp"
#include "unit/handle.hpp"
#include "unit/names.hpp"

namespace weft {
namespace {

using context::Trace;

std::uintptr_t number(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// A copy of an object that other threads may change or free at this moment.
template <class T>
class Copy {
public:
    bool take(const T* from) { return from != nullptr && os::safe_read(from, bytes_, sizeof bytes_) == sizeof bytes_; }
    const T& operator*() const { return *reinterpret_cast<const T*>(bytes_); }
    const T* operator->() const { return reinterpret_cast<const T*>(bytes_); }

private:
    alignas(T) unsigned char bytes_[sizeof(T)];
};

const char* name_of_pool(weft_pool_kind kind) {
    switch (kind) {
    case WEFT_POOL_PRIVATE: return "private";
    case WEFT_POOL_SHARED: return "shared";
    case WEFT_POOL_DEQUE: return "deque";
    case WEFT_POOL_LIFO: return "lifo";
    case WEFT_POOL_PRIORITY: return "priority";
    case WEFT_POOL_BLOCKING: return "blocking";
    case WEFT_POOL_USER: return "the program's own";
    case WEFT_POOL_DEFAULT: break;
    }
    return "?";
}

// What was found of one unit.
struct Look {
    Copy<Unit> unit;
    Trace trace;
    bool has_frames = false;
    bool fresh = false;   // it has not started
    bool sure = false;    // two looks found the same
};

class Dump {
public:
    Dump(Process& of, DumpSink to, const atomic<bool>& stop) : of_(of), to_(to), stop_(stop) {}

    void run() {
        note_guests();
        const std::uint64_t begin_ns = os::now_ns();
        line("weft: dump of process %d at %.6f s of the monotonic clock\n", static_cast<int>(getpid()),
             static_cast<double>(begin_ns) / 1e9);
        streams();
        harts();
        find_all();
        std::size_t shown = 0;
        for (const Unit* unit : all_) {
            if (ended()) return;
            shown += one(unit);
        }
        line("weft: end of the dump: %zu units\n", shown);
        flush();
    }

    void run_waiting(const char* first) {
        text_ += first;
        note_guests();
        find_all();
        for (const Unit* unit : all_) {
            Copy<Unit> copy;
            if (ended()) return;
            const State state = copy.take(unit) ? copy->life.now() : State::free;
            if (state != State::free && state != State::done) one(unit);
        }
        line("weft: end of the report\n");
        flush();
    }

    void run_one(const Unit* unit) {
        note_running();
        note_guests();
        one(unit);
        flush();
    }

private:
    static constexpr std::size_t most_stack_bytes = 256 << 10;   // the part of a unit's stack that is copied
    static constexpr std::size_t enough = 32 << 10;              // of text, before it is written
    static constexpr int looks = 3;                              // at a unit that keeps changing

    // relaxed: a wish.
    bool ended() const { return gone_ || stop_.load(std::memory_order_relaxed); }

    [[gnu::format(printf, 2, 3)]] void line(const char* format, ...) {
        char text[512];
        va_list arguments;
        va_start(arguments, format);
        const int bytes = std::vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        if (bytes > 0) text_.append(text, std::min(static_cast<std::size_t>(bytes), sizeof text - 1));
    }
    void flush() {
        if (!text_.empty() && !gone_ && !to_.write(to_.self, text_.data(), text_.size())) gone_ = true;
        text_.clear();
    }

    // ---- streams --------------------------------------------------------------------------------

    void streams() {
        std::lock_guard guard(of_.lock);
        for (std::size_t rank = 0; rank < of_.ranks_used; ++rank) {
            if (of_.streams[rank] != nullptr) stream(*of_.streams[rank]);
        }
    }

    // How many harts each child of the base has, and asks for.
    void harts() {
        line("harts: %zu of %zu granted\n", of_.base.granted(), of_.base.limit_in_effect());
        of_.base.each([this](const hart::Root& root) {
            if (&root == &of_.streams_root) {
                line("    the streams'");
            } else if (root.guest) {
                line("    a guest's (%s)", stands(root.guest_phase.load()));
            } else {
                line("    a domain's (pool %p)", static_cast<const void*>(hart::RootOf<Domain>::of(root).pool));
            }
            line(": has %zu, asks for %td", root.held, root.asked);
            if (root.is_idle.load()) line(", has nothing to do");
            if (root.yielding) line(", has stepped aside");
            if (const std::uint32_t back = root.to_reclaim.load(); back != 0) line(", is to give back %u", back);
            if (root.coming != 0) line(", %zu on their way", root.coming);
            line("\n");
        });
    }

    static const char* stands(hart::Root::GuestPhase phase) {
        using GuestPhase = hart::Root::GuestPhase;
        switch (phase) {
        case GuestPhase::nothing: break;
        case GuestPhase::outside: return "outside";
        case GuestPhase::reclaimable: return "loose";
        case GuestPhase::waits: return "waits";
        case GuestPhase::carries: return "waits, and carries another's hart";
        case GuestPhase::claims: return "claims the hart that it carries";
        case GuestPhase::wants: return "wants one";
        case GuestPhase::held: return "runs";
        case GuestPhase::ready: return "is ready";
        case GuestPhase::gives: return "gives it back";
        }
        return "?";
    }

    void note_running() {
        std::lock_guard guard(of_.lock);
        for (std::size_t rank = 0; rank < of_.ranks_used; ++rank) {
            if (of_.streams[rank] != nullptr) running_[running_on(*of_.streams[rank])] = rank;
        }
    }

    // A guest's unit belongs to one OS thread.
    void note_guests() {
        if (trace::describers() == nullptr) return;
        std::lock_guard guard(of_.lock);
        for (std::size_t rank = 0; rank < of_.ranks_used; ++rank) {
            const Stream* const stream = of_.streams[rank];
            if (stream == nullptr || stream->role.guest == nullptr) continue;
            const Unit* unit = nullptr;
            os::safe_read(&stream->role.guest->unit, &unit, sizeof unit);   // without an order, as in running_on()
            guests_[unit] = stream->carrier.thread_id.load();
        }
    }

    // Under the runtime's lock: the stream exists. Without an order: safe_read() rather than a
    // race.
    static const Unit* running_on(const Stream& of) {
        const Unit* running = nullptr;
        os::safe_read(&of.running, &running, sizeof running);
        return running;
    }

    // Under the runtime's lock.
    void stream(const Stream& of) {
        char name[sizeof of.name] = {};
        os::safe_read(of.name, name, sizeof name - 1);   // without an order: safe_read() rather than a race
        const Unit* const running = running_on(of);
        const Attention bits = of.asked();
        line("stream %zu '%s': ", of.rank, name);
        Copy<Unit> unit;
        if (of.role.guest != nullptr && is_outside(*of.role.guest)) {
            line("outside");
        } else if (running != nullptr && unit.take(running)) {
            running_[running] = of.rank;
            line("runs unit %llu", static_cast<unsigned long long>(unit->id));
            if (bits.has(attention::pause)) line(", is to pause");
        } else if (of.carrier.thread_id.load() == 0) {
            line("not started");
        } else if (bits.has(attention::pause)) {
            line("paused");
        } else {
            line(of.sleep.asleep.load() ? "asleep" : "idle");
            if (of.role.guest != nullptr) line(", its guest %s", stands(of.role.guest->root.guest_phase.load()));
        }
        line("; OS thread %u; ran units %llu times", of.carrier.thread_id.load(),
             static_cast<unsigned long long>(of.counted(trace::Count::run)));
        main_pool(of.levels.main_pool.load());
        line("\n");
    }

    // A pool that is listed is not freed while the lock is held. The program's own pool may do
    // anything when its functions are called, and they are not.
    void main_pool(const Pool* pool) {
        const Pool* listed = of_.pools;
        while (listed != nullptr && listed != pool) listed = listed->next;
        if (listed == nullptr) return;
        line("; pool %p (%s", static_cast<const void*>(pool), name_of_pool(pool->kind));
        if (pool->kind != WEFT_POOL_USER) line(", %zu ready", pool::length(*pool));
        line(")");
    }

    // ---- a unit ---------------------------------------------------------------------------------

    void find_all() {
        each_descriptor(
            of_,
            [](void* object, void* raw) {
                static_cast<std::vector<const Unit*>*>(raw)->push_back(static_cast<const Unit*>(object));
            },
            &all_);
        sorted_ = all_;
        std::sort(sorted_.begin(), sorted_.end());
    }

    bool one(const Unit* address) {
        Look look;
        for (int i = 0; i < looks && !look.sure; ++i) {
            if (!look_at(address, look)) return false;
        }
        describe(address, look);
        if (look.has_frames) frames(look);
        if (text_.size() >= enough) flush();
        return true;
    }

    // False: there is no unit.
    bool look_at(const Unit* address, Look& look) {
        if (!look.unit.take(address) || look.unit->life.is(State::free)) return false;
        const State state = look.unit->life.now();
        const bool saved = look.unit->context != nullptr && state != State::running && state != State::done;
        look.has_frames = saved && trace(*look.unit, look.trace);
        // A unit of kind Full has a context from the beginning; it stands at its entry.
        look.fresh = state == State::ready &&
                     (!saved ||
                      (look.has_frames && look.trace.frames[0] == number(reinterpret_cast<void*>(weft_context_entry))));
        look.has_frames = look.has_frames && !look.fresh;
        Copy<Unit> again;
        if (!again.take(address)) return false;
        look.sure = again->id == look.unit->id && again->life.now() == state && again->context == look.unit->context;
        if (!look.has_frames || !look.sure) return true;
        Trace once_more;
        look.sure = trace(*again, once_more) && once_more.count == look.trace.count &&
                    std::equal(once_more.frames, once_more.frames + once_more.count, look.trace.frames);
        return true;
    }

    // The frames of a saved context, by a copy of the part of the stack that is in use. False:
    // there is no such part.
    bool trace(const Unit& unit, Trace& to) {
        const std::uintptr_t from = number(arch::stack_pointer(unit.context));
        std::size_t bytes = most_stack_bytes;
        Copy<mem::Stack> stack;
        if (!stack.take(unit.stack)) return false;
        if (!unit.has(Unit::primary) || has_forked(unit)) {   // else it stands on a C library stack
            const std::uintptr_t lowest = number(stack->lowest), end = lowest + stack->bytes;
            if (from < lowest || from >= end) return false;
            bytes = std::min(bytes, end - from);
        }
        copy_.resize(bytes);
        bytes = os::safe_read(reinterpret_cast<void*>(from), copy_.data(), bytes);
        if (bytes == 0) return false;
        to = unwinder_.trace(from, {from, bytes, copy_.data()});
        return true;
    }

    void describe(const Unit* address, const Look& look) {
        const Unit& unit = *look.unit;
        const State state = unit.life.now();
        char name[sizeof unit.name];
        std::memcpy(name, unit.name, sizeof name);
        name[sizeof name - 1] = '\0';
        line("unit %llu '%s' (%s, %s)", static_cast<unsigned long long>(unit.id), name, name_of(unit.kind),
             name_of(state));
        if (state == State::suspended) line(" until it is resumed");
        if (state == State::waiting) waits(unit);
        if (state == State::running) runs(address);
        if (look.fresh) {
            line(" has not started");
            place(", will call ", number(reinterpret_cast<void*>(unit.body)));
        }
        told(address, unit);
        place("; spawned at ", number(unit.spawned_at()));
        if (!look.sure) line("; changed while it was looked at: some of this may be wrong");
        line("\n");
    }

    // What libraries report of the unit.
    void told(const Unit* address, const Unit& unit) {
        char text[256];
        const auto guest = guests_.find(address);
        const std::uint32_t thread = guest == guests_.end() ? 0 : guest->second;
        const weft_description of{sizeof of, to_handle(address, unit), thread, text, sizeof text, os::safe_read};
        trace::each_description(of, [&](const char* words) { (text_ += "; ") += words; });
    }

    void waits(const Unit& unit) {
        const void* object = unit.waits_object;
        const bool join = unit.waits == Waits::as_stated || unit.waits == Waits::join;
        Copy<Unit> other;
        if (join &&
            other.take(reinterpret_cast<const Unit*>(number(object) & ((std::uintptr_t{1} << generation_shift) - 1)))) {
            line(" for the end of unit %llu", static_cast<unsigned long long>(other->id));
            add_name(*other);
        } else {
            line(" for %s", name_of(unit.waits));
            if (object != nullptr) place(" ", number(object));
            if (unit.waits == Waits::mutex) holder(object);
        }
        if (unit.waits_until_ns == 0) return;
        const double left_s = (static_cast<double>(unit.waits_until_ns) - static_cast<double>(os::now_ns())) / 1e9;
        if (left_s >= 0) {
            line(", %.6f s more at most", left_s);
        } else {
            line(", and should have ended %.6f s ago", -left_s);
        }
    }

    void add_name(const Unit& unit) {
        if (unit.name[0] != '\0') line(" '%.*s'", static_cast<int>(sizeof unit.name - 1), unit.name);
    }

    // The holder of the mutex is in the first word after the mutex's own word (sync/objects.hpp),
    // except for a bit that says that it has been given the mutex and has not run since.
    void holder(const void* mutex) {
        constexpr std::uintptr_t mask = sizeof(std::uintptr_t) - 1;
        const std::uintptr_t at = (number(mutex) + sizeof(std::uint32_t) + mask) & ~mask;
        std::uintptr_t found = 0;
        if (os::safe_read(reinterpret_cast<void*>(at), &found, sizeof found) != sizeof found) return;
        const auto* const unit = reinterpret_cast<const Unit*>(found & ~std::uintptr_t{1});
        Copy<Unit> copy;
        if (!std::binary_search(sorted_.begin(), sorted_.end(), unit) || !copy.take(unit)) return;
        line(", held by unit %llu", static_cast<unsigned long long>(copy->id));
        add_name(*copy);
    }

    void runs(const Unit* address) {
        const auto where = running_.find(address);
        if (where != running_.end()) line(" on stream %zu, when the streams were looked at", where->second);
    }

    void place(const char* before, std::uintptr_t address) {
        if (address == 0) return;
        const trace::Symbols::Symbol& symbol = symbols_.of(address);
        line("%s%#zx", before, address);
        if (!symbol.place.empty()) text_ += " " + symbol.place;
        if (!symbol.function.empty()) text_ += " (" + symbol.file + ")";
    }

    void frames(const Look& look) {
        const Trace& trace = look.trace;
        std::vector<std::uintptr_t> all(trace.frames, trace.frames + trace.count);
        // Thousands of units may wait at one place: the frames are printed once.
        if (look.sure && !all.empty()) {
            if (traces_.size() == most_traces) traces_.clear();
            const auto [known, fresh] = traces_.emplace(all, look.unit->id);
            if (!fresh) return line("    the frames of unit %llu\n", static_cast<unsigned long long>(known->second));
        }
        for (std::uintptr_t address : all) {
            place("    ", address);
            line("\n");
        }
        if (trace.end == Trace::End::lost) line("    and what called that could not be found out\n");
        if (trace.end == Trace::End::full) line("    and so on\n");
    }

    static constexpr std::size_t most_traces = 4096;

    Process& of_;
    const DumpSink to_;
    const atomic<bool>& stop_;
    bool gone_ = false;
    std::string text_;
    std::vector<unsigned char> copy_;
    std::vector<const Unit*> all_, sorted_;   // descriptors; the second by address
    context::Unwinder unwinder_;
    trace::Symbols symbols_;
    std::map<std::vector<std::uintptr_t>, std::uint64_t> traces_;   // the unit that had them first
    std::unordered_map<const Unit*, std::size_t> running_;          // the stream that runs it
    std::unordered_map<const Unit*, std::uint32_t> guests_;         // the OS thread of it
};

}   // namespace

namespace {

template <class Write>
void unless_no_memory(DumpSink to, Write write) {
    try {
        write();
    } catch (...) {   // as in trace_file.cpp, without a name
        constexpr char text[] = "weft: no memory to go on with the dump\n";
        to.write(to.self, text, sizeof text - 1);
    }
}

constinit const atomic<bool> never{false};

}   // namespace

void dump(Process& of, DumpSink to, const atomic<bool>& stop, const Unit* unit) {
    unless_no_memory(to, [&] {
        Dump text(of, to, stop);
        unit == nullptr ? text.run() : text.run_one(unit);
    });
}

void dump_waiting(Process& of, DumpSink to, const char* line) {
    unless_no_memory(to, [&] { Dump(of, to, never).run_waiting(line); });
}

}   // namespace weft
