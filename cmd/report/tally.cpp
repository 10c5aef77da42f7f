// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tally.hpp"

#include <link.h>
#include <pthread.h>
#include <cstdlib>
#include <cstring>

namespace weft_report {

constinit Shared shared{nullptr, nullptr};

namespace {

constexpr Origin nowhere{nullptr, 0, nullptr};
Origin* known = nullptr;
pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER;

constexpr char retired_code = 0;
constexpr const void* retired = &retired_code;   // stands for code that has been unloaded

struct Search {
    std::uintptr_t code;
    const Origin* found;
};

const Origin* add_origin(const char* path, std::uintptr_t base) {
    for (const Origin* one = known; one != nullptr; one = one->next) {
        if (one->base == base && std::strcmp(one->path, path) == 0) return one;
    }
    auto* const made = static_cast<Origin*>(std::malloc(sizeof(Origin)));
    char* const copy = strdup(path);   // the loader frees its own string with the object
    if (made == nullptr || copy == nullptr) return &nowhere;
    *made = {copy, base, known};
    return known = made;
}

int look_into(dl_phdr_info* info, std::size_t, void* raw) {
    auto& search = *static_cast<Search*>(raw);
    for (const ElfW(Phdr)* part = info->dlpi_phdr; part != info->dlpi_phdr + info->dlpi_phnum; ++part) {
        if (part->p_type != PT_LOAD || search.code - (info->dlpi_addr + part->p_vaddr) >= part->p_memsz) continue;
        search.found = add_origin(info->dlpi_name, info->dlpi_addr);
        return 1;
    }
    return 0;
}

}   // namespace

const Origin* origin_of(const void* code) noexcept {
    Search search{reinterpret_cast<std::uintptr_t>(code), &nowhere};
    pthread_mutex_lock(&finding);
    dl_iterate_phdr(look_into, &search);
    pthread_mutex_unlock(&finding);
    return search.found;
}

// Whether an entry counts this code, in the library that is loaded there now.
bool Tally::is_of(Entry& entry, const void* code) noexcept {
    const void* there = entry.code.load(std::memory_order_relaxed);   // relaxed, and below: only the value matters
    if (there == nullptr && entry.code.compare_exchange_strong(there, code, std::memory_order_relaxed)) there = code;
    if (there != code) return false;
    // relaxed: a program that unloads a library and loads another waits for the library's users
    const unsigned now = shared.unloads == nullptr ? 1 : shared.unloads->load(std::memory_order_relaxed) + 1;
    if (entry.checked.load(std::memory_order_acquire) == now) return true;   // acquire: pairs with the release below
    const Origin *const is = origin_of(code), *was = nullptr;
    // acq_rel: publishes the origin's contents, or acquires those that another thread has published
    if (!entry.origin.compare_exchange_strong(was, is, std::memory_order_acq_rel) && was != is) {
        entry.code.compare_exchange_strong(there, retired, std::memory_order_relaxed);
        return false;
    }
    entry.checked.store(now, std::memory_order_release);   // release: pairs with the acquire above
    return true;
}

void Tally::add(const void* code) noexcept {
    const auto hash = static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(code) * 0x9E3779B97F4A7C15U) >> 40);
    for (std::size_t i = 0; i < tries; ++i) {
        Entry& entry = entries_[(hash + i) % size];
        if (!is_of(entry, code)) continue;
        // relaxed: a statistic
        if (entry.count.fetch_add(1, std::memory_order_relaxed) == 0 && shared.begun != nullptr) shared.begun();
        return;
    }
}

void Tally::clear() noexcept {
    finding = PTHREAD_MUTEX_INITIALIZER;
    // relaxed: the child of a fork has one thread
    for (Entry& entry : entries_) entry.count.store(0, std::memory_order_relaxed);
}

}   // namespace weft_report
