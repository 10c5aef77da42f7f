/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Domains: parallel libraries that share the process's harts. Each is a claim on harts. Domains
 * form a tree, and each lends harts to the domains below it, never to those beside it. The
 * interface is that of Lithe (Pan, Hindman, Asanovic, PLDI 2010, section 3 and Table 1); where Weft
 * differs from it, the call says so.
 *
 * A library registers a domain when it begins a parallel part, and unregisters it at the part's
 * end. In between it requests harts (weft_domain_request). A hart that is lent to it arrives in its
 * `enter`, which decides what the hart does next: it runs or resumes one of the domain's contexts,
 * goes on to a child, or goes back to the parent. At the top of the tree is the base, which has all
 * unused harts.
 *
 * A context carries the domain's work: it is a ULT that belongs to the domain instead of a pool. It
 * may wait for anything that a ULT may wait for (sync.h): it waits, and the hart comes back to
 * `enter`. When the context can continue, the domain's `unblock` is called, whatever woke it. A
 * domain's harts run only its contexts: a ULT of a pool that a context switches to by name
 * (weft_unit_yield_to and the like), or spawns child-first, goes to that pool instead.
 *
 * Callbacks are called on one of the hart's stacks, the transition stack (Lithe, section 4.1), of
 * which they may use 8 KiB; they must not wait, switch or throw. Callbacks that concern children
 * and contexts (unblock, child_requested) may be called by any hart or OS thread, also at the same
 * time. */
#ifndef WEFT_DOMAIN_H
#define WEFT_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/pool.h>
#include <weft/unit.h>

WEFT_BEGIN

/** A domain: opaque. Since 0.6. */
typedef struct weft_domain weft_domain;

/** The functions of a domain. `self` is the pointer given to weft_domain_register. */
typedef struct weft_domain_ops {
    size_t size; /**< sizeof(weft_domain_ops) when the caller was compiled */
    /** A hart is here: lent by the parent, given back by a child, or back from a context that has
     * ended or waits. `enter` decides what the hart does once it returns, by one of
     * weft_context_run, weft_context_resume, weft_domain_enter, weft_domain_reenter,
     * weft_domain_yield and weft_domain_pass. Without a decision the hart goes back to the
     * parent. */
    void (*enter)(void *self);
    /** A context of the domain can continue: keep it, to be resumed in some `enter`, and request a
     * hart if there may be none. The context never runs here. A context that `enter` has chosen
     * comes here once more where the hart is on a guest's OS thread, and that guest can itself
     * continue by then (weft_guest_awaited). */
    void (*unblock)(void *self, weft_unit *context);
    /** A child has registered. May be NULL, like all members that follow. */
    void (*child_registered)(void *self, weft_domain *child);
    /** A child is about to be gone: its handle is invalid when this returns. */
    void (*child_unregistered)(void *self, weft_domain *child);
    /** A child wants `delta` harts more than before, or fewer. Keep the sum; deltas commute.
     *
     * When this member is NULL, the request goes on to this domain's parent, in this domain's name,
     * and the runtime lends harts to the children by itself, in turn, unless this domain is asked
     * to give harts back: it does so whenever a hart would go up, and now and then (each sixteenth
     * time) instead of a call of `enter`. Likewise a hart now and then comes up from a child
     * without a call of that child's `enter`, so that contexts that yield keep no other work
     * waiting. */
    void (*child_requested)(void *self, weft_domain *child, ptrdiff_t delta);
    /** A child gives a hart back: a notification only; the hart itself arrives in `enter`. */
    void (*child_returned)(void *self, weft_domain *child);
    /** A context is about to wait in a call of Weft, or to suspend (Lithe: ctx_block): a
     * notification, on the context's stack. `unblock` is called for it afterwards, once, perhaps at
     * once and by another thread; the hart arrives in `enter`. Not called for yields, nor for
     * weft_context_pause. The object that the context waits for may be locked meanwhile: `block`
     * must call nothing but weft_domain_request, and must take no lock under which other threads of
     * the library use objects that contexts wait for. */
    void (*block)(void *self, weft_unit *context);
    /** For created domains (weft_domain_create): the runtime ends, and the domain with it. Called
     * by the last weft_finalize, when the domain's contexts are gone and their values are released;
     * it must not spawn. Since 0.6. */
    void (*ended)(void *self);
    /** Whether a suspended context has nothing to do, and only waits for more work: the last
     * weft_finalize does not count such a context among the units that never continue. Called by
     * that weft_finalize, when nothing of the runtime runs any more, for domains that
     * weft_domain_create has made; it must call nothing of Weft except the getters of the context's
     * state, site and data. Since 0.6. */
    bool (*idle)(void *self, const weft_unit *context);
} weft_domain_ops;

/** Registers a domain below the one that the caller is a context of, or below the base. The calling
 * ULT belongs to the new domain from now on, and so does the hart that it runs on, until it
 * unregisters the domain (Lithe: sched_register).
 *
 * ops     required, and so are its enter and unblock; copied
 * domain  required; receives the domain
 *
 * An OS thread outside of Weft enters (guest.h), and leaves when it unregisters the domain.
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NO_MEMORY, WEFT_WRONG_CONTEXT (the caller is a tasklet or a
 * scheduler), or a status of weft_guest_enter. Does not switch. Since 0.6. */
WEFT_API weft_status weft_domain_register(const weft_domain_ops *ops, void *self, weft_domain **domain) WEFT_NOTHROW;

/** Creates a domain below the base that no ULT has registered: no ULT is in it, and no hart is lent
 * to it before it requests one. Its contexts are the units that are spawned into its pool, from
 * anywhere. It lasts as long as the runtime. For a library whose threads outlive all its parallel
 * parts, and that has no ULT of its own to stay in a domain.
 *
 * ops     as in weft_domain_register
 * domain  required; receives the domain
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NO_MEMORY, WEFT_NOT_INITIALIZED (no runtime runs;
 * weft_guest_enter starts one). From anywhere; never switches. Since 0.6. */
WEFT_API weft_status weft_domain_create(const weft_domain_ops *ops, void *self, weft_domain **domain) WEFT_NOTHROW;

/** Declares that the domain lasts as long as the runtime, and that the parallel libraries that its
 * contexts call may have lasting domains below it (weft_domain_create_in), to which it lends harts.
 * For a domain of weft_domain_create or weft_domain_create_in, of a library whose contexts run the
 * program's code. A library that is called there serves the call on harts that are in the domain
 * already, and harts that the callers leave while they wait need not go through the base.
 *
 * Returns WEFT_OK, WEFT_INVALID (a ULT has registered the domain, and may unregister it). From
 * anywhere; never switches. Since 0.7. */
WEFT_API weft_status weft_domain_lasting_set(weft_domain *domain) WEFT_NOTHROW;

/** Whether weft_domain_lasting_set has been called for the domain.
 *
 * lasting  required; receives the answer
 *
 * Returns WEFT_OK or WEFT_INVALID. From anywhere; never switches. Since 0.7. */
WEFT_API weft_status weft_domain_lasting_get(const weft_domain *domain, bool *lasting) WEFT_NOTHROW;

/** Creates a domain as weft_domain_create does, below a domain that lasts
 * (weft_domain_lasting_set). `child_registered` of that domain is called.
 *
 * parent  NULL: the base, as in weft_domain_create
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NO_MEMORY, WEFT_NOT_INITIALIZED, WEFT_WRONG_STATE (the parent
 * has not been declared to last). From anywhere but callbacks of domains; never switches. Since
 * 0.7. */
WEFT_API weft_status weft_domain_create_in(weft_domain *parent, const weft_domain_ops *ops, void *self,
                                           weft_domain **domain) WEFT_NOTHROW;

/** The pool of the domain's contexts: a unit that is spawned there is a context, and is announced
 * by `unblock`. Returns WEFT_OK or WEFT_INVALID. From anywhere; never switches. Since 0.6. */
WEFT_API weft_status weft_domain_pool_get(const weft_domain *domain, weft_pool **pool) WEFT_NOTHROW;

/** Unregisters a domain, by the ULT that has registered it, and returns when every hart of the
 * domain is back with the parent (Lithe: sched_unregister). No context may be left that would be
 * unblocked later, and no child. Open requests of the domain are withdrawn; harts that have already
 * been granted still arrive, and must go back. The handle is invalid afterwards.
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_CONTEXT (the caller has not registered it), WEFT_BUSY
 * (it has children). May switch. Since 0.6. */
WEFT_API weft_status weft_domain_unregister(weft_domain *domain) WEFT_NOTHROW;

/** The domain whose hart the caller has; NULL: the hart is the base's, or the caller has none. From
 * anywhere; never switches. Since 0.6. */
WEFT_API weft_domain *weft_domain_self(void) WEFT_NOTHROW;

/** The `self` given to weft_domain_register. Returns WEFT_OK or WEFT_INVALID. From anywhere;
 * never switches. Since 0.6. */
WEFT_API weft_status weft_domain_data_get(const weft_domain *domain, void **data) WEFT_NOTHROW;

/** The domain above, or NULL: the base. Returns WEFT_OK or WEFT_INVALID. From anywhere; never
 * switches. Since 0.6. */
WEFT_API weft_status weft_domain_parent_get(const weft_domain *domain, weft_domain **parent) WEFT_NOTHROW;

/** Requests `delta` harts more than before, or fewer (Lithe: sched_request; signed, so that
 * requests commute and can be cancelled). The sum is how many harts the domain could use at once,
 * including those that it has; the one that it was registered with counts as requested. A domain
 * that gives a hart back unasked has nothing to do, and is lent no other until it requests 0 or
 * more harts (a request for fewer does not count), or one of its contexts is unblocked.
 *
 * Returns WEFT_OK, WEFT_INVALID. From anywhere; never switches. Since 0.6. */
WEFT_API weft_status weft_domain_request(weft_domain *domain, ptrdiff_t delta) WEFT_NOTHROW;

/** The number of harts that the domain is asked to give back, as a word that may be read at any
 * time, by an atomic load of any order: a domain that checks it gives that many back, by
 * weft_domain_yield, at the next points where it can. Valid while the domain is registered. Since
 * 0.6. */
WEFT_API const uint32_t *weft_domain_wanted(const weft_domain *domain) WEFT_NOTHROW;

/** Whether a claimant lacks a hart that it has a claim to, or has none and wants one: the word is
 * not 0 then, also before a hart is asked back for that claimant, which happens when a turn is over
 * (WEFT_SLICE_NS). The word may be read like that of weft_domain_wanted. Code that only polls for
 * something to do on a hart of the domain should release the hart then, so that no hart spins while
 * another claimant wants it. The word is the same for all domains that one runtime lends to, and
 * for NULL. Valid while the domain is registered; for NULL, while the runtime runs (0 where there
 * is none). Since 0.6. */
WEFT_API const uint32_t *weft_domain_lacked(const weft_domain *domain) WEFT_NOTHROW;

/** Sets the weight of a domain that no other domain lends to, where harts are shared by weights
 * (WEFT_HART_WEIGHTED). Every claimant's weight is 1 until it is set.
 *
 * domain  NULL: the streams of the application, together
 *
 * Returns WEFT_OK, WEFT_INVALID (a weight of 0; or the domain has a parent, which shares harts as
 * it likes), WEFT_NOT_INITIALIZED. From anywhere; never switches. Since 0.6. */
WEFT_API weft_status weft_domain_weight_set(weft_domain *domain, unsigned weight) WEFT_NOTHROW;

/** A parent asks a child to give back `harts` of its harts; 0 withdraws that. Returns WEFT_OK,
 * WEFT_INVALID. From one of the parent's callbacks; never switches. Since 0.6. */
WEFT_API weft_status weft_domain_ask_back(weft_domain *child, uint32_t harts) WEFT_NOTHROW;

/* ---- decisions: in `enter`, and in weft_context_pause's `publish` -------------------------------
 *
 * They return WEFT_OK; WEFT_WRONG_CONTEXT (there is nothing to decide here), WEFT_WRONG_STATE (a
 * decision has been made already, or it is not possible for this context), WEFT_INVALID. They take
 * effect when the callback has returned (in Lithe they do not return). */

/** The hart goes to a child (Lithe: sched_enter). If `child` is no child, or has been unregistered
 * meanwhile, `enter` is called again instead. Since 0.6. */
WEFT_API weft_status weft_domain_enter(weft_domain *child) WEFT_NOTHROW;

/** `enter` is called again (Lithe: sched_reenter). Since 0.6. */
WEFT_API weft_status weft_domain_reenter(void) WEFT_NOTHROW;

/** The hart goes back to the parent (Lithe: sched_yield). Since 0.6. */
WEFT_API weft_status weft_domain_yield(void) WEFT_NOTHROW;

/** The hart stays in the domain but moves to one of the runtime's OS threads, where `enter` is
 * called. For a hart that has arrived on the OS thread of a waiting guest (weft_guest_here), when
 * the context whose turn it is might block in the kernel, or spin, until that guest does something.
 * Only its own OS thread can continue the guest, so a context that waits for it on that thread
 * would wait forever. Costs a wake-up by the kernel.
 *
 * Besides the statuses of all decisions: WEFT_WRONG_STATE (one of the runtime's OS threads has the
 * hart already), WEFT_SYSTEM (there is no such OS thread, and the kernel starts none). With either
 * nothing has been decided, and a context that the hart does not run here may have to wait until
 * the guest continues. Since 0.6. */
WEFT_API weft_status weft_domain_pass(void) WEFT_NOTHROW;

/** Starts a context, which is new or has ended, at body(argument) (Lithe: ctx_run). Since 0.6. */
WEFT_API weft_status weft_context_run(weft_unit *context, void (*body)(void *), void *argument) WEFT_NOTHROW;

/** Resumes a context that `unblock` has announced to the domain, or that has paused or suspended
 * itself (weft_unit_suspend) and has not been resumed (Lithe: ctx_resume). So a library whose
 * contexts wait for each other can keep lists of them, and hand over a whole list at once; it must
 * then call weft_domain_request, since no `unblock` announces that there is something to do. Since
 * 0.6. */
WEFT_API weft_status weft_context_resume(weft_unit *context) WEFT_NOTHROW;

/* ---- contexts -------------------------------------------------------------------------------- */

/** Creates a context of the domain whose hart the caller has. It can be queried, joined and freed
 * like any unit (unit.h).
 *
 * stack        the domain's own memory for its stack, stack_bytes long, or NULL: the library's
 *              memory, of that size (0: the default; otherwise at least WEFT_STACK_LEAST)
 * context      required; receives the context. weft_unit_free, once it has ended, is Lithe's
 *              ctx_fini
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NO_MEMORY, WEFT_WRONG_CONTEXT (the caller is not on a
 * domain's hart). Never switches. Since 0.6. */
WEFT_API weft_status weft_context_create(void *stack, size_t stack_bytes, weft_unit **context) WEFT_NOTHROW;

/** Pauses the calling context: `publish` is called with it on the transition stack, and decides
 * what the hart does next; without a decision `enter` is called. The context continues by
 * weft_context_resume, or after weft_context_unblock (Lithe: ctx_pause).
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_CONTEXT (not a ULT on a domain's hart),
 * WEFT_WRONG_KIND. Switches. Since 0.6. */
WEFT_API weft_status weft_context_pause(void (*publish)(weft_unit *context, void *argument),
                                        void *argument) WEFT_NOTHROW;

/** Suspends the calling context, as weft_unit_suspend does, in favour of another context of the
 * domain, which runs at once, without a call of `enter` for the hart. For contexts that hand a hart
 * on among themselves. They must still let the hart come to `enter` now and then, and when the
 * domain is asked to give harts back (weft_domain_wanted): children have their turns there, and so
 * have other units of the hart's stream.
 *
 * next     a context that weft_context_resume could resume. Where the hart is taken away before it
 *          begins, it does not run here, and comes to `unblock`
 * publish  required; called as publish(context, argument) once the caller's stack is no longer in
 *          use: see weft_unit_suspend
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_CONTEXT (not a ULT on a domain's hart),
 * WEFT_WRONG_KIND, WEFT_WRONG_STATE (`next` cannot continue): then nothing has happened. Switches.
 * Since 0.6. */
WEFT_API weft_status weft_context_suspend_to(weft_unit *next, void (*publish)(weft_unit *context, void *argument),
                                             void *argument) WEFT_NOTHROW;

/** Announces that a paused context can continue: its own domain's `unblock` is called, whichever
 * thread or unit calls this (Lithe: ctx_unblock).
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (it has not paused). From anywhere; never
 * switches. Since 0.6. */
WEFT_API weft_status weft_context_unblock(weft_unit *context) WEFT_NOTHROW;

WEFT_END

#endif
