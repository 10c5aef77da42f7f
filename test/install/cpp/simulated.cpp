// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A consumer of weft::sim: its units run on virtual harts, under several seeds.
#include <weft/sim.hpp>
#include <weft/weft.hpp>

int main() {
    const weft::sim::result came = weft::sim::explore({.seeds = 5}, [] {
        weft::runtime runtime({.streams = 2});
        weft::sim::atomic<int> done{0};
        weft::thread thread([&] { done.store(1); });
        thread.join();
        weft::sim::check(done.load() == 1, "who joins sees what was done");
    });
    return came.failed ? 1 : 0;
}
