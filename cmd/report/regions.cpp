// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Preloaded before libgomp.so.1 by `weft run --report`: counts the regions that each library
// begins, by their bodies, and forwards each call. So the OpenMP library itself counts nothing by
// library, and a run without a report pays for none of this. Not preloaded with --openmp=native: a
// libgomp that was opened for its caller alone comes behind no other library, so it could not be
// found from here.
#include <dlfcn.h>
#include <pthread.h>

#include "regions.hpp"
#include "tally.hpp"

namespace {

constinit weft_report::Tally regions;

[[gnu::constructor]] void begin() {
    const auto share = reinterpret_cast<weft_report::Share>(dlsym(RTLD_DEFAULT, weft_report::share));
    if (share != nullptr) share(&weft_report::shared);
    pthread_atfork(nullptr, nullptr, [] { regions.clear(); });
}

template <class Function>
class Next {
public:
    constexpr explicit Next(const char* name) : name_(name) {}
    Function get() {
        Function known = known_.load(std::memory_order_relaxed);   // relaxed: each lookup finds the same function
        if (known == nullptr) [[unlikely]] {
            known = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name_));
            known_.store(known, std::memory_order_relaxed);   // relaxed: each lookup finds the same function
        }
        return known;
    }

private:
    const char* const name_;
    std::atomic<Function> known_{nullptr};
};

using Body = void (*)(void*);

}   // namespace

#define COUNTED(result, name, parameters, arguments)                   \
    extern "C" [[gnu::visibility("default")]] result name parameters { \
        static constinit Next<result(*) parameters> next{#name};       \
        regions.add(reinterpret_cast<const void*>(body));              \
        return next.get() arguments;                                   \
    }
#define COUNTED_LOOP(name)                                                                                          \
    COUNTED(void, GOMP_parallel_loop_##name,                                                                        \
            (Body body, void* data, unsigned threads, long start, long end, long step, long chunk, unsigned flags), \
            (body, data, threads, start, end, step, chunk, flags))
#define COUNTED_LOOP_START(name)                                                                    \
    COUNTED(void, GOMP_parallel_loop_##name##_start,                                                \
            (Body body, void* data, unsigned threads, long start, long end, long step, long chunk), \
            (body, data, threads, start, end, step, chunk))
#define COUNTED_LOOP_RUNTIME(name)                                                                      \
    COUNTED(void, GOMP_parallel_loop_##name,                                                            \
            (Body body, void* data, unsigned threads, long start, long end, long step, unsigned flags), \
            (body, data, threads, start, end, step, flags))

COUNTED(void, GOMP_parallel_start, (Body body, void* data, unsigned threads), (body, data, threads))
COUNTED(void, GOMP_parallel, (Body body, void* data, unsigned threads, unsigned flags), (body, data, threads, flags))
COUNTED(unsigned, GOMP_parallel_reductions, (Body body, void* data, unsigned threads, unsigned flags),
        (body, data, threads, flags))
COUNTED(void, GOMP_parallel_sections_start, (Body body, void* data, unsigned threads, unsigned count),
        (body, data, threads, count))
COUNTED(void, GOMP_parallel_sections, (Body body, void* data, unsigned threads, unsigned count, unsigned flags),
        (body, data, threads, count, flags))
COUNTED(void, GOMP_parallel_loop_runtime_start,
        (Body body, void* data, unsigned threads, long start, long end, long step),
        (body, data, threads, start, end, step))
COUNTED_LOOP_START(static)
COUNTED_LOOP_START(dynamic)
COUNTED_LOOP_START(guided)
COUNTED_LOOP(static)
COUNTED_LOOP(dynamic)
COUNTED_LOOP(guided)
COUNTED_LOOP(nonmonotonic_dynamic)
COUNTED_LOOP(nonmonotonic_guided)
COUNTED_LOOP_RUNTIME(runtime)
COUNTED_LOOP_RUNTIME(nonmonotonic_runtime)
COUNTED_LOOP_RUNTIME(maybe_nonmonotonic_runtime)

extern "C" [[gnu::visibility("default")]] void weft_report_regions(weft_report::VisitRegions visit, void* argument) {
    regions.each([=](const weft_report::Origin& origin, std::uint64_t count) {
        visit(origin.path, origin.base, count, argument);
    });
}
