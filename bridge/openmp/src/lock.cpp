// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lock.hpp"

#include <atomic>

#include "routine.hpp"
#include "team.hpp"
#include "unit_thread.hpp"
#include "wait.hpp"

namespace weft_openmp {

namespace {

// 2 in a word: a waiter may be parked (mutex 2 of Drepper, "Futexes are tricky").
struct alignas(64) Lot {
    Sleepers parked;
};
Lot lots[64];

Lot& lot_of(const Word& word) {
    const auto address = reinterpret_cast<std::uintptr_t>(&word);
    return lots[(address >> 2 ^ address >> 8) % 64];
}

}   // namespace

void lock_contended(Word& word) {
    for (SpinBudget budget; budget.more();) {
        if (word.load(std::memory_order_relaxed) == 0 && try_lock_word(word)) return;   // relaxed: only a hint
    }
    while (word.exchange(2) != 0) lot_of(word).parked.sleep([&word] { return word.load() != 2; }, &word);
}

void wake_after(const Word& word) { lot_of(word).parked.wake_one(&word); }

}   // namespace weft_openmp

using namespace weft_openmp;   // NOLINT: entry points

namespace {

// omp_nest_lock_t: owned by a task since OpenMP 3.0, and by a thread before.
struct NestLock {
    Word word;
    std::int32_t count;
    void* owner;
};
static_assert(sizeof(NestLock) == 16);

struct OldNestLock {
    Word owner;   // 0: none
    std::int32_t count;
};
static_assert(sizeof(OldNestLock) == 8);

// The owner where a native unit calls: outside of regions the unit may leave its record, and its
// implicit task with that, while it has the lock.
[[gnu::noinline]] const void* owner_in_unit(const Thread& me) {
    return me.task == &me.slot->implicit && me.depth == 0 ? static_cast<const void*>(me.unit) : me.task;
}
// Within a region the owner is the task, whichever thread calls.
inline const void* owner_here() {
    if (const Thread* const in_region = thread_in_region) return in_region->task;
    const Thread& me = this_thread();
    return me.native ? owner_in_unit(me) : me.task;
}

// A number for each thread, for locks of OpenMP 2.5, which have no room for more. Threads own these
// locks. A release wakes all waiters, and they try again.
std::uint32_t own_number() {
    static std::atomic<std::uint32_t> last{0};
    Thread& me = this_thread();
    std::uint32_t& number = me.native ? me.unit->old_number : me.old_number;
    if (number == 0) number = ++last;
    return number;
}

}   // namespace

OPENMP_API void omp_init_lock(Word* lock) { lock->store(0); }
OPENMP_API void omp_destroy_lock(Word*) {}
OPENMP_API void omp_set_lock(Word* lock) { lock_word(*lock); }
OPENMP_API void omp_unset_lock(Word* lock) { unlock_word(*lock); }
OPENMP_API int omp_test_lock(Word* lock) { return try_lock_word(*lock) ? 1 : 0; }

OPENMP_API void omp_init_nest_lock(NestLock* lock) {
    lock->word.store(0);
    lock->count = 0;
    lock->owner = nullptr;
}
OPENMP_API void omp_destroy_nest_lock(NestLock*) {}
OPENMP_API void omp_set_nest_lock(NestLock* lock) {
    const void* const self = owner_here();
    if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) != self) {   // relaxed: only this task writes its own name
        lock_word(lock->word);
        __atomic_store_n(&lock->owner, const_cast<void*>(self), __ATOMIC_RELAXED);   // relaxed: its own name
    }
    ++lock->count;
}
OPENMP_API void omp_unset_nest_lock(NestLock* lock) {
    if (--lock->count != 0) return;
    __atomic_store_n(&lock->owner, static_cast<void*>(nullptr), __ATOMIC_RELAXED);   // relaxed: clears its own name
    unlock_word(lock->word);
}
OPENMP_API int omp_test_nest_lock(NestLock* lock) {
    const void* const self = owner_here();
    if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) != self) {   // relaxed: only this task writes its own name
        if (!try_lock_word(lock->word)) return 0;
        __atomic_store_n(&lock->owner, const_cast<void*>(self), __ATOMIC_RELAXED);   // relaxed: its own name
    }
    return ++lock->count;
}

// From Fortran: a variable holds the lock, or for nested locks a pointer to it.
OPENMP_API void omp_init_lock_(Word* lock) { omp_init_lock(lock); }
OPENMP_API void omp_destroy_lock_(Word* lock) { omp_destroy_lock(lock); }
OPENMP_API void omp_set_lock_(Word* lock) { omp_set_lock(lock); }
OPENMP_API void omp_unset_lock_(Word* lock) { omp_unset_lock(lock); }
OPENMP_API int omp_test_lock_(Word* lock) { return omp_test_lock(lock); }
OPENMP_API void omp_init_nest_lock_(NestLock** lock) { omp_init_nest_lock(*lock = new NestLock); }
OPENMP_API void omp_destroy_nest_lock_(NestLock** lock) {
    delete *lock;
    *lock = nullptr;
}
OPENMP_API void omp_set_nest_lock_(NestLock** lock) { omp_set_nest_lock(*lock); }
OPENMP_API void omp_unset_nest_lock_(NestLock** lock) { omp_unset_nest_lock(*lock); }
OPENMP_API int omp_test_nest_lock_(NestLock** lock) { return omp_test_nest_lock(*lock); }

// ---- for references without a version -----------------------------------------------------------

// A compiler other than gcc lays locks out as its own runtime does: a nested lock in 8 bytes, where
// ours takes 16. A caller whose regions belong to that runtime gets that runtime's locks, even
// before the runtime has begun: the first call for a lock begins it.
#define ANY_LOCK(result, name, type, asked)                                                 \
    OPENMP_ANY result any_##name(type* lock) {                                              \
        const OtherRuntime* const other = asked ? other_of_code(OPENMP_CALLER) : nullptr;   \
        return other != nullptr && other->name != nullptr ? other->name(lock) : name(lock); \
    }                                                                                       \
    OPENMP_ANY_NAMED(name)
ANY_LOCK(void, omp_init_lock, Word, true)
ANY_LOCK(void, omp_destroy_lock, Word, others())
ANY_LOCK(void, omp_set_lock, Word, others())
ANY_LOCK(void, omp_unset_lock, Word, others())
ANY_LOCK(int, omp_test_lock, Word, others())
ANY_LOCK(void, omp_init_nest_lock, NestLock, true)
ANY_LOCK(void, omp_destroy_nest_lock, NestLock, others())
ANY_LOCK(void, omp_set_nest_lock, NestLock, others())
ANY_LOCK(void, omp_unset_nest_lock, NestLock, others())
ANY_LOCK(int, omp_test_nest_lock, NestLock, others())

// ---- of OpenMP 2.5, under the version OMP_1.0: plain locks are the same -------------------------

#define OLD(name) __asm__(".symver old_" #name ",omp_" #name "@OMP_1.0")
#define OLD_API extern "C" __attribute__((used, visibility("default")))
OLD_API void old_init_lock(Word* lock) { omp_init_lock(lock); }
OLD_API void old_destroy_lock(Word* lock) { omp_destroy_lock(lock); }
OLD_API void old_set_lock(Word* lock) { omp_set_lock(lock); }
OLD_API void old_unset_lock(Word* lock) { omp_unset_lock(lock); }
OLD_API int old_test_lock(Word* lock) { return omp_test_lock(lock); }
OLD_API void old_init_nest_lock(OldNestLock* lock) {
    lock->owner.store(0);
    lock->count = 0;
}
OLD_API void old_destroy_nest_lock(OldNestLock*) {}
OLD_API int old_test_nest_lock(OldNestLock* lock) {
    const std::uint32_t self = own_number();
    std::uint32_t owner = 0;
    if (lock->owner.load(std::memory_order_relaxed) != self) {   // relaxed: only this thread writes its own number
        // acquire: pairs with the unset
        if (!lock->owner.compare_exchange_strong(owner, self, std::memory_order_acquire)) return 0;
    }
    return ++lock->count;
}
OLD_API void old_set_nest_lock(OldNestLock* lock) {
    Lot& lot = lot_of(lock->owner);
    while (old_test_nest_lock(lock) == 0) lot.parked.wait([lock] { return lock->owner.load() == 0; });
}
OLD_API void old_unset_nest_lock(OldNestLock* lock) {
    if (--lock->count != 0) return;
    lock->owner.store(0);
    lot_of(lock->owner).parked.wake();
}
OLD_API void old_init_lock_(Word* lock) { omp_init_lock(lock); }
OLD_API void old_destroy_lock_(Word* lock) { omp_destroy_lock(lock); }
OLD_API void old_set_lock_(Word* lock) { omp_set_lock(lock); }
OLD_API void old_unset_lock_(Word* lock) { omp_unset_lock(lock); }
OLD_API int old_test_lock_(Word* lock) { return omp_test_lock(lock); }
OLD_API void old_init_nest_lock_(OldNestLock** lock) { old_init_nest_lock(*lock = new OldNestLock); }
OLD_API void old_destroy_nest_lock_(OldNestLock** lock) {
    delete *lock;
    *lock = nullptr;
}
OLD_API void old_set_nest_lock_(OldNestLock** lock) { old_set_nest_lock(*lock); }
OLD_API void old_unset_nest_lock_(OldNestLock** lock) { old_unset_nest_lock(*lock); }
OLD_API int old_test_nest_lock_(OldNestLock** lock) { return old_test_nest_lock(*lock); }
OLD(init_lock);
OLD(init_lock_);
OLD(init_nest_lock);
OLD(init_nest_lock_);
OLD(destroy_lock);
OLD(destroy_lock_);
OLD(destroy_nest_lock);
OLD(destroy_nest_lock_);
OLD(set_lock);
OLD(set_lock_);
OLD(set_nest_lock);
OLD(set_nest_lock_);
OLD(unset_lock);
OLD(unset_lock_);
OLD(unset_nest_lock);
OLD(unset_nest_lock_);
OLD(test_lock);
OLD(test_lock_);
OLD(test_nest_lock);
OLD(test_nest_lock_);
