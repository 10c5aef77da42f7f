// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A user-defined scheduler: two pools share a stream by weight. Of every four units three come from
// the first pool, as long as both pools have units.
//
// Any type with `pick` can be a scheduler; weft::make_scheduler fills in the C table for it.
#include <cstdio>

#include <weft/weft.hpp>

namespace {

class WeightedScheduler {
public:
    explicit WeightedScheduler(unsigned weight) : weight_(weight) {}

    weft::unit_ref pick(weft::scheduler_ref self) noexcept {
        const std::size_t preferred = turn_ == weight_ ? 1 : 0;
        weft::unit_ref unit = take(self, preferred);
        if (!unit) unit = take(self, 1 - preferred);
        if (unit) turn_ = (turn_ + 1) % (weight_ + 1);
        return unit;
    }

private:
    // This uses the C calls, because pick must not throw.
    static weft::unit_ref take(weft::scheduler_ref self, std::size_t index) noexcept {
        weft_pool* pool = nullptr;
        weft_unit* unit = nullptr;
        if (weft_sched_pool_get(self.native_handle(), index, &pool) != WEFT_OK) return {};
        return weft_pool_pop(pool, &unit) == WEFT_OK ? unit : nullptr;
    }

    const unsigned weight_;
    unsigned turn_ = 0;
};

void say(char what) { std::putchar(what); }

}   // namespace

int main() {
    weft::runtime runtime{{.streams = 1}};
    weft::pool often(weft::pool_kind::shared_fifo);
    weft::pool seldom(weft::pool_kind::shared_fifo);
    std::vector<weft::thread> threads;
    for (int i = 0; i < 12; ++i) {
        threads.emplace_back(weft::attributes{.pool = often}, say, '#');
        threads.emplace_back(weft::attributes{.pool = seldom}, say, '.');
    }
    {
        const weft::stream stream(weft::make_scheduler<WeightedScheduler>({often, seldom}, 3U));
        weft::join_all(threads);
    }
    std::putchar('\n');   // ###.###.###.###.........
}
