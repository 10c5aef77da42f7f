// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The processor's counters during a benchmark: cycles, and loads that missed the first-level cache.
// Most virtual machines provide neither: then there are no counts, and nothing is printed.
#pragma once

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace bench {

class ProcessorCounters {
public:
    ProcessorCounters() {
        open("cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
        open("l1_misses", PERF_TYPE_HW_CACHE,
             PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16);
    }
    ProcessorCounters(const ProcessorCounters&) = delete;
    ProcessorCounters& operator=(const ProcessorCounters&) = delete;
    ~ProcessorCounters() {
        for (const Counter& counter : counters_) close(counter.descriptor);
    }

    void start() {
        for (const Counter& counter : counters_) {
            ioctl(counter.descriptor, PERF_EVENT_IOC_RESET, 0);
            ioctl(counter.descriptor, PERF_EVENT_IOC_ENABLE, 0);
        }
    }

    std::vector<std::pair<const char*, std::uint64_t>> stop() {
        for (const Counter& counter : counters_) ioctl(counter.descriptor, PERF_EVENT_IOC_DISABLE, 0);
        std::vector<std::pair<const char*, std::uint64_t>> counts;
        for (const Counter& counter : counters_) {
            std::uint64_t count = 0;
            if (read(counter.descriptor, &count, sizeof count) == sizeof count)
                counts.emplace_back(counter.name, count);
        }
        return counts;
    }

private:
    struct Counter {
        const char* name;
        int descriptor;
    };

    void open(const char* name, std::uint32_t type, std::uint64_t config) {
        perf_event_attr attributes{};
        attributes.size = sizeof attributes;
        attributes.type = type;
        attributes.config = config;
        attributes.disabled = 1;
        attributes.exclude_kernel = 1;
        attributes.exclude_hv = 1;
        // For the calling OS thread, on any CPU.
        const long descriptor = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0UL);
        if (descriptor >= 0) counters_.push_back({name, static_cast<int>(descriptor)});
    }

    std::vector<Counter> counters_;
};

}   // namespace bench
