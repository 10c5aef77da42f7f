// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/plan.hpp"

#include <cstring>
#include <utility>

#include "base/handles.hpp"
#include "core/migrate.hpp"
#include "local/extras.hpp"
#include "local/key_handle.hpp"
#include "local/own_float.hpp"
#include "process/way.hpp"

namespace weft {

mem::Stack* take_stack(Stream* stream, std::size_t bytes) {
    return stream != nullptr ? stream->heap->stacks.take(bytes) : process().take_stack_outside(bytes);
}

void give_stack_back(Stream* stream, mem::Stack* stack) {
    if (stack->user) return mem::user_stack_done(stack);
    if (stream != nullptr) {
        stream->heap->stacks.give(stack);
    } else {
        process().give_stack_outside(stack);
    }
}

void give_back(Stream* stream, Unit& unit) {
    unit.life.drop();
    forget_own_float(unit);
    if (unit.marked(Unit::extras)) drop_extras(unit, stream);
    if (unit.stack != nullptr) give_stack_back(stream, unit.stack);
    if (stream != nullptr) {
        stream->untake_id();
        stream->units->give(&unit);
    } else {
        process().untake_outside(unit);
    }
}

weft_status stack_too_small(std::size_t bytes) {
    return fail(WEFT_INVALID,
                "a stack of %zu bytes is asked for; ask for at least %zu (WEFT_STACK_LEAST), or for 0, which stands "
                "for WEFT_STACK_BYTES",
                bytes, WEFT_STACK_LEAST);
}
static_assert(WEFT_STACK_LEAST == mem::smallest_class_bytes);

weft_status no_such_priority(int priority) {
    return fail(WEFT_INVALID, "priority %d is none; legal are %d to %d", priority, least_priority, most_priority);
}

weft_status no_priorities(int priority) {
    return fail(WEFT_UNSUPPORTED,
                "priority %d means nothing in the unit's pool, which has no order of priorities; WEFT_POOL=priority "
                "gives the streams' main "
                "pools one, and weft_pool_create(WEFT_POOL_PRIORITY, ...) makes another; bound units wait in a pool of "
                "their own, which has none",
                priority);
}

namespace {

// For a unit that runs on the scheduler's stack: checks that it asks for no more than is there.
weft_status too_much(const weft_unit_options& given) {
    const std::size_t there = process().settings.values.scheduler_stack_bytes;
    if (given.stack != nullptr)
        return fail(WEFT_INVALID, "a unit of this kind runs on its scheduler's stack, and needs none of the caller's");
    if (given.stack_bytes <= there) return WEFT_OK;
    return fail(WEFT_INVALID,
                "a unit of this kind runs on its scheduler's stack of %zu bytes, and %zu are asked for; take another "
                "kind, or set "
                "WEFT_SCHEDULER_STACK_BYTES",
                there, given.stack_bytes);
}

// For a unit that stands on a pthread's stack.
weft_status suits_hosted(const weft_unit_options& given) {
    if (!os::hosts_supported())
        return fail(WEFT_UNSUPPORTED, "there are no hosted units here: OS threads are simulated");
    if (given.stack != nullptr)
        return fail(WEFT_INVALID, "a hosted unit stands on its pthread's stack, and needs none of the caller's");
    if (given.measure_stack)
        return fail(WEFT_UNSUPPORTED,
                    "a hosted unit stands on its pthread's stack, which is not measured; take another kind");
    return WEFT_OK;
}

// Whether a unit of that kind suits the other options.
weft_status suits(Kind kind, const weft_unit_options& given) {
    if (kind == Kind::tasklet || kind == Kind::sc) {
        if (const weft_status status = too_much(given); status != WEFT_OK) return status;
        if (given.measure_stack) {
            return fail(
                WEFT_UNSUPPORTED,
                "a unit of kind %s stands on its scheduler's stack, which cannot be measured for it; take another kind",
                kind == Kind::sc ? "SC" : "RtC");
        }
    }
    if (kind == Kind::hosted) return suits_hosted(given);
    if (kind == Kind::tasklet && given.child_first)
        return fail(WEFT_UNSUPPORTED, "a tasklet is run by a scheduler, and not child-first");
    if ((kind == Kind::ss || kind == Kind::sc) && given.child_first) {
        return fail(WEFT_UNSUPPORTED,
                    "a unit of kind %s begins in its scheduler's place, which is not child-first; take RoC",
                    kind == Kind::ss ? "SS" : "SC");
    }
    return WEFT_OK;
}

// The kind that is asked for, or a suitable one where none is.
weft_status choose_kind(const weft_unit_options& given, bool tasklet, Plan& out) {
    const int number = number_of(given.kind);
    if (tasklet) {
        if (number == WEFT_KIND_DEFAULT || number == WEFT_KIND_TASKLET) return too_much(given);
        return fail(WEFT_WRONG_KIND, "kind %d is not a tasklet's; leave it out", number);
    }
    if (number != WEFT_KIND_DEFAULT && !is_kind(number)) return no_such_kind(number);
    if (number != WEFT_KIND_DEFAULT) out.kind = static_cast<Kind>(number);
    if (out.kind == Kind::automatic) {
        // A unit that asks for a stack, or begins in its parent's place, has no choice that is
        // worth learning.
        if (given.stack_bytes != 0 || given.stack != nullptr || given.measure_stack || given.child_first)
            out.kind = Kind::lsa;
        out.site = given.site;
        return WEFT_OK;
    }
    if (number == WEFT_KIND_DEFAULT) {
        if (suits(out.kind, given) != WEFT_OK) out.kind = Kind::roc;
        return WEFT_OK;
    }
    out.as_asked = true;
    return suits(out.kind, given);
}

}   // namespace

void look_up_site(LatestSites::Entry& entry, const void* address, void (*body)(void*)) {
    entry.site = &sites.find(address, reinterpret_cast<const void*>(body));
    entry.address = address;
    entry.body = body;
}

void decide(Plan& plan, const Pool& pool, const void* address, void (*body)(void*)) {
    if (plan.kind != Kind::automatic) return;
    if (pool.kind == WEFT_POOL_PRIVATE) {
        plan.kind = Kind::lsa;
        return;
    }
    plan.learner = plan.site != nullptr ? &sites.find(plan.site, nullptr)
                                        : &sites.find(address, reinterpret_cast<const void*>(body));
    plan.kind = plan.learner->kind();
}

weft_status fits(const Plan& plan, const Pool& pool) {
    if (!plan.as_asked || (plan.kind != Kind::ss && plan.kind != Kind::sc) || pool.stateful.load() == 0) return WEFT_OK;
    return fail(WEFT_UNSUPPORTED,
                "a scheduler that keeps something on its stack (it has run, or was pushed into a pool) draws from this "
                "pool, and its "
                "place cannot be taken by a unit of kind SS or SC; take RoC");
}

weft_status no_such_kind(int number) {
    return fail(WEFT_WRONG_KIND,
                "kind %d is none; legal are WEFT_KIND_FULL, _LSA, _ROC, _SS, _SC, _RTC, _AUTO and _HOSTED", number);
}

namespace {

// `data` goes under a lasting key, whose own function releases the data, also where no unit
// results.
weft_status take_key(const weft_unit_options& given, Plan& out) {
    const Key& key = *to_key(given.key, "weft_unit_options.key");
    if (!key.lasting) return fail(WEFT_INVALID, "weft_unit_options.key is no lasting key");
    if (given.release != nullptr)
        return fail(WEFT_INVALID,
                    "with weft_unit_options.key it is the key that releases the data; leave `release` NULL");
    out.key = &key;
    out.release = key.release.load(std::memory_order_relaxed);   // relaxed: constant while the key lives
    return WEFT_OK;
}

}   // namespace

weft_status plan(const weft_unit_options* options, bool tasklet, Plan& out) {
    const Stream* const caller = current_or_null();
    out.kind = tasklet ? Kind::tasklet : caller != nullptr ? caller->spawning.default_kind : process().default_kind;
    if (options == nullptr) return WEFT_OK;
    if (options->size < sizeof(std::size_t) || options->size > 4096) {
        return fail(WEFT_INVALID, "weft_unit_options.size is %zu; set it to sizeof(weft_unit_options)", options->size);
    }
    weft_unit_options older;
    if (options->size < sizeof older) [[unlikely]] {   // the program was compiled with an older header
        older = {};
        std::memcpy(&older, options, options->size);
        options = &older;
    }
    const weft_unit_options& given = *options;
    out.data = given.data;
    out.release = given.release;
    if (given.key != nullptr) {
        if (const weft_status status = take_key(given, out); status != WEFT_OK) return status;
    }
    out.name = given.name;
    out.priority = given.priority;
    if (!is_priority(given.priority)) return no_such_priority(given.priority);
    out.stream = handles::to_object<Stream>(handles::Thing::stream, given.stream, "weft_unit_options.stream");
    out.placed = given.stream != nullptr || given.bound;
    if (given.bound) out.flags |= Unit::bound;
    out.special = Plan::fixed.only_if(given.not_migratable);
    out.on_migration = given.on_migration;
    out.on_migration_argument = given.on_migration_argument;
    if (const weft_status status = choose_kind(given, tasklet, out); status != WEFT_OK) return status;
    // Both by one load: few units have either.
    std::uint16_t fresh_or_own_float;
    static_assert(offsetof(weft_unit_options, own_float) == offsetof(weft_unit_options, fresh) + 1);
    std::memcpy(&fresh_or_own_float, &given.fresh, sizeof fresh_or_own_float);
    if (fresh_or_own_float != 0) [[unlikely]] {
        if (given.fresh) {
            if (out.kind != Kind::hosted)
                return fail(WEFT_INVALID,
                            "only a hosted unit can have a fresh pthread; its kind is to be WEFT_KIND_HOSTED");
            out.special |= Plan::fresh;
        }
        if (given.own_float) out.special |= Plan::own_float;
    }
    if (out.kind == Kind::tasklet) return WEFT_OK;
    out.child_first = given.child_first;
    if (given.measure_stack) out.flags |= Unit::measured;
    out.stack_bytes = given.stack_bytes;
    if (given.stack != nullptr) {
        if (given.stack_bytes < mem::stack_minimum()) {
            return fail(WEFT_INVALID, "a stack of %zu bytes is too small; it needs at least %zu", given.stack_bytes,
                        mem::stack_minimum());
        }
        out.stack = given.stack;
        out.flags |= Unit::user_stack;
        out.kind = Kind::full;
    } else if (given.stack_bytes > mem::largest_class_bytes) {
        if (given.stack_bytes > std::size_t{1} << 40) {
            return fail(WEFT_NO_MEMORY, "a stack of %zu bytes is more than the address space gives", given.stack_bytes);
        }
        if (out.kind != Kind::hosted) out.kind = Kind::full;   // no size class of the store
        out.stack_class = Unit::class_of(given.stack_bytes);   // for another life
    } else if (given.stack_bytes != 0) {
        if (given.stack_bytes < WEFT_STACK_LEAST) return stack_too_small(given.stack_bytes);
        out.stack_class = Unit::class_of(given.stack_bytes);
    }
    if (out.child_first) {
        const Unit* self = running_or_null();
        if (self == nullptr || self->kind == Kind::tasklet)
            return fail(WEFT_WRONG_CONTEXT, "child_first needs a ULT that waits; there is none here");
    }
    return WEFT_OK;
}

weft_status place(const Plan& plan, Stream* caller, Pool** pool) {
    if (*pool != nullptr) return fail(WEFT_INVALID, "a pool is named as well as a stream, or bound; name one of them");
    Stream* stream = plan.stream != nullptr ? plan.stream : caller != nullptr ? caller : process().streams[0];
    if (!plan.flags.has(Unit::bound)) {
        *pool = &main_pool_of(*stream);
        return WEFT_OK;
    }
    if (const weft_status status = is_the_programs(*stream); status != WEFT_OK) return status;
    if (plan.child_first && stream != caller)
        return fail(WEFT_INVALID, "a unit that is bound to another stream cannot begin here: not with child_first");
    *pool = bound_pool(*stream);
    return *pool != nullptr ? WEFT_OK
                            : fail(WEFT_NO_MEMORY, "no memory for the pool of units bound to stream %zu", stream->rank);
}

bool give_default_stack(Stream* stream, Unit& unit) {
    mem::Stack* const stack =
        stream != nullptr && stream->spare != nullptr ? stream->take_spare() : take_stack(stream, 0);
    if (stack == nullptr) return false;
    unit.stack = stack;
    if (stack->guarded == mem::Guard::canary) unit.mark(Unit::careful);
    return true;
}

namespace {

[[gnu::noinline, gnu::cold]] void furnish_special(Unit& unit, const Plan& plan) {
    if (plan.special.has(Plan::fixed)) unit.mark(Unit::fixed);
    if (plan.special.has(Plan::own_float)) give_own_float(unit);
    if (plan.special.has(Plan::fresh)) unit.wants_fresh = true;
}

weft_status furnish_with_stack(Stream* stream, Unit& unit, const Plan& plan) {
    const Unit::Flags flags = unit.flags | plan.flags;
    unit.flags = flags;
    if ((plan.stack_class.word | plan.priority) != 0) [[unlikely]] {
        if (plan.priority != 0 && !has_priorities(*unit.pool)) {
            give_back(stream, unit);
            return no_priorities(plan.priority);
        }
        unit.shape |= plan.stack_class;
        unit.set_priority(plan.priority);
        if (plan.stack_class.any()) unit.flags = flags.without(Unit::plain);
    }
    if (flags.has(Unit::own_stack)) unit.flags = flags.without(Unit::plain);
    if (plan.name != nullptr) {
        std::strncpy(unit.name, plan.name, sizeof unit.name - 1);
        unit.name[sizeof unit.name - 1] = '\0';
    }
    if (plan.special.any()) [[unlikely]]
        furnish_special(unit, plan);
    if (plan.on_migration != nullptr) {
        const weft_status status = set_on_migration(unit, plan.on_migration, plan.on_migration_argument);
        if (status != WEFT_OK) {
            give_back(stream, unit);
            return status;
        }
    }
    if (plan.kind != Kind::full) return WEFT_OK;
    if (plan.stack == nullptr && plan.stack_bytes == 0 && !unit.has(Unit::measured)) {
        if (give_default_stack(stream, unit)) return WEFT_OK;
        give_back(stream, unit);
        return fail(WEFT_NO_MEMORY, "no memory for a stack");
    }
    unit.stack =
        plan.stack != nullptr ? mem::user_stack(plan.stack, plan.stack_bytes) : take_stack(stream, plan.stack_bytes);
    if (unit.stack == nullptr) {
        give_back(stream, unit);
        return fail(WEFT_NO_MEMORY, "no memory for a stack of %zu bytes", plan.stack_bytes);
    }
    if (unit.has(Unit::measured)) mem::measure_begin(*unit.stack);
    if (unit.stack->guarded == mem::Guard::canary) unit.mark(Unit::careful);
    return WEFT_OK;
}

}   // namespace

weft_status furnish(Stream* stream, Unit& unit, const Plan& plan) {
    const weft_status status = furnish_with_stack(stream, unit, plan);
    if (status != WEFT_OK || plan.data == nullptr || give_at_spawn(unit, plan.key, plan.data, plan.release, stream))
        return status;
    give_back(stream, unit);
    return fail(WEFT_NO_MEMORY, "no memory for a unit's data");
}

weft_status turn_away(Stream* stream, Unit& unit) {
    give_back(stream, unit);
    return not_admitted();
}

}   // namespace weft
