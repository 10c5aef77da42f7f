// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions of tasks. The compiler describes them in words:
//
//   [0] the number of variables   [1] bytes for each thread   [2] their alignment
//   [3] ~0, or an allocator   [4] the next description, or null
//   [2] afterwards: where the memory begins   [6] where it ends
//   [7] and on: for each variable the original's address, its offset, and a word of ours
//
// Each thread has a copy of every variable, side by side, in zeroed memory. A task finds its
// thread's copy by the original's address, or by the address of another thread's copy.
//
// Threads that share a construct share its memory, but each one describes it in words of its own.
// The words lie on the stack of the thread that has begun the group. They stay there until the
// group's tasks have ended, whichever threads run those. A search goes from group to group
// outwards, so after a construct's copies it finds those of the task's own taskgroups.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "export.hpp"
#include "fatal.hpp"
#include "loop.hpp"
#include "tasking.hpp"
#include "team.hpp"

namespace weft_openmp {

namespace {

enum : std::size_t {
    variables = 0,
    bytes_each = 1,
    alignment = 2,
    base = 2,
    next = 4,
    end = 6,
    first_variable = 7,
    words_each = 3
};

std::uintptr_t* next_of(const std::uintptr_t* words) { return reinterpret_cast<std::uintptr_t*>(words[next]); }

// A mark in `next` of a group that has ended, in which no thread searches any more: the team frees
// the memory.
constexpr std::uintptr_t left_to_team = 1;

std::size_t alignment_of(const std::uintptr_t* words) { return std::max<std::size_t>(words[alignment], 64); }

std::uintptr_t rounded_up(std::uintptr_t number, std::size_t to) { return (number + to - 1) / to * to; }

// Zeroed memory for the copies of a description and of those that follow it, in one piece.
void* make_copies(const std::uintptr_t* words, unsigned threads) {
    std::size_t bytes = 0, align = 0;
    for (const std::uintptr_t* at = words; at != nullptr; at = next_of(at)) {
        align = std::max(align, alignment_of(at));
        bytes = rounded_up(bytes, alignment_of(at)) + at[bytes_each] * threads;
    }
    bytes = rounded_up(std::max<std::size_t>(bytes, 1), align);
    void* const memory = std::aligned_alloc(align, bytes);
    if (memory == nullptr) fatal_error("Out of memory allocating %zu bytes", bytes);
    std::memset(memory, 0, bytes);
    return memory;
}

// Writes into the words where their copies lie in that memory.
void place_copies(std::uintptr_t* words, unsigned threads, void* memory) {
    auto at = reinterpret_cast<std::uintptr_t>(memory);
    for (; words != nullptr; words = next_of(words)) {
        at = rounded_up(at, alignment_of(words));
        words[base] = at;
        words[end] = at += words[bytes_each] * threads;
    }
}

// The memory that make_copies has made for the words begins where their first copy lies.
void* memory_of(const std::uintptr_t* words) { return reinterpret_cast<void*>(words[base]); }

// Memory to be freed at the region's end.
void leave_to_team(Team& team, void* memory) {
    team.free_lock.lock();
    team.free_at_end.push_back(memory);
    team.free_lock.unlock();
}

void reduce(Group& group, std::uintptr_t* words) {
    group.reductions = words;
    group.reduces = true;
}

// The original of the variable whose copies lie at that offset.
void* original_at(const std::uintptr_t* words, std::uintptr_t offset) {
    const std::uintptr_t* const list = words + first_variable;
    for (std::size_t i = 0; i < words[variables]; ++i) {
        if (list[i * words_each + 1] == offset) return reinterpret_cast<void*>(list[i * words_each]);
    }
    return nullptr;
}

struct Copy {
    void* mine = nullptr;
    void* original = nullptr;
};

// The copy that thread `number` has of the variable at `address`, which may be another thread's
// copy.
Copy find_copy(const std::uintptr_t* words, unsigned number, void* address) {
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    const std::uintptr_t mine = words[base] + number * words[bytes_each];
    if (wanted >= words[base] && wanted < words[end]) {
        const std::uintptr_t offset = (wanted - words[base]) % words[bytes_each];
        return {reinterpret_cast<void*>(mine + offset), original_at(words, offset)};
    }
    const std::uintptr_t* const list = words + first_variable;
    for (std::size_t i = 0; i < words[variables]; ++i) {
        if (list[i * words_each] == wanted) return {reinterpret_cast<void*>(mine + list[i * words_each + 1]), address};
    }
    return {};
}

// The thread's copy in the innermost reduction that has the variable; null if none has it.
Copy own_copy(const Thread& me, void* address) {
    for (const Group* group = me.task->group; group != nullptr && group->reduces; group = group->outer) {
        for (const std::uintptr_t* words = group->reductions; words != nullptr; words = next_of(words)) {
            if (const Copy found = find_copy(words, me.slot->number, address); found.mine != nullptr) return found;
        }
    }
    return {};
}

}   // namespace

void* make_reductions(std::uintptr_t* words, unsigned threads) {
    void* const memory = make_copies(words, threads);
    place_copies(words, threads, memory);
    return memory;
}

void enter_reductions(Task& task, std::uintptr_t* words) {
    Group& group = begin_group(task);
    group.region = false;
    reduce(group, words);
}

void enter_made_reductions(Thread& me, std::uintptr_t* words) {
    Share& share = *me.slot->share;
    share.reductions = make_reductions(words, me.team->size);
    enter_reductions(*me.task, words);
    me.task->group->made_memory = true;
}

void enter_shared_reductions(Thread& me, std::uintptr_t* words) {
    place_copies(words, me.team->size, me.slot->share->reductions);
    enter_reductions(*me.task, words);
}

void start_group_reductions(Thread& me, std::uintptr_t* words) {
    make_reductions(words, me.team->size);
    reduce(*me.task->group, words);
}

void leave_reductions_to_team(Team& team, std::uintptr_t* words) {
    leave_to_team(team, memory_of(words));
    words[next] |= left_to_team;
}

}   // namespace weft_openmp

using namespace weft_openmp;   // NOLINT: entry points

OPENMP_API void GOMP_taskgroup_reduction_register(std::uintptr_t* words) {
    start_group_reductions(this_thread(), words);
}
OPENMP_API void GOMP_taskgroup_reduction_unregister(std::uintptr_t* words) {
    if ((words[next] & left_to_team) == 0) std::free(memory_of(words));
}

OPENMP_API void GOMP_workshare_task_reduction_unregister(bool cancelled) {
    Thread& me = this_thread();
    const Group& group = *me.task->group;
    void* const memory = group.made_memory ? memory_of(group.reductions) : nullptr;
    end_group(me);
    if (cancelled) {
        // Other threads have not left the construct, and this thread does not wait for them.
        if (memory != nullptr) leave_to_team(*me.team, memory);
        return;
    }
    meet(me);
    std::free(memory);
}

OPENMP_API void GOMP_task_reduction_remap(std::size_t count, std::size_t originals, void** addresses) {
    const Thread& me = this_thread();
    for (std::size_t i = 0; i < count; ++i) {
        const Copy copy = own_copy(me, addresses[i]);
        if (copy.mine == nullptr)
            fatal_error("couldn't find matching task_reduction or reduction with task modifier for %p", addresses[i]);
        addresses[i] = copy.mine;
        if (i < originals) addresses[count + i] = copy.original;
    }
}
