// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A user-defined pool: the units of a stream run by priority instead of in turn.
//
// Any type with push, pop and length can be a pool; weft::make_pool fills in the C table for it.
// This pool keeps one list for each priority. It links the units through the link field that each
// unit has for its pool, so push allocates no memory.
#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>

#include <weft/weft.hpp>

namespace {

class PriorityPool {
public:
    static constexpr std::size_t levels = 3;

    // A unit's priority is the last character of its name: '0' is the most urgent. Units without a
    // priority are in the middle.
    static std::size_t level_of(weft::unit_ref unit) noexcept {
        const std::string_view name = unit.name();
        const std::size_t level = name.empty() ? levels : static_cast<std::size_t>(name.back() - '0');
        return level < levels ? level : levels / 2;
    }

    void push(weft::unit_ref unit) noexcept {
        const std::lock_guard guard(mutex_);
        List& list = lists_[level_of(unit)];
        unit.link() = nullptr;
        if (list.last) {
            list.last.link() = unit.native_handle();
        } else {
            list.first = unit;
        }
        list.last = unit;
        length_.fetch_add(1);
    }

    weft::unit_ref pop() noexcept {
        const std::lock_guard guard(mutex_);
        for (List& list : lists_) {
            if (!list.first) continue;
            const weft::unit_ref unit = list.first;
            list.first = static_cast<weft_unit*>(unit.link());
            if (!list.first) list.last = {};
            length_.fetch_sub(1);
            return unit;
        }
        return {};
    }

    std::size_t length() const noexcept { return length_.load(); }

private:
    struct List {
        weft::unit_ref first;
        weft::unit_ref last;
    };

    std::mutex mutex_;   // never held across a suspension
    std::array<List, levels> lists_;
    std::atomic<std::size_t> length_{0};
};

void say(const char* what, int number) { std::printf("%s %d\n", what, number); }

}   // namespace

int main() {
    weft::runtime runtime{{.streams = 1}};
    auto pool = weft::make_pool<PriorityPool>();
    std::vector<weft::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back(weft::attributes{.pool = pool, .name = "p2"}, say, "at leisure", i);
        threads.emplace_back(weft::attributes{.pool = pool, .name = "p1"}, say, "soon", i);
        threads.emplace_back(weft::attributes{.pool = pool, .name = "p0"}, say, "at once", i);
    }
    {
        const weft::stream stream(pool);   // draws from the pool only now, when all units are in it
        weft::join_all(threads);
    }
    pool.close();
}
