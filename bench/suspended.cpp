// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A million ULTs suspended at once: the cost of each in processor time and in resident memory. One
// round per process, so that the memory is counted from zero; for pthreads see peers/pthread.cpp.
//   suspended [--count=N] [--kind=full|lsa]
#include "samples.hpp"
#include "weft_harness.hpp"

namespace {

std::size_t suspended = 0;   // one stream: it has a single writer

void suspend_once(void*) {
    bench::must(weft_unit_suspend([](weft_unit*, void*) { ++suspended; }, nullptr));
}

struct Clock {
    std::string subject;
    double count;
    std::uint64_t since = bench::processor_ns();
    void lap(const char* what) {
        bench::print_sample("suspended/" + std::string(what) + ":" + subject,
                            static_cast<double>(bench::processor_ns() - since) / count);
        since = bench::processor_ns();
    }
};

}   // namespace

int main(int argc, char** argv) {
    const std::size_t count = std::stoul(bench::take_flag(argc, argv, "count", "1000000"));
    const std::string kind = bench::take_flag(argc, argv, "kind", "full");
    bench::pin(bench::usable_cpus().back());
    std::vector<weft_unit*> units(count, reinterpret_cast<weft_unit*>(sizeof(void*)));   // touched before the count
    const bench::Runtime runtime(WEFT_POOL_PRIVATE, bench::ult_kind(kind));
    const double resident = bench::resident_bytes();
    const double tables = bench::page_table_bytes();

    Clock clock{"weft." + kind, static_cast<double>(count)};
    bench::must(weft_unit_spawn_many(runtime.pool(), count, suspend_once, nullptr, nullptr, units.data()));
    clock.lap("spawn");
    while (suspended < count) bench::must(weft_unit_yield());
    clock.lap("run and suspend");
    bench::print_sample("suspended/resident:weft." + kind,
                        (bench::resident_bytes() - resident) / static_cast<double>(count), "bytes");
    bench::print_sample("suspended/page tables:weft." + kind,
                        (bench::page_table_bytes() - tables) / static_cast<double>(count), "bytes");
    clock.since = bench::processor_ns();
    for (auto* unit : units) bench::must(weft_unit_resume(unit));
    clock.lap("resume");
    bench::must(weft_unit_join_free_many(units.data(), count));
    clock.lap("run, join and free");
    return 0;
}
