/* Domains: parallel libraries that share the process's harts. Each is a claim on harts; domains
 * form a tree, and each lends harts to those below it, never to those beside it. The interface is
 * that of Lithe (Pan, Hindman, Asanovic, PLDI 2010, section 3 and Table 1); where Weft differs from
 * it, the call says so.
 *
 * A library registers a domain when it begins a parallel part, and unregisters it at the part's
 * end. In between it asks for harts (weft_domain_request). A hart that it is lent arrives in its
 * `enter`, which decides what the hart does next: it runs or resumes one of the domain's contexts,
 * goes on to a child, or goes back to the parent. At the top of the tree is the base, which has all
 * harts that nobody uses.
 *
 * A context is what the domain's work stands on: a ULT that belongs to the domain instead of a
 * pool. What it may wait for is what any ULT may (sync.h): it waits, and the hart comes back to
 * `enter`. When it can go on, the domain's `unblock` is told, whoever woke it. A domain's harts run
 * its contexts and nothing else: a ULT of some pool that a context leaves for by its name
 * (weft_unit_yield_to and the like), or spawns child-first, goes to that pool instead.
 *
 * Callbacks are made on a stack of the hart's, the transition stack (Lithe, section 4.1), of which
 * they may use 8 KiB; they must not wait, switch or throw. Those that concern children and contexts
 * (unblock, child_requested) may be made by any hart or OS thread, also at the same time. */
#ifndef WEFT_DOMAIN_H
#define WEFT_DOMAIN_H

#include <stddef.h>
#include <stdint.h>

#include <weft/pool.h>
#include <weft/unit.h>

WEFT_BEGIN

/** A domain: opaque. Since 0.6. */
typedef struct weft_domain weft_domain;

/** What a domain is made of. `self` is what weft_domain_register was given. */
typedef struct weft_domain_ops {
    size_t size; /**< sizeof(weft_domain_ops) when the caller was compiled */
    /** A hart is here: lent by the parent, given back by a child, or back from a context that has
     * ended or waits. To be decided, by one of weft_context_run, weft_context_resume,
     * weft_domain_enter, weft_domain_reenter, weft_domain_yield and weft_domain_pass: what becomes
     * of the hart once this returns. Without a decision it goes back to the parent. */
    void (*enter)(void *self);
    /** A context of the domain can go on: keep it, to be resumed in some `enter`, and ask for a
     * hart if there may be none. It never runs here. One that `enter` has chosen comes once more
     * where the hart is on a guest's OS thread, and that guest can go on by then
     * (weft_guest_awaited). */
    void (*unblock)(void *self, weft_unit *context);
    /** A child has registered, or is about to be gone: its handle is none when this returns. May be
     * NULL, as all that follow. */
    void (*child_registered)(void *self, weft_domain *child);
    void (*child_unregistered)(void *self, weft_domain *child); /**< as above */
    /** A child wants `delta` harts more than before, or fewer. Keep the sum; deltas commute. When
     * it is NULL, the request goes on to the parent's parent, in this domain's name, and harts are
     * lent to children by themselves, in turn, unless this domain is asked for harts: whenever one
     * would go up, and now and then (each sixteenth time) instead of coming to `enter`. Likewise
     * now and then one comes up from a child without coming to that child's `enter`, so that
     * contexts that yield keep nobody waiting. */
    void (*child_requested)(void *self, weft_domain *child, ptrdiff_t delta);
    /** A child gives a hart back: a notice; the hart itself comes by `enter`. */
    void (*child_returned)(void *self, weft_domain *child);
    /** A context is about to wait for something of Weft's, or to suspend (Lithe: ctx_block): a
     * notice, on the context's stack. `unblock` is told of it afterwards, once, perhaps at once and
     * by another thread; the hart comes by `enter`. Not told of yields, nor of weft_context_pause.
     * What it waits for may be locked meanwhile: nothing but weft_domain_request is to be called,
     * and no lock taken under which others of the library's touch what contexts wait for. */
    void (*block)(void *self, weft_unit *context);
    /** Of weft_domain_create: the runtime ends, and the domain with it. Called by the last
     * weft_finalize, when its contexts are no more and the values of theirs are released; it must
     * not spawn. Since 0.6. */
    void (*ended)(void *self);
    /** Whether a context that is suspended has nothing to do, and only waits for more: the last
     * weft_finalize does not count it among those that never go on. Asked by that, when nothing of
     * the runtime's runs any more, of domains that weft_domain_create has made; nothing of Weft's
     * is to be called but what asks for the context's state, site and data. Since 0.6. */
    bool (*idle)(void *self, const weft_unit *context);
} weft_domain_ops;

/** Registers a domain below the one that the caller is a context of, or below the base. The calling
 * ULT belongs to it from now on, and so does the hart that it runs on, until it unregisters the
 * domain (Lithe: sched_register).
 *
 * ops     required, with enter and unblock; copied
 * domain  required; receives the domain
 *
 * An OS thread that is outside enters (guest.h), and leaves when it unregisters the domain.
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NO_MEMORY, WEFT_WRONG_CONTEXT (the caller is a tasklet or a
 * scheduler), or what weft_guest_enter returns. Does not switch. Since 0.6. */
WEFT_API weft_status weft_domain_register(const weft_domain_ops *ops, void *self, weft_domain **domain) WEFT_NOTHROW;

/** A domain below the base that no ULT has registered: nobody is in it, and no hart is lent to it
 * before it asks for one. Its contexts are what is spawned into its pool, from anywhere. It lasts
 * as long as the runtime. For a library whose threads outlive all its parallel parts, and that has
 * no ULT of its own to stay in a domain.
 *
 * ops     as weft_domain_register
 * domain  required; receives the domain
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NO_MEMORY, WEFT_NOT_INITIALIZED (no runtime runs;
 * weft_guest_enter starts one). From anywhere; never switches. Since 0.6. */
WEFT_API weft_status weft_domain_create(const weft_domain_ops *ops, void *self, weft_domain **domain) WEFT_NOTHROW;

/** Where the domain's contexts belong: what is spawned there is one, and is told by `unblock`.
 * Returns WEFT_OK or WEFT_INVALID. From anywhere; never switches. Since 0.6. */
WEFT_API weft_status weft_domain_pool_get(const weft_domain *domain, weft_pool **pool) WEFT_NOTHROW;

/** Unregisters a domain, by the ULT that has registered it, and returns when every hart of the
 * domain is back with the parent (Lithe: sched_unregister). No context is to be left that would be
 * unblocked later, and no child. Requests of the domain that are open are taken back; harts that
 * are granted on the way come, and are to go back. The handle is none afterwards.
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_CONTEXT (the caller has not registered it), WEFT_BUSY
 * (it has children). May switch. Since 0.6. */
WEFT_API weft_status weft_domain_unregister(weft_domain *domain) WEFT_NOTHROW;

/** The domain whose hart the caller has, or NULL: the base's, or none. From anywhere; never
 * switches. Since 0.6. */
WEFT_API weft_domain *weft_domain_self(void) WEFT_NOTHROW;

/** What weft_domain_register was given as `self`. Returns WEFT_OK or WEFT_INVALID. From anywhere;
 * never switches. Since 0.6. */
WEFT_API weft_status weft_domain_data_get(const weft_domain *domain, void **data) WEFT_NOTHROW;

/** The domain above, or NULL: the base. Returns WEFT_OK or WEFT_INVALID. From anywhere; never
 * switches. Since 0.6. */
WEFT_API weft_status weft_domain_parent_get(const weft_domain *domain, weft_domain **parent) WEFT_NOTHROW;

/** The domain wants `delta` harts more than before, or fewer (Lithe: sched_request; signed, so that
 * requests commute and can be cancelled). The sum is how many harts it could use at once, those
 * that it has included; the one that it was registered with counts as requested. A domain that
 * gives back a hart that nobody has asked for has nothing to do, and is lent no other until it
 * requests something, be it 0 (fewer is nothing), or one of its contexts is unblocked.
 *
 * Returns WEFT_OK, WEFT_INVALID. From anywhere; never switches. Since 0.6. */
WEFT_API weft_status weft_domain_request(weft_domain *domain, ptrdiff_t delta) WEFT_NOTHROW;

/** How many harts the domain is asked to give back, as a word that may be read at any time, by an
 * atomic load of any order: a domain that looks gives so many back, by weft_domain_yield, at the
 * next points where it can. Valid while the domain is registered. Since 0.6. */
WEFT_API const uint32_t *weft_domain_wanted(const weft_domain *domain) WEFT_NOTHROW;

/** Whether somebody lacks a hart that he has a claim to, or has none and wants one: not 0 then,
 * also before a hart is asked back for it, which happens when a turn is over (WEFT_SLICE_NS). As a
 * word, as weft_domain_wanted. Whoever only looks for something to do on a hart of the domain lets
 * it go then: nobody spins on what somebody else wants. It says the same for all domains that are
 * lent to by one runtime, and for NULL. Valid while the domain is registered; for NULL, while the
 * runtime runs (0 where there is none). Since 0.6. */
WEFT_API const uint32_t *weft_domain_lacked(const weft_domain *domain) WEFT_NOTHROW;

/** How much of the harts is due to a domain that no other lends to, where they are shared by
 * weights (WEFT_HART_WEIGHTED): 1 until it is set, as of everybody.
 *
 * domain  NULL: the streams of the application, together
 *
 * Returns WEFT_OK, WEFT_INVALID (a weight of 0; the domain has a parent, which shares as it likes),
 * WEFT_NOT_INITIALIZED. From anywhere; never switches. Since 0.6. */
WEFT_API weft_status weft_domain_weight_set(weft_domain *domain, unsigned weight) WEFT_NOTHROW;

/** A parent asks a child for so many of its harts; 0: for none any more. Returns WEFT_OK,
 * WEFT_INVALID. From a callback of the parent's; never switches. Since 0.6. */
WEFT_API weft_status weft_domain_ask_back(weft_domain *child, uint32_t harts) WEFT_NOTHROW;

/* ---- decisions: in `enter`, and in what weft_context_pause calls --------------------------------
 *
 * They return WEFT_OK; WEFT_WRONG_CONTEXT (nothing is to be decided here), WEFT_WRONG_STATE (that
 * was decided already, or the context is not one that can), WEFT_INVALID. They take place when the
 * callback has returned (in Lithe they do not return). */

/** The hart goes to a child (Lithe: sched_enter). What is no child, or has been unregistered
 * meanwhile, is passed over: `enter` is called again. Since 0.6. */
WEFT_API weft_status weft_domain_enter(weft_domain *child) WEFT_NOTHROW;

/** `enter` is called again (Lithe: sched_reenter). Since 0.6. */
WEFT_API weft_status weft_domain_reenter(void) WEFT_NOTHROW;

/** The hart goes back to the parent (Lithe: sched_yield). Since 0.6. */
WEFT_API weft_status weft_domain_yield(void) WEFT_NOTHROW;

/** The hart goes on in the domain with an OS thread of the runtime's, where `enter` is called. For
 * a hart that has come on the OS thread of a guest that waits (weft_guest_here), where the context
 * whose turn it is might block in the kernel, or spin, until that guest does something: nobody
 * could help it there, for no other OS thread goes on with a guest. Costs a wake-up by the kernel.
 *
 * Besides what is said above: WEFT_WRONG_STATE (an OS thread of the runtime's has the hart),
 * WEFT_SYSTEM (there is no such OS thread, and the kernel starts none): nothing has been decided
 * then, and what the hart does not run here may have to wait until the guest goes on. Since 0.6. */
WEFT_API weft_status weft_domain_pass(void) WEFT_NOTHROW;

/** Starts a context, which is new or has ended, at body(argument) (Lithe: ctx_run). Since 0.6. */
WEFT_API weft_status weft_context_run(weft_unit *context, void (*body)(void *), void *argument) WEFT_NOTHROW;

/** Goes on with a context that the domain was told of by `unblock`, or that has paused or suspended
 * itself (weft_unit_suspend) and that nobody has resumed (Lithe: ctx_resume). So a library whose
 * contexts wait for each other can keep lists of them, and hand over a whole list at once; a
 * weft_domain_request follows, since no `unblock` says that there is something to do. Since 0.6. */
WEFT_API weft_status weft_context_resume(weft_unit *context) WEFT_NOTHROW;

/* ---- contexts
 * ------------------------------------------------------------------------------------------------------- */

/** A new context of the domain whose hart the caller has. It can be asked, joined and freed as any
 * unit (unit.h).
 *
 * stack        the domain's own memory for its stack, stack_bytes long, or NULL: the library's, of
 *              that size (0: the default; otherwise at least WEFT_STACK_LEAST)
 * context      required; receives it. weft_unit_free, once it has ended, is Lithe's ctx_fini
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NO_MEMORY, WEFT_WRONG_CONTEXT (no domain's hart). Never
 * switches. Since 0.6. */
WEFT_API weft_status weft_context_create(void *stack, size_t stack_bytes, weft_unit **context) WEFT_NOTHROW;

/** Pauses the calling context: on the transition stack `publish` is called with it and decides what
 * the hart does next; without a decision `enter` is called. The context goes on by
 * weft_context_resume, or after weft_context_unblock (Lithe: ctx_pause).
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_CONTEXT (not a ULT on a domain's hart),
 * WEFT_WRONG_KIND. Switches. Since 0.6. */
WEFT_API weft_status weft_context_pause(void (*publish)(weft_unit *context, void *argument),
                                        void *argument) WEFT_NOTHROW;

/** Suspends the calling context, as weft_unit_suspend does, in favour of another one of the domain:
 * that runs at once, without a turn of the hart in `enter`. For contexts that hand a hart on among
 * themselves. They let it come to `enter` now and then all the same, and when the domain is asked
 * to give harts back (weft_domain_wanted): children have their turns there, and other units of the
 * hart's stream.
 *
 * next     a context that weft_context_resume could go on with. It comes to `unblock`, and does not
 *          run here, where the hart is taken away before it begins
 * publish  required; called as publish(context, argument) once the caller's stack has been left:
 *          see weft_unit_suspend
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_CONTEXT (not a ULT on a domain's hart),
 * WEFT_WRONG_KIND, WEFT_WRONG_STATE (`next` cannot go on): then nothing has happened. Switches.
 * Since 0.6. */
WEFT_API weft_status weft_context_suspend_to(weft_unit *next, void (*publish)(weft_unit *context, void *argument),
                                             void *argument) WEFT_NOTHROW;

/** A paused context can go on: its own domain's `unblock` is told, whoever calls (Lithe:
 * ctx_unblock).
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_WRONG_STATE (it has not paused). From anywhere; never
 * switches. Since 0.6. */
WEFT_API weft_status weft_context_unblock(weft_unit *context) WEFT_NOTHROW;

WEFT_END

#endif
