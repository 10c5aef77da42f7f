// A unit begins. The fast path (a stream's own heap, default options) is inlined into the C interface.
#pragma once

#include "stream/error.hpp"
#include "stream/runtime.hpp"
#include "weft/unit.h"

namespace weft {

// What the options of the C interface come to.
struct Plan {
    Kind kind;
    std::uint8_t flags = 0;            // of Unit: user_stack, measured
    std::uint8_t stack_class = 0;
    bool child_first = false;
    std::size_t stack_bytes = 0;       // for those that get their stack at once
    void* stack = nullptr;             // the user's memory
    const char* name = nullptr;
};

// Completes and checks the options (null: defaults).
weft_status plan(const weft_unit_options* options, bool tasklet, Plan& out);

// A descriptor with everything but a stack; null: no memory.
[[gnu::always_inline]] inline Unit* describe(Stream* stream, Pool& pool, void (*body)(void*), void* argument, Kind kind,
                                             const void* site) {
    Unit* unit;
    if (stream != nullptr) [[likely]] {
        unit = static_cast<Unit*>(stream->heap->units->take());
        if (unit == nullptr) [[unlikely]] return nullptr;
        unit->id = stream->heap->next_id++;
        stream->counters.add(trace::Count::created);
    } else {
        unit = runtime().take_outside();
        if (unit == nullptr) return nullptr;
    }
    unit->context = nullptr;
    unit->body = body;
    unit->argument = argument;
    unit->pool = &pool;
    unit->joint.reset();
    unit->stack = nullptr;
    unit->kind = kind;
    unit->flags = pool.kind == WEFT_POOL_PRIVATE ? Unit::local : 0;
    unit->outcome = WEFT_OK;
    unit->stack_class = 0;
    unit->spawn_site = site;
    unit->name[0] = '\0';
    return unit;
}

// What `plan` adds: a name, a stack. Not WEFT_OK: the descriptor has been given back.
weft_status furnish(Stream* stream, Unit& unit, const Plan& plan);

// A described unit enters its pool, or begins at once in the place of the running ULT (child-first).
void launch_child_first(Unit& unit);

}  // namespace weft
