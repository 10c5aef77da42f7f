// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The environment variables of Argobots, read at each ABT_init. ABT_NAME overrides ABT_ENV_NAME. As
// in Argobots, a number out of range is replaced by the nearest one in range, and an invalid value
// is ignored.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common.hpp"

namespace weft::argobots {

enum class OverflowCheck : unsigned char { none, mprotect, mprotect_strict };
enum class LargePages : unsigned char { malloc, mmap_rp, mmap_hp_rp, mmap_hp_thp, thp };

struct Environment {
    unsigned max_num_xstreams_asked = 0;   // a hint; 0: none
    std::size_t thread_stack_bytes = 16384;
    std::size_t sched_stack_bytes = std::size_t{4} << 20;
    unsigned sched_event_freq = 50;       // reported, without effect: streams check when asked to
    std::uint64_t sched_sleep_ns = 100;   // reported, without effect: idle streams sleep
    std::size_t key_table_size = 4;
    bool overflow_check_set = false;
    OverflowCheck overflow_check = OverflowCheck::none;
    bool print_config = false;
    bool print_raw_stack = true;
    std::size_t sys_page_bytes = 4096;
    std::size_t huge_page_bytes = std::size_t{2} << 20;
    std::size_t mem_page_bytes = std::size_t{2} << 20;
    std::size_t mem_stack_page_bytes = std::size_t{8} << 20;
    bool mem_max_num_stacks_set = false;
    std::size_t mem_max_num_stacks = 1024;   // kept by each stream
    std::size_t mem_max_num_descs = 4096;
    LargePages lp_alloc = LargePages::mmap_rp;
    unsigned mutex_max_handovers = 64;
    unsigned mutex_max_wakeups = 1;
    const char* affinity = nullptr;   // a list of places; null: streams are not bound
    // Weft's own: ABT_THREAD_KIND, for ULTs whose attributes set no kind
    weft_kind kind = WEFT_KIND_AUTO;
    bool preserve_fpu = false;   // Weft's own: ABT_PRESERVE_FPU

    // The requested number, or the number of online CPUs. That number is read from a file, and only
    // when it is needed.
    unsigned max_num_xstreams() const;
    bool guards_asked() const { return overflow_check != OverflowCheck::none; }

    static Environment read();
};

// The environment as the latest ABT_init has read it; before that, the defaults.
const Environment& environment();

}   // namespace weft::argobots
