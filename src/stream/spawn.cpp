#include "stream/spawn.hpp"

#include <bit>
#include <cstring>
#include <utility>

#include "stream/join.hpp"
#include "stream/level.hpp"
#include "stream/migrate.hpp"
#include "stream/suspend.hpp"
#include "unit/extras.hpp"

namespace weft {

mem::Stack* take_stack(Stream* stream, std::size_t bytes) {
    return stream != nullptr ? stream->heap->stacks.take(bytes) : runtime().take_stack_outside(bytes);
}

void give_back(Stream* stream, Unit& unit) {
    unit.life.drop();
    if (unit.marked(Unit::extras)) drop_extras(unit);
    if (unit.stack != nullptr && stream != nullptr) stream->heap->stacks.give(unit.stack);
    if (unit.stack != nullptr && stream == nullptr) runtime().give_stack_outside(unit.stack);
    if (stream != nullptr) {
        stream->untake_id();
        stream->units->give(&unit);
    } else {
        runtime().untake_outside(unit);
    }
}

weft_status no_such_priority(int priority) {
    return fail(WEFT_INVALID, "priority %d is none; legal are %d to %d", priority, least_priority, most_priority);
}

weft_status plan(const weft_unit_options* options, bool tasklet, Plan& out) {
    out.kind = tasklet ? Kind::tasklet : runtime().default_kind;
    if (options == nullptr) return WEFT_OK;
    weft_unit_options given{};
    if (options->size < sizeof(std::size_t) || options->size > 4096) {
        return fail(WEFT_INVALID, "weft_unit_options.size is %zu; set it to sizeof(weft_unit_options)", options->size);
    }
    std::memcpy(&given, options, options->size < sizeof given ? options->size : sizeof given);
    out.name = given.name;
    out.priority = given.priority;
    if (!is_priority(given.priority)) return no_such_priority(given.priority);
    out.stream = reinterpret_cast<Stream*>(given.stream);
    out.placed = given.stream != nullptr || given.bound;
    if (given.bound) out.flags |= Unit::bound;
    out.migratable = !given.not_migratable;
    out.on_migration = given.on_migration;
    out.on_migration_argument = given.on_migration_argument;
    if (tasklet) return WEFT_OK;
    if (given.kind != WEFT_KIND_DEFAULT) {
        if (given.kind != WEFT_KIND_FULL && given.kind != WEFT_KIND_LSA) {
            return fail(WEFT_WRONG_KIND, "kind %d is not a ULT's; legal are WEFT_KIND_FULL and WEFT_KIND_LSA", given.kind);
        }
        out.kind = static_cast<Kind>(given.kind);
    }
    out.child_first = given.child_first;
    if (given.measure_stack) out.flags |= Unit::measured;
    out.stack_bytes = given.stack_bytes;
    if (given.stack != nullptr) {
        if (given.stack_bytes < mem::stack_minimum()) {
            return fail(WEFT_INVALID, "a stack of %zu bytes is too small; it needs at least %zu", given.stack_bytes, mem::stack_minimum());
        }
        out.stack = given.stack;
        out.flags |= Unit::user_stack;
        out.kind = Kind::full;
    } else if (given.stack_bytes > mem::largest_class_bytes) {
        if (given.stack_bytes > std::size_t{1} << 40) {
            return fail(WEFT_NO_MEMORY, "a stack of %zu bytes is more than the address space gives", given.stack_bytes);
        }
        out.kind = Kind::full;   // no size class of the store
        out.stack_class = static_cast<std::uint8_t>(std::bit_width(given.stack_bytes - 1));   // for another life
    } else if (given.stack_bytes != 0) {
        out.stack_class = static_cast<std::uint8_t>(std::bit_width(given.stack_bytes - 1));
    }
    if (out.child_first) {
        const Unit* self = running_or_null();
        if (self == nullptr || self->kind == Kind::tasklet) return fail(WEFT_WRONG_CONTEXT, "child_first needs a ULT that waits; there is none here");
    }
    return WEFT_OK;
}

weft_status place(const Plan& plan, Stream* caller, Pool** pool) {
    if (*pool != nullptr) return fail(WEFT_INVALID, "a pool is named as well as a stream, or bound; name one of them");
    Stream* stream = plan.stream != nullptr ? plan.stream : caller != nullptr ? caller : runtime().streams[0];
    if ((plan.flags & Unit::bound) == 0) {
        *pool = stream->main_pool.load();
        return WEFT_OK;
    }
    if (plan.child_first && stream != caller) return fail(WEFT_INVALID, "a unit that is bound to another stream cannot begin here: not with child_first");
    *pool = bound_pool(*stream);
    return *pool != nullptr ? WEFT_OK : fail(WEFT_NO_MEMORY, "no memory for the pool of units bound to stream %zu", stream->rank);
}

bool give_default_stack(Stream* stream, Unit& unit) {
    mem::Stack* stack = stream == nullptr ? nullptr : std::exchange(stream->spare, nullptr);
    if (stack == nullptr) stack = take_stack(stream, 0);
    if (stack == nullptr) return false;
    unit.stack = stack;
    if (stack->guarded == mem::Guard::canary) {
        unit.mark(Unit::canary);
    } else {
        unit.flags |= Unit::plain;
        unit.context = arch::prepare(stack->top, unit_main);
    }
    return true;
}

weft_status furnish(Stream* stream, Unit& unit, const Plan& plan) {
    unit.flags |= plan.flags;
    if ((plan.stack_class | plan.priority) != 0) {
        unit.stack_class = plan.stack_class;
        unit.set_priority(plan.priority);
    }
    if (plan.stack_class != 0 || unit.has(Unit::careful_end)) unit.flags &= static_cast<std::uint8_t>(~Unit::plain);
    if (plan.name != nullptr) {
        std::strncpy(unit.name, plan.name, sizeof unit.name - 1);
        unit.name[sizeof unit.name - 1] = '\0';
    }
    if (!plan.migratable) unit.mark(Unit::fixed);
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
    unit.stack = plan.stack != nullptr ? mem::user_stack(plan.stack, plan.stack_bytes) : take_stack(stream, plan.stack_bytes);
    if (unit.stack == nullptr) {
        give_back(stream, unit);
        return fail(WEFT_NO_MEMORY, "no memory for a stack of %zu bytes", plan.stack_bytes);
    }
    if (unit.has(Unit::measured)) mem::measure_begin(*unit.stack);
    if (unit.stack->guarded == mem::Guard::canary) unit.mark(Unit::canary);
    return WEFT_OK;
}

void launch_child_first(Unit& unit) {
    spawn_away(current(), unit);
}

}  // namespace weft
