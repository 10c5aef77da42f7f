// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Domains in C++: parallel libraries that share the process's harts. <weft/domain.h> documents what
// each call does and when it may be made. The template `registered` fills in the C table.
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

/** A reference to a domain; it owns nothing. Copying it copies the pointer. */
class domain_ref {
public:
    /** No domain: the base. */
    constexpr domain_ref() noexcept = default;
    /** The domain behind a handle of the C interface. */
    constexpr domain_ref(weft_domain* handle) noexcept : handle_(handle) {}   // NOLINT: meant to convert

    /** The handle, for calls of the C interface. */
    constexpr weft_domain* native_handle() const noexcept { return handle_; }
    /** Whether this refers to a domain other than the base. */
    explicit constexpr operator bool() const noexcept { return handle_ != nullptr; }
    /** Whether both are the same domain. */
    friend constexpr bool operator==(domain_ref, domain_ref) noexcept = default;

    /** Requests `delta` harts more than before, or fewer when `delta` is negative; see
     * weft_domain_request. */
    void request(std::ptrdiff_t delta) const { check(weft_domain_request(handle_, delta)); }
    /** How many harts the domain is asked to give back. */
    std::uint32_t wanted() const noexcept { return __atomic_load_n(weft_domain_wanted(handle_), __ATOMIC_RELAXED); }
    /** Whether any claimant lacks a hart. A hart of the domain that only searches for work
     * is to be given up then; see weft_domain_lacked. */
    bool lacked() const noexcept { return __atomic_load_n(weft_domain_lacked(handle_), __ATOMIC_RELAXED) != 0; }
    /** Asks this domain, a child of the caller's domain, to give back `harts` of its harts. */
    void ask_back(std::uint32_t harts) const { check(weft_domain_ask_back(handle_, harts)); }
    /** Declares that this domain lasts as long as the runtime, and that others may be created below
     * it; see weft_domain_lasting_set. */
    void set_lasting() const { check(weft_domain_lasting_set(handle_)); }
    /** Whether it was declared so. */
    bool lasting() const {
        bool lasting = false;
        check(weft_domain_lasting_get(handle_, &lasting));
        return lasting;
    }
    /** The domain's parent. */
    domain_ref parent() const {
        weft_domain* parent = nullptr;
        check(weft_domain_parent_get(handle_, &parent));
        return parent;
    }

private:
    weft_domain* handle_ = nullptr;
};

namespace this_hart {

/** The domain whose hart the caller has. */
inline domain_ref domain() noexcept { return weft_domain_self(); }

/** The hart goes to `child`. This and the following functions are decisions: they are called in a
 * domain's `enter` and in the function that pause() calls; see <weft/domain.h>. */
inline void enter(domain_ref child) { check(weft_domain_enter(child.native_handle())); }
/** `enter` is called again. */
inline void reenter() { check(weft_domain_reenter()); }
/** The hart goes back to the parent. */
inline void yield() { check(weft_domain_yield()); }
/** The hart continues in the domain on an OS thread that belongs to no guest. */
inline void pass() { check(weft_domain_pass()); }
/** Continues a context that was unblocked, or has paused. */
inline void resume(unit_ref context) { check(weft_context_resume(context.native_handle())); }
/** Starts a context at body(argument). */
inline void run(unit_ref context, void (*body)(void*), void* argument) {
    check(weft_context_run(context.native_handle(), body, argument));
}

}   // namespace this_hart

/** What a type needs to be a domain: the functions of weft_domain_ops as member functions that do
 * not throw. The functions that concern children are optional, and so is `block`. */
template <class T>
concept domain_type = requires(T& domain, unit_ref context) {
    { domain.enter() }
    noexcept;
    { domain.unblock(context) }
    noexcept;
};

/** Registers a domain for the lifetime of this object, by the ULT that constructs it; see
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
    /** Unregisters the domain, and waits until each of its harts is back. */
    ~registered() { weft_domain_unregister(handle_); }

    /** The domain. */
    domain_ref get() const noexcept { return handle_; }

private:
    weft_domain* handle_ = nullptr;
};

/** A context of the domain whose hart the constructing caller has. The context must have ended
 * before this object is destroyed, which frees the context. */
class context {
public:
    /** `stack_bytes` 0: the default; otherwise at least WEFT_STACK_LEAST. Throws an error. */
    [[gnu::always_inline]] explicit context(std::size_t stack_bytes = 0) {
        check(weft_context_create(nullptr, stack_bytes, &handle_));
    }
    /** Takes the context; `other` is left with none. */
    context(context&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    /** Exchanges the two contexts. */
    context& operator=(context&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~context() {
        if (handle_ == nullptr) return;
        weft_unit_join(handle_);
        weft_unit_free(handle_);
    }

    /** The context as a unit. */
    unit_ref get() const noexcept { return handle_; }
    /** Waits until it has ended. */
    void join() const { check(weft_unit_join(handle_)); }

private:
    weft_unit* handle_ = nullptr;
};

/** Pauses the calling context: publish(context) is called on the transition stack and may decide
 * what the hart does next; see weft_context_pause. `publish` must not throw. */
template <class Publish>
requires std::invocable<Publish&, unit_ref>
void pause(Publish publish) {
    check(weft_context_pause(
        [](weft_unit* context, void* raw) {
            // Moved off the context's stack: once the context is published, any thread may resume
            // it and so reuse the stack that holds the original.
            Publish call = std::move(*static_cast<Publish*>(raw));
            call(unit_ref(context));
        },
        std::addressof(publish)));
}

/** Calls f() in `count` contexts at once, and returns when all calls have returned; see weft_spmd.
 * f must not throw. */
template <class F>
requires std::invocable<F&>
void spmd(std::size_t count, F&& f) {
    using Function = std::remove_reference_t<F>;
    check(weft_spmd(
        count, [](void* raw) { std::invoke(*static_cast<Function*>(raw)); },
        const_cast<void*>(static_cast<const void*>(std::addressof(f)))));
}

/** The caller's number among the members of its spmd; SIZE_MAX when it is not a member. */
inline std::size_t spmd_tid() noexcept { return weft_spmd_member(); }

}   // namespace v0
}   // namespace weft
