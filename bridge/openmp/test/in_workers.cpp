// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenMP in the workers of another parallel library: a bridge that is made up here. Its domain
// lasts, its workers are hosted contexts, and each of them is one of several.
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <type_traits>

#include <weft/weft.h>

#include "check.h"

namespace {

class Workers {
public:
    explicit Workers(bool lasts) {
        weft_domain_ops ops{};
        ops.size = sizeof ops;
        ops.enter = [](void* self) { static_cast<Workers*>(self)->enter(); };
        ops.unblock = [](void* self, weft_unit* context) {
            auto& of = *static_cast<Workers*>(self);
            const std::lock_guard guard(of.lock_);
            of.ready_.push_back(context);
        };
        EQUAL(weft_domain_create(&ops, this, &domain), WEFT_OK);
        if (lasts) EQUAL(weft_domain_lasting_set(domain), WEFT_OK);
    }

    template <class Body>
    struct Call {
        const Body* body;
        int number;
        weft_unit* unit;
    };
    // A worker calls body(number), until end() returns.
    template <class Body>
    void begin(Call<Body>& call, const Body& body, int number) {
        weft_pool* pool = nullptr;
        weft_domain_pool_get(domain, &pool);
        weft_unit_options options{};
        options.size = sizeof options;
        options.kind = WEFT_KIND_HOSTED;
        call = {&body, number, nullptr};
        const auto work = [](void* raw) {
            const auto& one = *static_cast<Call<Body>*>(raw);
            (*one.body)(one.number);
        };
        EQUAL(weft_ult_spawn(pool, work, &call, &options, &call.unit), WEFT_OK);
        weft_domain_request(domain, 1);
    }
    template <class Body>
    void end(Call<Body>& call) {
        EQUAL(weft_unit_join_free(call.unit), WEFT_OK);
        weft_domain_request(domain, -1);
    }
    // Calls body(i) in `count` workers at once.
    template <class Body>
    void run(int count, const Body& body) {
        Call<Body> calls[8];
        for (int i = 0; i < count; ++i) begin(calls[i], body, i);
        for (int i = 0; i < count; ++i) end(calls[i]);
    }

    weft_domain* domain = nullptr;

private:
    void enter() {
        const std::lock_guard guard(lock_);
        if (ready_.empty() || __atomic_load_n(weft_domain_wanted(domain), __ATOMIC_RELAXED) != 0) return;
        // a worker that computes may do so until the guest, whose OS thread this is, has gone on
        if (weft_guest_here() != nullptr && weft_domain_pass() == WEFT_OK) return;
        weft_context_resume(ready_.front());
        ready_.pop_front();
    }

    std::mutex lock_;
    std::deque<weft_unit*> ready_;
};

// Harts may come to its domain until the process ends.
Workers& workers_that_stay(bool last) { return *new Workers(last); }

weft_domain* parent_of(const weft_domain* domain) {
    weft_domain* parent = nullptr;
    EQUAL(weft_domain_parent_get(domain, &parent), WEFT_OK);
    return parent;
}

// A region, and one within it, whose members are in the same domain, below the expected one.
void regions_below(const weft_domain* above) {
    omp_set_max_active_levels(2);
    std::atomic<int> came{0};
#pragma omp parallel num_threads(4)
    {
        const weft_domain* const own = weft_domain_self();
        if (omp_get_thread_num() != 0) CHECK(own != nullptr && parent_of(own) == above);
        for (int i = 0; i < 10; ++i) {
#pragma omp barrier
        }
#pragma omp parallel num_threads(2)
        {
            if (omp_get_ancestor_thread_num(1) != 0) CHECK(weft_domain_self() == own);
            ++came;
        }
    }
    EQUAL(came, 8);
}

void members_are_below_the_domain() {
    Workers &lasting = workers_that_stay(true), &others = workers_that_stay(false);
    for (int round = 0; round < 3; ++round) {
        lasting.run(2, [&](int) { regions_below(lasting.domain); });
        others.run(2, [](int) { regions_below(nullptr); });
        regions_below(nullptr);
    }
    // a domain that a worker has registered ends before its members do
    lasting.run(1, [&](int) {
        weft_domain_ops ops{};
        ops.size = sizeof ops;
        static weft_unit* self;
        static std::atomic<bool> ready;
        ops.enter = [](void*) {
            if (ready.exchange(false)) weft_context_resume(self);
        };
        ops.unblock = [](void*, weft_unit* unit) {
            self = unit;
            ready = true;
        };
        weft_domain* inner = nullptr;
        EQUAL(weft_domain_register(&ops, nullptr, &inner), WEFT_OK);
        regions_below(lasting.domain);
        EQUAL(weft_domain_unregister(inner), WEFT_OK);
        regions_below(lasting.domain);
    });
}

// ---- what a thread among others is told ---------------------------------------------------------

int team_of_usual_size() {
    int size = 0;
#pragma omp parallel
#pragma omp single
    size = omp_get_num_threads();
    return size;
}

int team_of(int wanted) {
    int size = 0;
#pragma omp parallel num_threads(wanted)
#pragma omp single
    size = omp_get_num_threads();
    return size;
}

// The load changes once the holders of harts have come or gone.
int told_in_the_end(int wanted) {
    const double until = omp_get_wtime() + 20;
    int told;
    while ((told = omp_get_max_threads()) != wanted && omp_get_wtime() < until) weft_sleep_for(1'000'000);
    return told;
}

// As long as it is among others it is told no more than before.
int told_anew_in_the_end(int wanted) {
    const double until = omp_get_wtime() + 20;
    int told;
    do {
        EQUAL(weft_concurrent_end(), WEFT_OK);
        EQUAL(omp_get_max_threads(), 8);
        weft_sleep_for(1'000'000);
        EQUAL(weft_concurrent_begin(), WEFT_OK);
    } while ((told = omp_get_max_threads()) != wanted && omp_get_wtime() < until);
    return told;
}

// With two harts, and eight threads that OpenMP may use.
class Load {
public:
    explicit Load(Workers& workers) : workers_(workers) {}
    // Calls body() while a worker computes on the other hart.
    template <class Body>
    void beside(const Body& body) {
        const auto compute = [this](int) {
            begun_ = true;
            while (!over_) {}
            begun_ = over_ = false;
        };
        Workers::Call<std::remove_const_t<decltype(compute)>> call;
        workers_.begin(call, compute, 0);
        while (!begun_) weft_sleep_for(100'000);
        body();
        over_ = true;
        workers_.end(call);
    }

private:
    Workers& workers_;
    std::atomic<bool> begun_{false}, over_{false};
};

// Called by one that is among others.
void is_told_of_the_load(Load& load) {
    EQUAL(told_anew_in_the_end(2), 2);
    EQUAL(team_of_usual_size(), 2);
    load.beside([] {
        EQUAL(team_of_usual_size(), 2);   // it may have counted on what it was told
        EQUAL(told_in_the_end(1), 1);
        EQUAL(team_of_usual_size(), 1);
        EQUAL(team_of(3), 3);
    });
    EQUAL(team_of_usual_size(), 1);   // as it was told last
    EQUAL(omp_get_max_threads(), 1);
    EQUAL(told_anew_in_the_end(2), 2);
}

// Called by one that is among others, and has not asked.
void has_what_can_be_granted(Load& load) {
    const auto in_the_end = [](int wanted) {
        const double until = omp_get_wtime() + 20;
        int size;
        while ((size = team_of_usual_size()) != wanted && omp_get_wtime() < until) weft_sleep_for(1'000'000);
        return size;
    };
    EQUAL(in_the_end(2), 2);
    load.beside([&] { EQUAL(in_the_end(1), 1); });
    EQUAL(in_the_end(2), 2);
}

void is_told_the_full_number() {
    EQUAL(omp_get_max_threads(), 8);
    EQUAL(team_of_usual_size(), 8);
}

void told_of_the_load() {
    Workers& workers = workers_that_stay(true);
    Load load(workers);
    is_told_the_full_number();
    workers.run(1, [&](int) {
        EQUAL(team_of_usual_size(), 8);   // it has not said that it is among others
        EQUAL(weft_concurrent_begin(), WEFT_OK);
        has_what_can_be_granted(load);
        is_told_of_the_load(load);
        omp_set_num_threads(3);   // what it sets itself holds, whatever the load is
        load.beside([] {
            EQUAL(omp_get_max_threads(), 3);
            EQUAL(team_of_usual_size(), 3);
        });
        EQUAL(weft_concurrent_end(), WEFT_OK);
    });
    // The first thread is told so, too, in a task of the library's; and the full number afterwards.
    EQUAL(weft_concurrent_begin(), WEFT_OK);
    is_told_of_the_load(load);
    EQUAL(weft_concurrent_end(), WEFT_OK);
    is_told_the_full_number();
}

void told_nothing() {
    Workers& workers = workers_that_stay(true);
    Load load(workers);
    workers.run(1, [&](int) {
        EQUAL(weft_concurrent_begin(), WEFT_OK);
        load.beside(is_told_the_full_number);
    });
}

}   // namespace

int main(int count, char** arguments) {
    EQUAL(weft_guest_enter(), WEFT_OK);
    if (count == 1) {
        members_are_below_the_domain();
    } else if (std::strcmp(arguments[1], "follow") == 0) {
        told_of_the_load();
    } else if (std::strcmp(arguments[1], "full") == 0) {
        told_nothing();
    }
    EQUAL(weft_guest_leave(), WEFT_OK);
    return verdict();
}
