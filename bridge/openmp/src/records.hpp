// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Records that no unit has now, the latest first. They keep their team pools, so a unit that begins
// a region finds members there.
#pragma once

#include <atomic>

#include "wait.hpp"

namespace weft_openmp {

// Record has a member `next_record`, which belongs to the list while the record lies here.
template <class Record>
class Records {
public:
    // Null: there is none.
    Record* take() {
        lock_.lock();
        Record* const record = first_.load(std::memory_order_relaxed);   // relaxed, all: written under the lock
        if (record != nullptr) first_.store(record->next_record, std::memory_order_relaxed);
        lock_.unlock();
        return record;
    }

    void give(Record& record) {
        lock_.lock();
        record.next_record = first_.load(std::memory_order_relaxed);   // relaxed, both: as in take
        first_.store(&record, std::memory_order_relaxed);
        lock_.unlock();
    }

    bool any() const { return first_.load(std::memory_order_relaxed) != nullptr; }   // relaxed: a hint

    // In the child of a fork their members no longer exist. The thread that may have held the lock
    // is gone.
    void forget_in_child() {
        first_.store(nullptr);
        lock_.unlock();
    }

private:
    SpinLock lock_;
    std::atomic<Record*> first_{nullptr};
};

}   // namespace weft_openmp
