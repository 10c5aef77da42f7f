// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "observe/trace_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "os/clock.hpp"
#include "os/memory.hpp"
#include "process/error.hpp"
#include "trace/symbols.hpp"
#include "unit/names.hpp"
#include "unit/unit.hpp"
#include "unit/waits.hpp"
#include "weft/status.h"

namespace weft {
namespace {

using trace::Event;
using trace::Record;

// ---- text ---------------------------------------------------------------------------------------

// How many bytes from `at` on form one character of UTF-8; 0: they form none.
std::size_t character(const std::string& text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    const unsigned first = byte(at);
    const std::size_t length = first < 0x80                    ? 1
                               : first >= 0xc2 && first < 0xe0 ? 2
                               : (first & 0xf0) == 0xe0        ? 3
                               : first >= 0xf0 && first < 0xf5 ? 4
                                                               : 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(at + i) & 0xc0) != 0x80) return 0;
    }
    // Overlong, a surrogate, or beyond the last character.
    const unsigned second = byte(at + 1);
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) || (first == 0xf0 && second < 0x90) ||
        (first == 0xf4 && second >= 0x90))
        return 0;
    return length;
}

// As a JSON string. A byte that belongs to no character is shown as the character of that number.
std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (std::size_t at = 0; at < text.size();) {
        const auto byte = static_cast<unsigned char>(text[at]);
        const std::size_t length = character(text, at);
        if (byte == '"' || byte == '\\') {
            out += '\\';
            out += text[at++];
        } else if (byte < 0x20 || length == 0) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
            out += escaped;
            ++at;
        } else {
            out.append(text, at, length);
            at += length;
        }
    }
    return out + '"';
}

std::string hex(std::uint64_t number) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
    return text;
}

// A function's name, or whatever else is known about it.
std::string name_of(const trace::Symbols::Symbol& symbol, std::uint64_t address) {
    if (!symbol.function.empty()) return symbol.function;
    return symbol.file.empty() ? hex(address) : symbol.place;
}

std::string place_of(const trace::Symbols::Symbol& symbol, std::uint64_t address) {
    return symbol.file.empty() ? hex(address) : symbol.place;
}

// ---- from records to a trace --------------------------------------------------------------------

// What is known about a unit.
struct Life {
    std::string name;
    std::uint64_t site = 0;
    std::uint64_t body = 0;
    std::uint64_t flow = 0;   // the arrow that leads to its next slice; 0: none
    const char* arrow = "";   // what the arrow stands for
};

struct Entry {
    Record record;
    std::uint32_t track;
};

// What is open on a track, outermost first.
struct Open {
    std::uint64_t unit = 0;   // 0: none
    bool asleep = false;
};

class Writer {
public:
    Writer(const TraceFile& from, std::FILE* to, std::uint64_t begin_ns) : from_(from), to_(to), begin_ns_(begin_ns) {}

    void write() {
        for (std::size_t track = 0; track < TraceFile::most_tracks; ++track) {
            if (from_.track(track).ring != nullptr) collect(static_cast<std::uint32_t>(track));
        }
        // Within one track they are in order already, and stay so.
        std::stable_sort(entries_.begin(), entries_.end(),
                         [](const Entry& a, const Entry& b) { return a.record.stamp < b.record.stamp; });
        calibrate();
        std::fprintf(to_,
                     "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"producer\":\"weft\",\"events\":%zu,\"events_lost\":%"
                     "llu},\n\"traceEvents\":[\n",
                     entries_.size(), static_cast<unsigned long long>(lost_));
        describe_tracks();
        for (const Entry& entry : entries_) show(entry);
        const std::uint64_t end = entries_.empty() ? 0 : entries_.back().record.stamp;
        for (std::size_t track = 0; track < TraceFile::most_tracks; ++track)
            close_all(static_cast<std::uint32_t>(track), end);
        std::fputs("\n]}\n", to_);
    }

private:
    void collect(std::uint32_t track) {
        const trace::Ring& ring = *from_.track(track).ring;
        const std::uint64_t end = ring.written(), held = ring.capacity() - 1;
        const std::uint64_t first = end > held ? end - held : 0;
        lost_ += first;
        lost_of_[track] = first;
        std::string name;
        std::uint64_t latest = from_.begin_stamp();
        for (std::uint64_t number = first; number < end; ++number) {
            Record record;
            if (!ring.read(number, record)) {
                ++lost_;
                ++lost_of_[track];
                continue;
            }
            if (record.what == Event::name) {
                const char* const text = reinterpret_cast<const char*>(&record);
                name.assign(text, ::strnlen(text, trace::Ring::name_bytes));
                continue;
            }
            if (record.what > Event::name) continue;   // torn nevertheless
            // The counters of several processors may differ a little.
            latest = record.stamp = std::max(record.stamp, latest);
            if (!name.empty()) lives_[record.id].name = std::exchange(name, {});
            entries_.push_back({record, track});
        }
    }

    // The length of a tick of the counter, by the clock, from the beginning of the trace to now.
    void calibrate() {
        const std::uint64_t ns = os::now_ns() - begin_ns_, ticks = arch::cycles() - from_.begin_stamp();
        ns_per_tick_ = ticks == 0 ? 1.0 : static_cast<double>(ns) / static_cast<double>(ticks);
    }

    // In microseconds, with the nanoseconds after the point.
    std::string time(std::uint64_t stamp) const {
        const auto ns = static_cast<std::uint64_t>(static_cast<double>(stamp - from_.begin_stamp()) * ns_per_tick_);
        char text[32];
        std::snprintf(text, sizeof text, "%llu.%03llu", static_cast<unsigned long long>(ns / 1000),
                      static_cast<unsigned long long>(ns % 1000));
        return text;
    }

    // One event of the trace; `more` are further fields, each beginning with a comma.
    void put(const char* phase, const std::string& name, std::uint32_t track, std::uint64_t stamp,
             const std::string& more) {
        std::fprintf(to_, "%s{\"ph\":\"%s\",\"name\":%s,\"pid\":%d,\"tid\":%u,\"ts\":%s%s}", first_ ? "" : ",\n", phase,
                     quoted(name).c_str(), process_, track + 1, time(stamp).c_str(), more.c_str());
        first_ = false;
    }

    void describe_tracks() {
        const std::uint64_t begin = from_.begin_stamp();
        put("M", "process_name", 0, begin, ",\"args\":{\"name\":\"weft\"}");
        for (std::size_t number = 0; number < TraceFile::most_tracks; ++number) {
            const TraceFile::Track& track = from_.track(number);
            const auto tid = static_cast<std::uint32_t>(number);
            const bool outside = number + 1 == TraceFile::most_tracks;
            if (track.ring == nullptr || (outside && track.ring->written() == 0)) continue;
            put("M", "thread_name", tid, begin,
                ",\"args\":{\"name\":" + quoted(outside ? "other OS threads" : track.name) + "}");
            put("M", "thread_sort_index", tid, begin, ",\"args\":{\"sort_index\":" + std::to_string(number) + "}");
            if (lost_of_[number] == 0) continue;
            put("i", "events lost before: " + std::to_string(lost_of_[number]) + " (see WEFT_TRACE_EVENTS)", tid, begin,
                ",\"s\":\"t\",\"cat\":\"trace\"");
        }
    }

    std::string name_of_unit(std::uint64_t id) {
        const Life& life = lives_[id];
        if (!life.name.empty()) return life.name;
        if (life.body != 0) return name_of(symbols_.of(life.body), life.body);
        return "unit " + std::to_string(id);
    }

    void open_unit(const Entry& entry) {
        const Record& record = entry.record;
        close_all(entry.track, record.stamp);
        Life& life = lives_[record.id];
        std::string args = ",\"cat\":\"unit\",\"args\":{\"id\":" + std::to_string(record.id) + ",\"kind\":\"" +
                           name_of(static_cast<Kind>(record.kind)) + "\"";
        // the address of the call, not the one behind it
        if (life.site != 0) args += ",\"spawned_at\":" + quoted(place_of(symbols_.of(life.site - 1), life.site - 1));
        put("B", name_of_unit(record.id), entry.track, record.stamp, args + "}");
        open_[entry.track].unit = record.id;
        const std::uint64_t flow = std::exchange(life.flow, 0);
        if (flow != 0)
            put("f", life.arrow, entry.track, record.stamp,
                ",\"cat\":\"unit\",\"bp\":\"e\",\"id\":" + std::to_string(flow));
    }

    // An arrow begins in the open slice; without one it could not be drawn.
    void begin_flow(std::uint32_t track, std::uint64_t stamp, std::uint64_t id, const char* arrow) {
        if (open_[track].unit == 0 || open_[track].asleep) return;
        Life& life = lives_[id];
        life.flow = ++flows_;
        life.arrow = arrow;
        put("s", arrow, track, stamp, ",\"cat\":\"unit\",\"id\":" + std::to_string(life.flow));
    }

    void close_unit(std::uint32_t track, std::uint64_t stamp, const std::string& args) {
        if (open_[track].unit == 0) return;
        put("E", name_of_unit(open_[track].unit), track, stamp, ",\"args\":{" + args + "}");
        open_[track].unit = 0;
    }

    void close_sleep(std::uint32_t track, std::uint64_t stamp) {
        if (std::exchange(open_[track].asleep, false)) put("E", "asleep", track, stamp, "");
    }

    void close_all(std::uint32_t track, std::uint64_t stamp) {
        close_sleep(track, stamp);
        close_unit(track, stamp, "");
    }

    void leave(const Entry& entry, const std::string& args) {
        close_sleep(entry.track, entry.record.stamp);
        if (open_[entry.track].unit == entry.record.id) return close_unit(entry.track, entry.record.stamp, args);
        close_all(entry.track, entry.record.stamp);   // the events in between were lost
    }

    void instant(const Entry& entry, const char* name, const std::string& more = "") {
        put("i", name, entry.track, entry.record.stamp,
            ",\"s\":\"t\",\"cat\":\"unit\",\"args\":{\"id\":" + std::to_string(entry.record.id) + more + "}");
    }

    void rescue(const Entry& entry, const char* what) {
        put("i", what, entry.track, entry.record.stamp,
            ",\"s\":\"t\",\"cat\":\"stream\",\"args\":{\"stream\":" + std::to_string(entry.record.detail) + "}");
    }

    void begin_life(const Entry& entry, const char* how) {
        lives_[entry.record.id].site = entry.record.detail;
        instant(entry, how, std::string(",\"kind\":\"") + name_of(static_cast<Kind>(entry.record.kind)) + "\"");
        begin_flow(entry.track, entry.record.stamp, entry.record.id, how);
    }

    void suspend(const Entry& entry) {
        const Record& record = entry.record;
        close_sleep(entry.track, record.stamp);
        begin_flow(entry.track, record.stamp, record.id, "wait");
        std::string args = "\"left\":\"suspended\",\"waits_for\":" + quoted(name_of(static_cast<Waits>(record.waits)));
        if (record.detail != 0) args += ",\"object\":\"" + hex(record.detail) + "\"";
        leave(entry, args);
    }

    void show(const Entry& entry) {
        const Record& record = entry.record;
        switch (record.what) {
        case Event::create: return begin_life(entry, "spawn");
        case Event::revive: return begin_life(entry, "revive");
        case Event::start: lives_[record.id].body = record.detail; return open_unit(entry);
        case Event::resume: return open_unit(entry);
        case Event::suspend: return suspend(entry);
        case Event::yield: return leave(entry, "\"left\":\"yielded\"");
        case Event::finish:
            return leave(entry, std::string("\"left\":\"finished\",\"outcome\":\"") +
                                    name_of(static_cast<Outcome>(record.outcome)) + "\"");
        case Event::cancel: return instant(entry, "cancel");
        case Event::promote: return instant(entry, "promote");
        case Event::migrate: return instant(entry, "migrate", ",\"pool\":\"" + hex(record.detail) + "\"");
        case Event::steal: return instant(entry, "steal", ",\"pool\":\"" + hex(record.detail) + "\"");
        case Event::sleep:
            close_sleep(entry.track, record.stamp);
            put("B", "asleep", entry.track, record.stamp, ",\"cat\":\"stream\"");
            open_[entry.track].asleep = true;
            return;
        case Event::wake: return close_sleep(entry.track, record.stamp);
        case Event::rescue: return rescue(entry, "rescues");
        case Event::relief: return rescue(entry, "relieved");
        case Event::join:
        case Event::free:
        case Event::name: return;
        }
    }

    const TraceFile& from_;
    std::FILE* const to_;
    const std::uint64_t begin_ns_;
    const int process_ = ::getpid();
    double ns_per_tick_ = 1;
    std::vector<Entry> entries_;
    std::unordered_map<std::uint64_t, Life> lives_;
    std::vector<Open> open_{TraceFile::most_tracks};   // not in this object: the process may end on a unit's stack
    std::vector<std::uint64_t> lost_of_ = std::vector<std::uint64_t>(TraceFile::most_tracks);
    std::uint64_t lost_ = 0;
    std::uint64_t flows_ = 0;
    trace::Symbols symbols_;
    bool first_ = true;
};

}   // namespace

TraceFile::TraceFile(std::FILE* file, const char* name, std::size_t events_each)
    : file_(file), name_(name), events_each_(events_each), begin_ns_(os::now_ns()), begin_stamp_(arch::cycles()) {}

TraceFile::~TraceFile() {
    if (std::FILE* file = file_.load()) std::fclose(file);
    for (Track& track : tracks_) os::destroy(track.ring);
}

weft_status TraceFile::open(const char* name, std::size_t events_each, TraceFile** made) {
    std::FILE* file = std::fopen(name, "we");
    if (file == nullptr) {
        return fail(WEFT_ENVIRONMENT, "the trace cannot be written to '%s': %s; name another file (WEFT_TRACE)", name,
                    std::strerror(errno));
    }
    *made = os::make<TraceFile>(file, name, events_each);
    if (*made != nullptr) return WEFT_OK;
    std::fclose(file);
    return fail(WEFT_NO_MEMORY, "no memory for a trace");
}

void TraceFile::close(TraceFile* file) { os::destroy(file); }

trace::Ring* TraceFile::ring(std::size_t number, const char* name) {
    Track& track = tracks_[number];
    if (name != nullptr) std::snprintf(track.name, sizeof track.name, "%s", name);
    if (track.ring != nullptr) return track.ring;
    auto* made = os::make<trace::Ring>();
    if (made == nullptr || !made->make(events_each_)) {
        os::destroy(made);
        return nullptr;
    }
    return track.ring = made;
}

void TraceFile::write() noexcept {
    std::FILE* const file = file_.exchange(nullptr);
    if (file == nullptr) return;
    bool memory = true;
    try {
        Writer(*this, file, begin_ns_).write();
        // no other exception is possible; the name of a type would be bound to the C++ library when
        // Weft is loaded (os/linux/late_cxx.cpp)
    } catch (...) {
        memory = false;
    }
    const bool written = std::ferror(file) == 0;
    if (std::fclose(file) != 0 || !written) {
        std::fprintf(stderr,
                     "weft: the trace in '%s' is not complete: the file could not be written to its end (WEFT_TRACE)\n",
                     name_);
    } else if (!memory) {
        std::fprintf(
            stderr,
            "weft: the trace in '%s' is not complete: no memory to sort its events; set WEFT_TRACE_EVENTS to less\n",
            name_);
    }
}

}   // namespace weft
