#include "wait.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include "bind.hpp"
#include "fatal.hpp"
#include "lending.hpp"
#include "members.hpp"

namespace weft_openmp {

// Its holder may have lost its CPU.
void SpinLock::wait() const {
    for (int looks = 0; taken_.load(std::memory_order_relaxed); ++looks) {   // relaxed: the exchange that follows acquires
        if (looks < 100) relax();
        else syscall(SYS_sched_yield);   // the kernel's, whatever stands before the C library's: this may be no place to switch
    }
}

// On what runs next: the unit's stack stands still, until somebody resumes it.
void Sleepers::publish(weft_unit* unit, void* raw) {
    auto& request = *static_cast<Request*>(raw);
    Sleepers& list = *request.list;
    Sleeper& sleeper = request.sleeper;
    list.lock_.lock();
    sleeper.unit = unit;
    Sleeper* const before = list.last_;
    (before == nullptr ? list.first_ : before->next) = &sleeper;
    list.last_ = &sleeper;
    list.count_.fetch_add(1);
    if (!request.condition.holds(request.condition.raw)) return list.lock_.unlock();
    (before == nullptr ? list.first_ : before->next) = nullptr;
    list.last_ = before;
    list.count_.fetch_sub(1);
    list.lock_.unlock();
    weft_unit_resume(sleeper.unit);
}

void Sleepers::suspend(Condition condition, const void* key) {
    Request request{this, condition, {nullptr, key, until_ != Until::something && lend_thread(until_), nullptr}};
    const weft_status status = weft_unit_suspend(publish, &request);
    if (status != WEFT_OK) [[unlikely]] fatal("cannot wait", status);
    if (request.sleeper.lends) has_thread();
    come_back();
}

void Sleepers::wake_all() {
    lock_.lock();
    Sleeper* sleeper = first_;
    first_ = last_ = nullptr;
    count_.store(0);
    lock_.unlock();
    // Whoever needs its own OS thread comes first: no member that goes on now is to be carried there, and none is once it can go on itself.
    for (Sleeper** at = &sleeper; *at != nullptr; at = &(*at)->next) {
        if (!(*at)->lends) continue;
        const Sleeper* const first = *at;
        *at = first->next;   // it goes with its unit
        weft_unit_resume(first->unit);
        break;               // there is no other
    }
    while (sleeper != nullptr) {
        Sleeper* const next = sleeper->next;
        weft_unit_resume(sleeper->unit);
        sleeper = next;
    }
}

bool Sleepers::wake_first(const void* key) {
    lock_.lock();
    Sleeper* before = nullptr;
    Sleeper* sleeper = first_;
    for (; sleeper != nullptr && sleeper->key != key; sleeper = sleeper->next) before = sleeper;
    if (sleeper != nullptr) {
        (before == nullptr ? first_ : before->next) = sleeper->next;
        if (last_ == sleeper) last_ = before;
        count_.fetch_sub(1);
    }
    lock_.unlock();
    if (sleeper != nullptr) weft_unit_resume(sleeper->unit);
    return sleeper != nullptr;
}

}  // namespace weft_openmp
