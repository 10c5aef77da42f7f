// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <string>

#include "os/sim/machine.hpp"

namespace weft::sim {
namespace {

constexpr unsigned char fallow = 0xe7;
constexpr std::size_t most_fallow = std::size_t{4} << 20;   // bytes

struct Block {
    unsigned char* begin;
    std::size_t bytes;
};

// Never destroyed: objects that end with the process may still release memory.
struct Account {
    std::map<void*, std::size_t> blocks;
    std::map<char*, std::size_t> pages;
    std::deque<Block> fallow_blocks;
    std::size_t fallow_bytes = 0;
};
Account& account() {
    static Account* const of = new Account;
    return *of;
}

std::string text_of(const void* address) {
    char text[32];
    std::snprintf(text, sizeof text, "%p", address);
    return text;
}

void check_fallow(const Block& block) {
    for (std::size_t i = 0; i < block.bytes; ++i) {
        if (block.begin[i] == fallow) continue;
        machine_fail(End::memory, "memory: byte " + std::to_string(i) + " of the block of " +
                                      std::to_string(block.bytes) + " bytes at " + text_of(block.begin) +
                                      " was written to after it had been given back\n");
    }
}

void check_pending(const void* begin, std::size_t bytes) {
    std::uint32_t who = 0;
    if (!machine_runs() || !store_pending(begin, bytes, who)) return;
    machine_fail(End::memory, "memory: hart " + std::to_string(hart_number()) + " gives back " + std::to_string(bytes) +
                                  " bytes at " + text_of(begin) + " to which a store of hart " + std::to_string(who) +
                                  " is still on its way\n");
}

}   // namespace

void block_taken(void* block, std::size_t bytes) { account().blocks[block] = bytes; }

void block_given_back(void* block) {
    Account& of = account();
    const auto at = of.blocks.find(block);
    if (at == of.blocks.end()) {
        if (machine_runs())
            machine_fail(End::memory, "memory: " + text_of(block) + " is given back twice, or was never had\n");
        std::abort();
    }
    const Block given{static_cast<unsigned char*>(block), at->second};
    of.blocks.erase(at);
    check_pending(given.begin, given.bytes);
    std::memset(given.begin, fallow, given.bytes);
    of.fallow_blocks.push_back(given);
    of.fallow_bytes += given.bytes;
    while (of.fallow_bytes > most_fallow) {
        const Block oldest = of.fallow_blocks.front();
        of.fallow_blocks.pop_front();
        of.fallow_bytes -= oldest.bytes;
        check_fallow(oldest);
        std::free(oldest.begin);
    }
}

void block_kept(void* block) { account().blocks.erase(block); }

void pages_taken(void* begin, std::size_t bytes) { account().pages[static_cast<char*>(begin)] = bytes; }

void pages_given_back(void* begin, std::size_t bytes) {
    auto* const first = static_cast<char*>(begin);
    auto& pages = account().pages;
    auto at = pages.upper_bound(first);
    const bool found = at != pages.begin() && (--at, first + bytes <= at->first + at->second);
    if (!found)
        machine_fail(End::memory, "memory: pages at " + text_of(begin) + " are given back twice, or were never had\n");
    check_pending(begin, bytes);
    const auto [whole, whole_bytes] = *at;
    pages.erase(at);
    if (first > whole) pages[whole] = static_cast<std::size_t>(first - whole);
    if (first + bytes < whole + whole_bytes)
        pages[first + bytes] = static_cast<std::size_t>(whole + whole_bytes - (first + bytes));
}

std::string memory_left() {
    Account& of = account();
    for (const Block& block : of.fallow_blocks) check_fallow(block);
    std::string text;
    for (const auto& [block, bytes] : of.blocks)
        text += "  a block of " + std::to_string(bytes) + " bytes at " + text_of(block) + "\n";
    for (const auto& [begin, bytes] : of.pages)
        text += "  " + std::to_string(bytes) + " bytes of pages at " + text_of(begin) + "\n";
    return text.empty() ? text : "memory: this was not given back\n" + text;
}

}   // namespace weft::sim
