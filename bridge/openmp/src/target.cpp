// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Target regions and the directives of their data: the host is the only device, and they work on
// its memory.
#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "depend.hpp"
#include "devices.hpp"
#include "export.hpp"
#include "fatal.hpp"
#include "tasking.hpp"
#include "team.hpp"

using namespace weft_openmp;   // NOLINT: entry points

namespace {

constexpr unsigned nowait = 1;   // in the directives' flags

// The compiler passes a target region's num_teams and thread_limit clauses in words, up to a null
// one. The second byte says which clause it is. The bits above hold its value, or the next word
// does where the value does not fit or is not known.
unsigned thread_limit_in(void** words) {
    constexpr std::uintptr_t value_follows = 1U << 7, what = 0xff00, thread_limit = 2U << 8;
    constexpr unsigned value_from = 16;
    unsigned limit = 0;
    for (; words != nullptr && *words != nullptr; ++words) {
        const auto word = reinterpret_cast<std::uintptr_t>(*words);
        auto value = static_cast<std::intptr_t>(word) >> value_from;
        if ((word & value_follows) != 0) value = reinterpret_cast<std::intptr_t>(*++words);
        if ((word & what) == thread_limit) limit = value < 0 || value > INT_MAX ? 0 : static_cast<unsigned>(value);
    }
    return limit;
}

std::size_t up(std::size_t bytes, std::size_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

// The region begins with what the environment has set, whatever the program has set since (OpenMP
// 5.0, 2.5.4.1: with the values of the device that runs it).
void run_on_host(void (*body)(void*), void** addresses, unsigned thread_limit) {
    const Apart apart(limited(environment().initial, thread_limit));
    body(addresses);
}

// A target construct as a thread meets it: the region gets an address for each of its variables.
struct Encounter {
    void (*body)(void*);
    std::size_t count;
    void** addresses;
    const std::size_t* sizes;
    const unsigned short* kinds;
    unsigned thread_limit;

    // How the compiler marks a firstprivate variable whose value does not fit into a pointer's
    // bits: in the low byte of its kind. The next byte has the logarithm of its alignment.
    static constexpr unsigned kind_bits = 0xff, firstprivate = 12;

    // Absent arguments of Fortran have no address, and their size is not set.
    bool copies(std::size_t i) const { return (kinds[i] & kind_bits) == firstprivate && addresses[i] != nullptr; }
    std::size_t alignment(std::size_t i) const { return std::size_t{1} << (kinds[i] >> 8); }
};

// What a region owns, in one block: its addresses lie behind this struct, and the copies behind
// those.
struct alignas(void*) Region {
    void (*body)(void*);
    unsigned thread_limit;

    void** addresses() { return reinterpret_cast<void**>(this + 1); }
    void run() { run_on_host(body, addresses(), thread_limit); }
};

struct Layout {
    std::size_t bytes, alignment = alignof(Region);
    bool any = false;   // copies

    explicit Layout(const Encounter& met) : bytes(sizeof(Region) + met.count * sizeof(void*)) {
        for (std::size_t i = 0; i < met.count; ++i) {
            if (!met.copies(i)) continue;
            any = true;
            alignment = std::max(alignment, met.alignment(i));
            bytes = up(bytes, met.alignment(i)) + met.sizes[i];
        }
    }
};

// Fills in memory of that layout.
void make_region(void* memory, void* encounter) {
    const Encounter& met = *static_cast<const Encounter*>(encounter);
    auto* const region = static_cast<Region*>(memory);
    region->body = met.body;
    region->thread_limit = met.thread_limit;
    std::size_t at = sizeof(Region) + met.count * sizeof(void*);
    for (std::size_t i = 0; i < met.count; ++i) {
        region->addresses()[i] = met.addresses[i];
        if (!met.copies(i)) continue;
        at = up(at, met.alignment(i));
        region->addresses()[i] = std::memcpy(static_cast<char*>(memory) + at, met.addresses[i], met.sizes[i]);
        at += met.sizes[i];
    }
}

// The encountering task waits for the region, which is a task that is not deferred. The copies have
// the values of the encounter, whatever happens before the region may begin.
void run_included(Encounter& met, void** dependences) {
    const Layout layout(met);
    if (!layout.any) {
        if (dependences != nullptr) wait_for_depended(this_thread(), dependences);
        return run_on_host(met.body, met.addresses, met.thread_limit);
    }
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    const std::unique_ptr<void, Free> memory(std::aligned_alloc(layout.alignment, up(layout.bytes, layout.alignment)));
    if (memory == nullptr) fatal_error("Out of memory allocating %zu bytes", layout.bytes);
    make_region(memory.get(), &met);
    if (dependences != nullptr) wait_for_depended(this_thread(), dependences);
    static_cast<Region*>(memory.get())->run();
}

// A directive that has nothing to do on the host, but comes after what it depends on, and before
// what depends on it.
void keep_order(unsigned flags, void** dependences) {
    if (dependences == nullptr) return;
    if ((flags & nowait) == 0) return wait_for_depended(this_thread(), dependences);
    make_task([](void*) {}, nullptr, nullptr, 0, 1, dependences);
}

}   // namespace

OPENMP_API void GOMP_target(int device, void (*body)(void*), const void*, std::size_t, void** addresses, std::size_t*,
                            unsigned char*) {
    demand_device_of_directive(device);
    run_on_host(body, addresses, 0);
}
OPENMP_API void GOMP_target_ext(int device, void (*body)(void*), std::size_t count, void** addresses,
                                std::size_t* sizes, unsigned short* kinds, unsigned flags, void** dependences,
                                void** clauses) {
    demand_device_of_directive(device);
    Encounter met{body, count, addresses, sizes, kinds, thread_limit_in(clauses)};
    if ((flags & nowait) == 0 || this_thread().task->final()) return run_included(met, dependences);
    const Layout layout(met);
    make_task([](void* region) { static_cast<Region*>(region)->run(); }, &met, make_region,
              static_cast<long>(layout.bytes), static_cast<long>(layout.alignment), dependences);
}
// The data is in the host's memory already.
OPENMP_API void GOMP_target_data(int device, const void*, std::size_t, void**, std::size_t*, unsigned char*) {
    demand_device_of_directive(device);
}
OPENMP_API void GOMP_target_data_ext(int device, std::size_t, void**, std::size_t*, unsigned short*) {
    demand_device_of_directive(device);
}
OPENMP_API void GOMP_target_end_data() {}
OPENMP_API void GOMP_target_update(int device, const void*, std::size_t, void**, std::size_t*, unsigned char*) {
    demand_device_of_directive(device);
}
OPENMP_API void GOMP_target_update_ext(int device, std::size_t, void**, std::size_t*, unsigned short*, unsigned flags,
                                       void** dependences) {
    demand_device_of_directive(device);
    keep_order(flags, dependences);
}
OPENMP_API void GOMP_target_enter_exit_data(int device, std::size_t, void**, std::size_t*, unsigned short*,
                                            unsigned flags, void** dependences) {
    demand_device_of_directive(device);
    keep_order(flags, dependences);
}
// Programs bring code for devices; nothing here can run it.
OPENMP_API void GOMP_offload_register(const void*, int, const void*) {}
OPENMP_API void GOMP_offload_unregister(const void*, int, const void*) {}
OPENMP_API void GOMP_offload_register_ver(unsigned, const void*, int, const void*) {}
OPENMP_API void GOMP_offload_unregister_ver(unsigned, const void*, int, const void*) {}
