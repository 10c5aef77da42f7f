// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "environment.hpp"

#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace weft::argobots {
namespace {

// Most programs are started without any of these variables; then none is looked up by name.
bool any_variable() {
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
        if (std::strncmp(*variable, "ABT_", 4) == 0) return true;
    }
    return false;
}

bool some;   // the result of any_variable()

const char* text_of(const char* name) {
    if (!some) return nullptr;
    char full[64];
    for (const char* prefix : {"ABT_", "ABT_ENV_"}) {
        std::snprintf(full, sizeof full, "%s%s", prefix, name);
        if (const char* text = std::getenv(full)) return text;
    }
    return nullptr;
}

// False: the variable is not set, or is not a number.
bool read_number(const char* name, std::uint64_t least, std::uint64_t most, std::uint64_t& value) {
    const char* text = text_of(name);
    if (text == nullptr) return false;
    char* end = nullptr;
    errno = 0;
    const long long number = std::strtoll(text, &end, 10);
    if (end == text || *end != '\0') return false;
    const std::uint64_t positive = number < 0 ? 0 : static_cast<std::uint64_t>(number);
    value = std::clamp(positive, least, most);
    return true;
}

template <class Number>
bool read_into(const char* name, std::uint64_t least, std::uint64_t most, Number& value) {
    std::uint64_t number = 0;
    if (!read_number(name, least, most, number)) return false;
    value = static_cast<Number>(number);
    return true;
}

bool is_one_of(const char* text, std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(), [text](const char* word) { return strcasecmp(text, word) == 0; });
}

bool means_no(const char* text) { return is_one_of(text, {"no", "n", "off", "false"}); }

void read_switch(const char* name, bool& value) {
    const char* text = text_of(name);
    if (text == nullptr) return;
    if (is_one_of(text, {"1", "yes", "y", "on", "true"})) value = true;
    if (means_no(text) || std::strcmp(text, "0") == 0) value = false;
}

struct Word {
    const char* name;
    int value;
};

template <class Value, std::size_t n>
bool read_word(const char* name, const Word (&words)[n], Value& value) {
    const char* text = text_of(name);
    if (text == nullptr) return false;
    for (const Word& word : words) {
        if (strcasecmp(text, word.name) != 0) continue;
        value = static_cast<Value>(word.value);
        return true;
    }
    return false;
}

constexpr Word overflow_words[] = {{"none", 0}, {"mprotect", 1}, {"mprotect_strict", 2}};
constexpr Word page_words[] = {{"malloc", 0}, {"mmap_rp", 1}, {"mmap_hp_rp", 2}, {"mmap_hp_thp", 3}, {"thp", 4}};
constexpr Word kind_words[] = {{"full", WEFT_KIND_FULL}, {"lsa", WEFT_KIND_LSA}, {"roc", WEFT_KIND_ROC},
                               {"ss", WEFT_KIND_SS},     {"sc", WEFT_KIND_SC},   {"auto", WEFT_KIND_AUTO}};

std::size_t rounded_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

Environment latest;

}   // namespace

Environment Environment::read() {
    constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40, line = 64, most_int = 0x7fffffff;
    some = any_variable();
    Environment now;
    read_into("MAX_NUM_XSTREAMS", 1, most_int, now.max_num_xstreams_asked);
    read_into("THREAD_STACKSIZE", 512, most_bytes, now.thread_stack_bytes);
    now.thread_stack_bytes = rounded_up(now.thread_stack_bytes, line);
    read_into("SCHED_STACKSIZE", 512, std::uint64_t{1} << 30, now.sched_stack_bytes);
    now.sched_stack_bytes = rounded_up(now.sched_stack_bytes, line);
    read_into("SCHED_EVENT_FREQ", 1, most_int, now.sched_event_freq);
    read_into("SCHED_SLEEP_NSEC", 0, UINT64_MAX, now.sched_sleep_ns);
    if (read_into("KEY_TABLE_SIZE", 1, most_int, now.key_table_size))
        now.key_table_size = std::bit_ceil(now.key_table_size);
    now.overflow_check_set = read_word("STACK_OVERFLOW_CHECK", overflow_words, now.overflow_check);
    read_switch("PRINT_CONFIG", now.print_config);
    read_switch("PRINT_RAW_STACK", now.print_raw_stack);
    now.sys_page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    read_into("SYS_PAGE_SIZE", 64, most_bytes, now.sys_page_bytes);
    const bool huge = read_into("HUGE_PAGE_SIZE", 4096, most_bytes, now.huge_page_bytes);
    if (read_into("MEM_PAGE_SIZE", 4096, most_bytes, now.mem_page_bytes))
        now.mem_page_bytes = std::bit_ceil(now.mem_page_bytes);
    read_into("MEM_STACK_PAGE_SIZE", 4096, most_bytes, now.mem_stack_page_bytes);
    now.mem_max_num_stacks = std::min<std::size_t>((std::size_t{64} << 20) / now.thread_stack_bytes, 1024);
    now.mem_max_num_stacks_set = read_into("MEM_MAX_NUM_STACKS", 1, most_int, now.mem_max_num_stacks);
    read_into("MEM_MAX_NUM_DESCS", 1, most_int, now.mem_max_num_descs);
    if (huge) now.lp_alloc = LargePages::mmap_hp_rp;
    read_word("MEM_LP_ALLOC", page_words, now.lp_alloc);
    read_into("MUTEX_MAX_HANDOVERS", 1, most_int, now.mutex_max_handovers);
    read_into("MUTEX_MAX_WAKEUPS", 1, most_int, now.mutex_max_wakeups);
    const char* affinity = text_of("SET_AFFINITY");
    if (affinity != nullptr && !means_no(affinity)) now.affinity = affinity;
    read_word("THREAD_KIND", kind_words, now.kind);
    read_switch("PRESERVE_FPU", now.preserve_fpu);
    latest = now;
    return now;
}

unsigned Environment::max_num_xstreams() const {
    return max_num_xstreams_asked != 0 ? max_num_xstreams_asked
                                       : static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

const Environment& environment() { return latest; }

}   // namespace weft::argobots
