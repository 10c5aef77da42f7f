// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tests of observers share: an observer that records events, and units to observe.
#pragma once

#include <cerrno>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "test/behaviour/waiting.hpp"

namespace weft_test {

struct Seen {
    char what;   // letter()
    weft_unit* unit;
    weft_unit* self;   // the unit that did it
    weft_stream* stream;
    weft_pool* pool;
    std::string waits_for;
    const void* object;
    weft_unit_outcome outcome;
};

inline char letter(weft_observed what) {
    switch (what) {
    case WEFT_OBSERVED_CREATE: return 'c';
    case WEFT_OBSERVED_START: return 's';
    case WEFT_OBSERVED_SUSPEND: return 'w';
    case WEFT_OBSERVED_YIELD: return 'y';
    case WEFT_OBSERVED_RESUME: return 'r';
    case WEFT_OBSERVED_FINISH: return 'f';
    case WEFT_OBSERVED_JOIN: return 'j';
    case WEFT_OBSERVED_FREE: return 'x';
    case WEFT_OBSERVED_CANCEL: return 'k';
    case WEFT_OBSERVED_MIGRATE: return 'm';
    case WEFT_OBSERVED_REVIVE: return 'v';
    case WEFT_OBSERVED_PROMOTE:
    case WEFT_OBSERVED_ALL: break;
    }
    return '?';
}

// A life without the pairs that may occur in it any number of times.
inline std::string without_pairs(std::string life, std::vector<std::string> pairs) {
    for (std::size_t at = 0; at < life.size();) {
        bool found = false;
        for (const std::string& pair : pairs) found = found || life.compare(at, pair.size(), pair) == 0;
        if (found) {
            life.erase(at, 2);
        } else {
            ++at;
        }
    }
    return life;
}

// Records events.
class Notes {
public:
    explicit Notes(unsigned events = WEFT_OBSERVED_ALL) {
        weft_observer_options options{};
        options.size = sizeof options;
        options.events = events;
        options.call = [](const weft_observation* seen, void* raw) { static_cast<Notes*>(raw)->note(*seen); };
        options.argument = this;
        EXPECT_EQ(weft_observer_register(&options, &observer_), WEFT_OK) << weft_error_text();
    }
    ~Notes() { stop(); }
    Notes(const Notes&) = delete;

    void stop() {
        if (observer_ == nullptr) return;
        EXPECT_EQ(weft_observer_unregister(std::exchange(observer_, nullptr)), WEFT_OK) << weft_error_text();
    }

    std::vector<Seen> all() {
        std::lock_guard guard(lock_);
        return seen_;
    }
    // The events of the unit that has the handle now, or had it last.
    std::vector<Seen> of(weft_unit* unit) {
        std::vector<Seen> mine;
        for (const Seen& seen : all()) {
            if (seen.unit != unit) continue;
            if (seen.what == 'c') mine.clear();
            mine.push_back(seen);
        }
        return mine;
    }
    // The event of a unit by its number, which must exist.
    Seen at(weft_unit* unit, std::size_t number) {
        const std::vector<Seen> mine = of(unit);
        EXPECT_LT(number, mine.size());
        return number < mine.size() ? mine[number] : Seen{};
    }
    // The events of a unit, a letter each.
    std::string life(weft_unit* unit) {
        std::string text;
        for (const Seen& seen : of(unit)) text += seen.what;
        return text;
    }
    // The events of units that were created meanwhile, by handle and, since handles are reused, by
    // life.
    std::vector<std::string> lives() {
        std::map<weft_unit*, std::string> open;
        std::vector<std::string> ended;
        for (const Seen& seen : all()) {
            if (seen.what != 'c' && open.count(seen.unit) == 0) continue;
            std::string& life = open[seen.unit];
            life += seen.what;
            if (seen.what != 'x') continue;
            ended.push_back(life);
            open.erase(seen.unit);
        }
        for (const auto& [unit, life] : open) ended.push_back(life);
        return ended;
    }
    std::size_t count() {
        std::lock_guard guard(lock_);
        return seen_.size();
    }

private:
    void note(const weft_observation& seen) {
        EXPECT_GE(seen.size, sizeof(weft_observation));
        EXPECT_EQ(seen.stream, weft_stream_self());
        if (seen.what == WEFT_OBSERVED_PROMOTE) return;   // it depends on the kind: kinds_test.cpp
        errno = 77;                                       // must not be visible outside
        std::lock_guard guard(lock_);
        seen_.push_back({letter(seen.what), seen.unit, weft_unit_self(), seen.stream, seen.pool, seen.waits_for,
                         seen.object, seen.outcome});
    }

    weft_observer* observer_ = nullptr;
    std::mutex lock_;
    std::vector<Seen> seen_;
};

inline weft_unit* spawn(void (*body)(void*), void* argument = nullptr, weft_pool* pool = nullptr) {
    weft_unit* unit = nullptr;
    EXPECT_EQ(weft_ult_spawn(pool, body, argument, nullptr, &unit), WEFT_OK);
    return unit;
}
inline weft_unit* spawn_tasklet(void (*body)(void*), void* argument = nullptr, weft_pool* pool = nullptr) {
    weft_unit* unit = nullptr;
    EXPECT_EQ(weft_tasklet_spawn(pool, body, argument, nullptr, &unit), WEFT_OK);
    return unit;
}

inline void nothing(void*) {}
inline void yield_once(void*) { weft_unit_yield(); }
inline void sleep_in(void* bed) { static_cast<Bed*>(bed)->sleep(); }

}   // namespace weft_test
