// Reductions of tasks. The compiler describes them in words:
//
//   [0] how many variables   [1] bytes for each thread   [2] their alignment   [3] ~0, or an allocator   [4] the next description, or null
//   [2] afterwards: where the memory begins   [6] where it ends   [7] and on: for each variable the original's address, its offset, and a word of ours
//
// Each thread has a copy of every variable, side by side, in zeroed memory; a task finds its thread's by the original's address, or by another thread's copy of it.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "export.hpp"
#include "fatal.hpp"
#include "loop.hpp"
#include "tasking.hpp"
#include "team.hpp"

namespace weft_openmp {

namespace {

enum : std::size_t { variables = 0, bytes_each = 1, alignment = 2, base = 2, next = 4, end = 6, first_variable = 7, words_each = 3 };

// Memory for all descriptions of the chain that begins here.
void make_chain(std::uintptr_t* reductions, unsigned threads, std::uintptr_t* last_next) {
    for (;;) {
        const std::size_t align = std::max<std::size_t>(reductions[alignment], 64);
        const std::size_t bytes = (reductions[bytes_each] * threads + align - 1) / align * align;
        void* const memory = std::aligned_alloc(align, std::max(bytes, align));
        if (memory == nullptr) fatal_error("Out of memory allocating %zu bytes", bytes);
        std::memset(memory, 0, bytes);
        reductions[base] = reinterpret_cast<std::uintptr_t>(memory);
        reductions[end] = reductions[base] + reductions[bytes_each] * threads;
        if (reductions[next] == 0) break;
        reductions = reinterpret_cast<std::uintptr_t*>(reductions[next]);
    }
    reductions[next] = reinterpret_cast<std::uintptr_t>(last_next);
}

void free_chain(std::uintptr_t* reductions, const std::uintptr_t* until) {
    for (; reductions != until; reductions = reinterpret_cast<std::uintptr_t*>(reductions[next])) std::free(reinterpret_cast<void*>(reductions[base]));
}

// The thread's copy of the variable at `address`, and the original; null if no reduction in force has it.
void* own_copy(const Thread& me, void* address, void** original) {
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    const std::uintptr_t* from = me.task->group == nullptr ? nullptr : me.task->group->reductions;
    for (; from != nullptr; from = reinterpret_cast<const std::uintptr_t*>(from[next])) {
        const std::uintptr_t mine = from[base] + me.slot->number * from[bytes_each];
        const std::uintptr_t* const list = from + first_variable;
        if (wanted >= from[base] && wanted < from[end]) {
            const std::uintptr_t offset = (wanted - from[base]) % from[bytes_each];
            for (std::size_t i = 0; original != nullptr && i < from[variables]; ++i) {
                if (list[i * words_each + 1] == offset) *original = reinterpret_cast<void*>(list[i * words_each]);
            }
            return reinterpret_cast<void*>(mine + offset);
        }
        for (std::size_t i = 0; i < from[variables]; ++i) {
            if (list[i * words_each] != wanted) continue;
            if (original != nullptr) *original = address;
            return reinterpret_cast<void*>(mine + list[i * words_each + 1]);
        }
    }
    return nullptr;
}

}  // namespace

void make_reductions(Thread& me, std::uintptr_t* reductions, unsigned threads) {
    Group* const group = me.task->group;
    make_chain(reductions, threads, group == nullptr ? nullptr : group->reductions);
}

void share_reductions(std::uintptr_t* mine, const std::uintptr_t* made) {
    // The descriptions of all threads are alike, but for what was added to the first one's.
    while (mine != nullptr && made != nullptr) {
        mine[base] = made[base];
        mine[end] = made[end];
        mine = reinterpret_cast<std::uintptr_t*>(mine[next]);
        made = reinterpret_cast<const std::uintptr_t*>(made[next]);
    }
}

void enter_reductions(Task& task, std::uintptr_t* reductions) {
    auto* const group = new Group;
    group->outer = task.group;
    group->reductions = reductions;
    task.group = group;
}

void start_group_reductions(Thread& me, std::uintptr_t* reductions) {
    Group* const group = me.task->group;
    make_chain(reductions, me.team->size, group->outer == nullptr ? nullptr : group->outer->reductions);
    group->reductions = reductions;
}

}  // namespace weft_openmp

using namespace weft_openmp;   // NOLINT: entry points

OPENMP_API void GOMP_taskgroup_reduction_register(std::uintptr_t* reductions) { start_group_reductions(this_thread(), reductions); }

OPENMP_API void GOMP_taskgroup_reduction_unregister(std::uintptr_t* reductions) {
    // The chain's end is what was in force before, of the group that is around by now.
    const Group* const around = this_thread().task->group;
    free_chain(reductions, around == nullptr ? nullptr : around->reductions);
}

OPENMP_API void GOMP_workshare_task_reduction_unregister(bool cancelled) {
    Thread& me = this_thread();
    const std::uintptr_t* from = me.task->group->reductions;
    end_group(me);
    // The descriptions are the first thread's, on its stack, and are read before it can go on; the memory is used until the last one is here.
    const Group* const around = me.task->group;
    const std::uintptr_t* const until = around == nullptr ? nullptr : around->reductions;
    std::vector<void*> memory;
    if (me.slot->number == 0) {
        for (; from != until; from = reinterpret_cast<const std::uintptr_t*>(from[next])) memory.push_back(reinterpret_cast<void*>(from[base]));
    }
    if (cancelled) {
        me.team->free_at_end.insert(me.team->free_at_end.end(), memory.begin(), memory.end());   // others have not left it, and nobody waits for them
        return;
    }
    meet(me);
    for (void* const one : memory) std::free(one);
}

OPENMP_API void GOMP_task_reduction_remap(std::size_t count, std::size_t originals, void** addresses) {
    const Thread& me = this_thread();
    for (std::size_t i = 0; i < count; ++i) {
        void* original = nullptr;
        void* const mine = own_copy(me, addresses[i], i < originals ? &original : nullptr);
        if (mine == nullptr) fatal_error("couldn't find matching task_reduction or reduction with task modifier for %p", addresses[i]);
        addresses[i] = mine;
        if (i < originals) addresses[count + i] = original;
    }
}
