// The environment variables of Argobots, read at each ABT_init. ABT_NAME wins over ABT_ENV_NAME; a
// number that is out of range is taken for the nearest that is not, and what is no value at all is
// passed over, as Argobots does it.
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
    unsigned sched_event_freq = 50;       // told, and of no effect: streams look when they are wanted
    std::uint64_t sched_sleep_ns = 100;   // told, and of no effect: streams that have nothing to do sleep
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
    // Weft's own: ABT_THREAD_KIND, of ULTs whose attributes do not say
    weft_kind kind = WEFT_KIND_AUTO;
    bool preserve_fpu = false;   // Weft's own: ABT_PRESERVE_FPU

    // What was asked for, or as many as CPUs are online: that is asked of a file, and only when
    // somebody wants to know.
    unsigned max_num_xstreams() const;
    bool guards_asked() const { return overflow_check != OverflowCheck::none; }

    static Environment read();
};

// As the latest ABT_init has read it; the defaults before.
const Environment& environment();

}   // namespace weft::argobots
