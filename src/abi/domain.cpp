// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "weft/domain.h"

#include <cstring>

#include "abi/convert.hpp"
#include "core/suspend.hpp"
#include "share/domain.hpp"

using namespace weft;

namespace {

using What = Transition::What;

Domain* to_domain(weft_domain* handle, const char* call = __builtin_FUNCTION()) {
    return handles::to_object<Domain>(handles::Thing::domain, handle, call);
}
constexpr std::uint32_t no_word = 0;   // for what is no domain

const Domain* to_domain(const weft_domain* handle, const char* call = __builtin_FUNCTION()) {
    return handles::to_object<const Domain>(handles::Thing::domain, handle, call);
}
weft_domain* to_handle(Domain* domain) { return handles::to_handle<weft_domain>(handles::Thing::domain, domain); }

// How a context pauses: on the transition stack its domain decides what the hart does next.
struct Pause : Suspension {
    static constexpr State state = State::suspended;
    static constexpr Unit::Marks handled = Unit::at_return;

    void (*call)(weft_unit* context, void* argument);
    void* argument;

    void publish() {
        Stream& stream = current();
        stream.serving.deciding = true;
        call(weft::to_handle(&self), argument);   // any thread may have resumed it before this returns
        stream.serving.deciding = false;
    }
};

[[gnu::noinline]] void pause(Stream& stream, Unit& self, void (*publish)(weft_unit*, void*), void* argument) {
    Pause request{{self}, publish, argument};
    suspend(stream, request, Waits::domain_pause, nullptr);
}

struct Handover : Suspension {
    static constexpr State state = State::suspended;
    static constexpr Unit::Marks handled = Unit::at_return;

    void (*call)(weft_unit* context, void* argument);
    void* argument;

    void publish() { call(weft::to_handle(&self), argument); }
};

[[gnu::noinline]] void hand_over(Stream& stream, Unit& self, Unit* next, void (*publish)(weft_unit*, void*),
                                 void* argument) {
    Handover request{{self}, publish, argument};
    suspend_to(stream, request, next, Waits::as_stated, argument);
}

// WEFT_OK where the caller may pause: it is a ULT on a domain's hart.
weft_status may_pause(const Stream* stream) {
    const Unit* const self = stream == nullptr ? nullptr : stream->running;
    if (self == nullptr || stream->serving.domain == nullptr)
        return fail(WEFT_WRONG_CONTEXT, "only a context pauses: a ULT on a domain's hart");
    if (self->kind == Kind::tasklet) return fail(WEFT_WRONG_KIND, "a tasklet cannot pause; make it a ULT");
    return WEFT_OK;
}

weft_status read_ops(const weft_domain_ops* ops, weft_domain* const* domain, weft_domain_ops& given) {
    if (ops == nullptr || domain == nullptr) return is_null(ops == nullptr ? "ops" : "domain");
    if (ops->size < sizeof(std::size_t) || ops->size > 4096) {
        return fail(WEFT_INVALID, "weft_domain_ops.size is %zu; set it to sizeof(weft_domain_ops)", ops->size);
    }
    std::memcpy(&given, ops, ops->size < sizeof given ? ops->size : sizeof given);
    if (given.enter == nullptr || given.unblock == nullptr)
        return is_null(given.enter == nullptr ? "enter" : "unblock");
    return WEFT_OK;
}

}   // namespace

extern "C" {

weft_status weft_domain_register(const weft_domain_ops* ops, void* self, weft_domain** domain) noexcept {
    weft_domain_ops given{};
    if (const weft_status status = read_ops(ops, domain, given); status != WEFT_OK) return status;
    Domain* made = nullptr;
    const weft_status status = register_domain(given, self, &made);
    if (status == WEFT_OK) *domain = to_handle(made);
    return status;
}

weft_status weft_domain_create(const weft_domain_ops* ops, void* self, weft_domain** domain) noexcept {
    return weft_domain_create_in(nullptr, ops, self, domain);
}

weft_status weft_domain_lasting_set(weft_domain* domain) noexcept {
    if (domain == nullptr) return is_null("domain");
    if (to_domain(domain)->registrant != nullptr)
        return fail(WEFT_INVALID,
                    "a ULT has registered the domain, and may unregister it; weft_domain_create makes one "
                    "that lasts");
    to_domain(domain)->lasts.store(true);
    return WEFT_OK;
}

weft_status weft_domain_lasting_get(const weft_domain* domain, bool* lasting) noexcept {
    if (domain == nullptr || lasting == nullptr) return is_null(domain == nullptr ? "domain" : "lasting");
    *lasting = to_domain(domain)->lasts.load();
    return WEFT_OK;
}

weft_status weft_domain_create_in(weft_domain* parent, const weft_domain_ops* ops, void* self,
                                  weft_domain** domain) noexcept {
    weft_domain_ops given{};
    if (const weft_status status = read_ops(ops, domain, given); status != WEFT_OK) return status;
    Process* const of = process_or_null();
    if (of == nullptr) return not_initialized();
    Domain* const above = parent == nullptr ? nullptr : to_domain(parent);
    if (above != nullptr && !above->lasts.load())
        return fail(WEFT_WRONG_STATE, "the parent has not been declared to last: call weft_domain_lasting_set first");
    Domain* const made = create_domain(*of, above, given, self);
    if (made == nullptr) return fail(WEFT_NO_MEMORY, "no memory for a domain");
    *domain = to_handle(made);
    return WEFT_OK;
}

weft_status weft_domain_pool_get(const weft_domain* domain, weft_pool** pool) noexcept {
    if (domain == nullptr || pool == nullptr) return is_null(domain == nullptr ? "domain" : "pool");
    *pool = weft::to_handle(to_domain(domain)->pool);
    return WEFT_OK;
}

weft_status weft_domain_unregister(weft_domain* domain) noexcept {
    if (domain == nullptr) return is_null("domain");
    if (to_domain(domain)->jobs != nullptr)
        return fail(WEFT_WRONG_CONTEXT, "an arena's domain is unregistered by the arena");
    return unregister_domain(*to_domain(domain));
}

weft_domain* weft_domain_self(void) noexcept {
    const Stream* const stream = current_or_null();
    return stream == nullptr ? nullptr : to_handle(stream->serving.domain);
}

weft_status weft_domain_data_get(const weft_domain* domain, void** data) noexcept {
    if (domain == nullptr || data == nullptr) return is_null(domain == nullptr ? "domain" : "data");
    *data = to_domain(domain)->self;
    return WEFT_OK;
}

weft_status weft_domain_parent_get(const weft_domain* domain, weft_domain** parent) noexcept {
    if (domain == nullptr || parent == nullptr) return is_null(domain == nullptr ? "domain" : "parent");
    *parent = to_handle(to_domain(domain)->parent);
    return WEFT_OK;
}

weft_status weft_domain_request(weft_domain* domain, ptrdiff_t delta) noexcept {
    if (domain == nullptr) return is_null("domain");
    request_harts(*to_domain(domain), delta);
    return WEFT_OK;
}

const uint32_t* weft_domain_wanted(const weft_domain* domain) noexcept {
    if (domain == nullptr) return &no_word;
    const Domain& of = *to_domain(domain);
    const auto& word = of.parent == nullptr ? of.root.to_reclaim : of.to_reclaim;
    return reinterpret_cast<const std::uint32_t*>(&word);
}

const uint32_t* weft_domain_lacked(const weft_domain* domain) noexcept {
    const Process* const of = domain == nullptr ? process_or_null() : &to_domain(domain)->of;
    return of == nullptr ? &no_word : reinterpret_cast<const std::uint32_t*>(&of->base.contended());
}

weft_status weft_domain_weight_set(weft_domain* domain, unsigned weight) noexcept {
    Process* const of = process_or_null();
    if (of == nullptr) return not_initialized();
    if (weight == 0) return fail(WEFT_INVALID, "a weight is at least 1");
    if (domain != nullptr && to_domain(domain)->parent != nullptr)
        return fail(WEFT_INVALID,
                    "the domain's parent shares its harts as it likes; weights are those of the base's children");
    of->base.set_weight(domain == nullptr ? of->streams_root : to_domain(domain)->root, weight);
    return WEFT_OK;
}

weft_status weft_domain_ask_back(weft_domain* child, uint32_t harts) noexcept {
    if (child == nullptr) return is_null("child");
    Domain& of = *to_domain(child);
    if (of.parent == nullptr) return fail(WEFT_INVALID, "the domain is a child of the base, which asks for itself");
    of.reclaim_changes.fetch_add(1);   // counted before it is published
    of.to_reclaim.store(harts);
    return WEFT_OK;
}

weft_status weft_domain_enter(weft_domain* child) noexcept {
    return child == nullptr ? is_null("child") : decide({What::enter, nullptr, {to_domain(child)}});
}

weft_status weft_domain_reenter(void) noexcept { return decide({What::reenter, nullptr, {}}); }
weft_status weft_domain_yield(void) noexcept { return decide({What::yield, nullptr, {}}); }

weft_status weft_domain_pass(void) noexcept { return decide_to_pass(); }

weft_status weft_context_run(weft_unit* context, void (*body)(void*), void* argument) noexcept {
    if (context == nullptr || body == nullptr) return is_null(context == nullptr ? "context" : "body");
    return run_context(*to_unit(context), body, argument);
}

weft_status weft_context_resume(weft_unit* context) noexcept {
    return context == nullptr ? is_null("context") : resume_context(*to_unit(context));
}

weft_status weft_context_create(void* stack, size_t stack_bytes, weft_unit** context) noexcept {
    if (context == nullptr) return is_null("context");
    Unit* made = nullptr;
    const weft_status status = make_context(stack, stack_bytes, __builtin_return_address(0), &made);
    if (status == WEFT_OK) *context = weft::to_handle(made);
    return status;
}

weft_status weft_context_pause(void (*publish)(weft_unit*, void*), void* argument) noexcept {
    if (publish == nullptr) return is_null("publish");
    Stream* const stream = current_or_null();
    if (const weft_status status = may_pause(stream); status != WEFT_OK) return status;
    pause(*stream, *stream->running, publish, argument);
    return WEFT_OK;
}

weft_status weft_context_suspend_to(weft_unit* next, void (*publish)(weft_unit*, void*), void* argument) noexcept {
    if (next == nullptr || publish == nullptr) return is_null(next == nullptr ? "next" : "publish");
    Stream* const stream = current_or_null();
    if (const weft_status status = may_pause(stream); status != WEFT_OK) return status;
    Unit* successor = nullptr;
    if (const weft_status status = take_successor(*stream, *to_unit(next), successor); status != WEFT_OK) return status;
    hand_over(*stream, *stream->running, successor, publish, argument);
    return WEFT_OK;
}

weft_status weft_context_unblock(weft_unit* context) noexcept { return weft_unit_resume(context); }

}   // extern "C"
