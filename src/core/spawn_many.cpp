// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Many units are spawned at once.
#include <algorithm>
#include <utility>

#include "core/plan.hpp"
#include "core/spawn.hpp"
#include "observe/observe.hpp"
#include "process/error.hpp"
#include "process/process.hpp"

namespace weft {
namespace {

// The arguments of weft_unit_spawn_many.
struct Given {
    std::size_t count;
    void (*body)(void*);
    void* const* arguments;
    weft_unit** units;
    const void* site;
};

// Units that were made together, linked from the first to the last.
struct Made {
    Unit* first;
    Unit* last;
    weft_status status;
};

// Takes units back in the order from the last to the first.
[[gnu::noinline]] void take_back(Stream* stream, Unit* first, std::size_t count, weft_unit** units) {
    Unit* last = nullptr;
    for (std::size_t i = 0; i < count; ++i) first = std::exchange(first->link, std::exchange(last, first));
    while (last != nullptr) give_back(stream, *std::exchange(last, last->link));
    if (units != nullptr) std::fill_n(units, count, nullptr);
}

// `plan`: null, or what is to be done besides their kind. `learner`: null, or for kind auto the
// place.
Made make_row(Stream* stream, Pool& home, Unit::InitialHeader initial_header, const Given& given, const Plan* plan,
              const Site* learner) {
    Unit* first = nullptr;
    Unit** link = &first;
    Unit* unit = nullptr;
    if (stream == nullptr) learner = nullptr;
    // One comparison for both questions: whether the previous unit was a sample, and whether it was
    // the last one.
    std::size_t sample = learner != nullptr ? stream->spawning.sampling.next() : given.count + 1;
    std::size_t stop = std::min(sample, given.count);
    for (std::size_t i = 0;; ++i) {
        if (i == stop) [[unlikely]] {
            if (i == sample) {
                make_sample(*unit, *learner);
                sample += stream->spawning.sampling.draw(*learner);
            }
            if (i == given.count) break;
            stop = std::min(sample, given.count);
        }
        unit = make_unit(stream, home, given.body, given.arguments == nullptr ? nullptr : given.arguments[i],
                         initial_header, given.site);
        weft_status status = WEFT_OK;
        if (unit == nullptr) [[unlikely]] {
            status = fail(WEFT_NO_MEMORY, "no memory for unit %zu of %zu", i + 1, given.count);
        } else if (plan != nullptr) {
            status = furnish(stream, *unit, *plan);
        }
        if (status != WEFT_OK) [[unlikely]] {
            take_back(stream, first, i, given.units);
            return {nullptr, nullptr, status};
        }
        *link = unit;
        link = &unit->link;
        if (given.units != nullptr) {
            given.units[i] = to_handle(unit);
        } else {
            unit->join_state.detach_local();   // no other thread knows the unit yet
        }
    }
    if (learner != nullptr) stream->spawning.sampling.set_next(sample - given.count);
    return {first, unit, WEFT_OK};
}

// Linked from the first to the last: all enter their pool, which is a user's, or none does.
[[gnu::noinline]] bool enter_all(Unit* first, std::size_t count) {
    Unit* unit = first;
    for (std::size_t i = 0; i < count; ++i, unit = unit->link) {
        if (pool::enters(*unit)) continue;
        for (unit = first; i-- > 0; unit = unit->link) pool::expel(*unit->pool, *unit);
        return false;
    }
    return true;
}

// The units are linked from the first to the last.
[[gnu::noinline]] void observe_all_created(Unit* first, std::size_t count) {
    for (Unit* unit = first; count-- > 0; unit = unit->link) observe(trace::Event::create, *unit);
}

}   // namespace

weft_status spawn_many(Pool* pool, std::size_t count, void (*body)(void*), void* const* arguments,
                       const weft_unit_options* options, weft_unit** units, const void* site) noexcept {
    if (body == nullptr) return is_null("body");
    if (process_or_null() == nullptr) return not_initialized();
    if (count == 0) return WEFT_OK;
    Stream* stream = current_or_null();
    const bool tasklets = options != nullptr && options->size >= sizeof(std::size_t) + sizeof(weft_kind) &&
                          number_of(options->kind) == WEFT_KIND_TASKLET;
    Plan chosen;
    if (weft_status status = plan(options, tasklets, chosen); status != WEFT_OK) return status;
    if (chosen.child_first || chosen.stack != nullptr || chosen.data != nullptr) {
        return fail(WEFT_INVALID,
                    "units spawned together cannot be child-first or share one stack or one pointer of the program's");
    }
    Pool* named = pool;
    if (chosen.placed) {
        if (weft_status status = place(chosen, stream, &named); status != WEFT_OK) return status;
    }
    Pool& home = named == nullptr ? standard_pool(stream) : *named;
    if (weft_status status = fits(chosen, home); status != WEFT_OK) return status;
    const Given given{count, body, arguments, units, site};
    decide(chosen, home, given.site, body);
    const Unit::InitialHeader initial_header = initial_header_in(home, chosen.kind);
    const Made row =
        make_row(stream, home, initial_header, given, chosen.asks_for_more() ? &chosen : nullptr, chosen.learner);
    if (row.status != WEFT_OK) [[unlikely]]
        return row.status;
    if (home.kind == WEFT_POOL_USER && !enter_all(row.first, count)) {
        take_back(stream, row.first, count, units);
        return not_admitted();
    }
    if (initial_header.marks.has(Unit::observed)) [[unlikely]]
        observe_all_created(row.first, count);
    pool::push_many(home, row.first, row.last, count, pool::From::spawned);
    return WEFT_OK;
}

}   // namespace weft
