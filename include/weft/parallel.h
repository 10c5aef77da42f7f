/* Lazy fork-join: two branches, of which the second may be taken by another stream.
 *
 * Where nobody takes it, the second branch is a call like any other, and no unit is made for it: a
 * fork is two stores, and its join a comparison. So a program may fork wherever two things may be
 * done at once, however small they are. The algorithm is that of Frigo, Leiserson and Randall, "The
 * implementation of the Cilk-5 multithreaded language", 1998 (work first: the thief pays), with the
 * split deque of van Dijk and van de Pol, "Lace: non-blocking split deque for work-stealing", 2014
 * (what is not shared needs no fence). In C++: weft::invoke in <weft/parallel.hpp>. */
#ifndef WEFT_PARALLEL_H
#define WEFT_PARALLEL_H

#include <weft/status.h>

WEFT_BEGIN

/** Runs f(f_argument) and g(g_argument), and returns when both have ended. The caller runs f. When
 * it has done so and nobody has taken g, it calls g, on the same stack and as the same unit;
 * otherwise another stream runs g as a unit of its own, with a stack as large as the caller's (the
 * default, where the caller is the primary unit), and the caller waits for its end.
 *
 * f, g     required; they may call weft_invoke in their turn, as deep as the stack allows
 *
 * Returns WEFT_OK, or WEFT_INVALID (a null f or g): then neither has been called. From anywhere. In
 * a ULT it may switch: before g is called, after it, and wherever f and g do. A tasklet that waits
 * for a g that was taken makes other tasklets' branches its own meanwhile, or its OS thread sleeps;
 * a g of a tasklet runs as a tasklet, so it can suspend no more than f can. In a scheduler, in an
 * OS thread that is no stream, in a unit of a pool for which it was promised that one alone pushes
 * to it, nobody takes g: it is called after f. Not in a function that is called while a unit is
 * being suspended (weft_unit_suspend).
 *
 * g is offered to other streams when one of them has asked for work, at the caller's next fork or
 * when it leaves its stream: a g that was left before the others ran out of work stays the caller's
 * as long as f neither forks nor waits. Nobody may count on f and g running at once: f must not
 * wait for what only g does. g has the priority of the settings' default, no name of its own, and
 * may run on any stream, also where the caller is bound to one. Between the fork and the join the
 * unit does not end: weft_unit_exit in f, or in a g that was taken, returns WEFT_WRONG_STATE, and
 * weft_unit_cancel acts at the first yield or suspension after the join. Since 0.4. */
WEFT_API weft_status weft_invoke(void (*f)(void *argument), void *f_argument, void (*g)(void *argument),
                                 void *g_argument) WEFT_NOTHROW;

WEFT_END

#endif
