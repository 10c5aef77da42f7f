// Domains in C++: parallel libraries that share the process's harts. <weft/domain.h> tells what
// each call does and when it may be made. The template writes the C table.
#pragma once

#include <weft/language.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include <weft/domain.h>
#include <weft/spmd.h>
#include <weft/status.hpp>
#include <weft/unit.hpp>

namespace weft {
inline namespace v0 {

/** A domain that somebody else owns. Copying it copies the pointer. */
class domain_ref {
public:
    /** No domain: the base. */
    constexpr domain_ref() noexcept = default;
    /** The domain behind a handle of the C interface. */
    constexpr domain_ref(weft_domain* handle) noexcept : handle_(handle) {}   // NOLINT: meant to convert

    /** The handle, for calls of the C interface. */
    constexpr weft_domain* native_handle() const noexcept { return handle_; }
    /** Whether it is one, and not the base. */
    explicit constexpr operator bool() const noexcept { return handle_ != nullptr; }
    /** Whether both are the same domain. */
    friend constexpr bool operator==(domain_ref, domain_ref) noexcept = default;

    /** Wants so many harts more than before, or fewer; see weft_domain_request. */
    void request(std::ptrdiff_t delta) const { check(weft_domain_request(handle_, delta)); }
    /** How many harts it is asked to give back. */
    std::uint32_t wanted() const noexcept { return __atomic_load_n(weft_domain_wanted(handle_), __ATOMIC_RELAXED); }
    /** Whether somebody lacks a hart: then nobody looks for something to do. */
    bool lacked() const noexcept { return __atomic_load_n(weft_domain_lacked(handle_), __ATOMIC_RELAXED) != 0; }
    /** Asks it, a child, for so many of its harts. */
    void ask_back(std::uint32_t harts) const { check(weft_domain_ask_back(handle_, harts)); }
    /** The domain above. */
    domain_ref parent() const {
        weft_domain* parent = nullptr;
        check(weft_domain_parent_get(handle_, &parent));
        return parent;
    }

private:
    weft_domain* handle_ = nullptr;
};

namespace this_hart {

/** The domain that has the hart of the caller. */
inline domain_ref domain() noexcept { return weft_domain_self(); }

/** Decisions, in a domain's `enter` and in what pause() calls; see <weft/domain.h>. */
inline void enter(domain_ref child) { check(weft_domain_enter(child.native_handle())); }
/** `enter` is called again. */
inline void reenter() { check(weft_domain_reenter()); }
/** The hart goes back to the parent. */
inline void yield() { check(weft_domain_yield()); }
/** The hart goes on in the domain with an OS thread that is no guest's. */
inline void pass() { check(weft_domain_pass()); }
/** Goes on with a context that was unblocked, or has paused. */
inline void resume(unit_ref context) { check(weft_context_resume(context.native_handle())); }
/** Starts a context at body(argument). */
inline void run(unit_ref context, void (*body)(void*), void* argument) {
    check(weft_context_run(context.native_handle(), body, argument));
}

}   // namespace this_hart

/** What a type needs to be a domain: what weft_domain_ops has, as member functions that do not
 * throw. Those that concern children are optional, and so is block. */
template <class T>
concept domain_type = requires(T& domain, unit_ref context) {
    { domain.enter() }
    noexcept;
    { domain.unblock(context) }
    noexcept;
};

/** Registers a domain for the time of its life, by the ULT that makes it; see
 * weft_domain_register. */
template <domain_type T>
class registered {
public:
    /** Registers `domain`, which must outlive this. Throws an error. */
    explicit registered(T& domain) {
        weft_domain_ops ops{};
        ops.size = sizeof ops;
        ops.enter = [](void* self) { static_cast<T*>(self)->enter(); };
        ops.unblock = [](void* self, weft_unit* context) { static_cast<T*>(self)->unblock(unit_ref(context)); };
        if constexpr (requires(T & of, domain_ref child) { of.child_registered(child); }) {
            ops.child_registered = [](void* self, weft_domain* child) {
                static_cast<T*>(self)->child_registered(domain_ref(child));
            };
        }
        if constexpr (requires(T & of, domain_ref child) { of.child_unregistered(child); }) {
            ops.child_unregistered = [](void* self, weft_domain* child) {
                static_cast<T*>(self)->child_unregistered(domain_ref(child));
            };
        }
        if constexpr (requires(T & of, domain_ref child, std::ptrdiff_t delta) { of.child_requested(child, delta); }) {
            ops.child_requested = [](void* self, weft_domain* child, std::ptrdiff_t delta) {
                static_cast<T*>(self)->child_requested(domain_ref(child), delta);
            };
        }
        if constexpr (requires(T & of, domain_ref child) { of.child_returned(child); }) {
            ops.child_returned = [](void* self, weft_domain* child) {
                static_cast<T*>(self)->child_returned(domain_ref(child));
            };
        }
        if constexpr (requires(T & of, unit_ref context) { of.block(context); }) {
            ops.block = [](void* self, weft_unit* context) { static_cast<T*>(self)->block(unit_ref(context)); };
        }
        check(weft_domain_register(&ops, std::addressof(domain), &handle_));
    }
    registered(const registered&) = delete;
    registered& operator=(const registered&) = delete;
    /** Unregisters it, and waits until every hart of it is back. */
    ~registered() { weft_domain_unregister(handle_); }

    /** The domain. */
    domain_ref get() const noexcept { return handle_; }

private:
    weft_domain* handle_ = nullptr;
};

/** A context of the domain whose hart makes it, freed with this object, before which it has
 * ended. */
class context {
public:
    /** `stack_bytes` 0: the default; otherwise at least WEFT_STACK_LEAST. Throws an error. */
    [[gnu::always_inline]] explicit context(std::size_t stack_bytes = 0) {
        check(weft_context_create(nullptr, stack_bytes, &handle_));
    }
    /** Takes the context; `other` is left with none. */
    context(context&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    /** Changes places with `other`. */
    context& operator=(context&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~context() {
        if (handle_ == nullptr) return;
        weft_unit_join(handle_);
        weft_unit_free(handle_);
    }

    /** It as a unit. */
    unit_ref get() const noexcept { return handle_; }
    /** Waits until it has ended. */
    void join() const { check(weft_unit_join(handle_)); }

private:
    weft_unit* handle_ = nullptr;
};

/** Pauses the calling context: publish(context) is called on the transition stack and may decide
 * what the hart does next; see weft_context_pause. It must not throw. */
template <class Publish>
requires std::invocable<Publish&, unit_ref>
void pause(Publish publish) {
    check(weft_context_pause(
        [](weft_unit* context, void* raw) {
            // Moved: anybody may resume the context, whose stack has the original, once it is
            // published.
            Publish call = std::move(*static_cast<Publish*>(raw));
            call(unit_ref(context));
        },
        std::addressof(publish)));
}

/** Calls f() on `count` contexts at once, and returns when all have returned; see weft_spmd. f must
 * not throw. */
template <class F>
requires std::invocable<F&>
void spmd(std::size_t count, F&& f) {
    using Function = std::remove_reference_t<F>;
    check(weft_spmd(
        count, [](void* raw) { std::invoke(*static_cast<Function*>(raw)); },
        const_cast<void*>(static_cast<const void*>(std::addressof(f)))));
}

/** The caller's number in its spmd, or the largest number there is. */
inline std::size_t spmd_tid() noexcept { return weft_spmd_member(); }

}   // namespace v0
}   // namespace weft
