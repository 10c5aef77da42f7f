/* Weft's C interface, in reading order. Declares nothing itself.
 *
 * Conventions of all these headers; tools/contracts.py checks those that a script can check.
 *
 * Calls
 *  1. A call that can fail returns a weft_status; results come through pointers and are written
 *     only when the status says that there is one.
 *  2. The name is weft_SUBJECT_VERB. The subject comes first among the arguments, the outputs come
 *     last; a buffer is followed by its size.
 *  3. What an object is asked for is weft_SUBJECT_PROPERTY_get(object, &value), and set by
 *     weft_SUBJECT_PROPERTY_set. What has no subject (the caller's own, the process's) is returned
 *     by value, as by weft_unit_self and weft_stream_count.
 *  4. A call that waits has a twin, _until, whose last input is a deadline: a time of the clock of
 *     weft_now_ns, and never a timeout. The twin returns WEFT_TIMED_OUT when the deadline came
 *     first. _try_ and _test do not wait, and return WEFT_BUSY.
 *  5. "May switch" says that the calling unit may be suspended and continue on another OS thread:
 *     what was read from thread-local memory before the call is stale after it.
 *  6. No exception leaves a call.
 *
 * Objects
 *  7. Handles are opaque pointers. A required handle that is null is WEFT_INVALID in every build; a
 *     handle of something that was freed is undefined, and stops the process in checked builds.
 *  8. _create makes an object, _free frees it; _free never waits, and returns WEFT_BUSY while the
 *     object is in use. What waits first is _join_free.
 *  9. _init begins an object in memory of the caller's, which need not be destroyed. _register and
 *     _unregister say from when to when the library calls a function.
 * 10. Structures that the caller fills begin with `size`, set to their sizeof; zero means the
 *     default. _with takes options.
 * 11. Sizes are in bytes, times in nanoseconds, and their names say so.
 *
 * What only runtimes that embed Weft need is in <weft/embed/>: who calls, without a call (here.h),
 * jobs of forks (job.h), hosted units (hosted.h). */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include <weft/arena.h>
#include <weft/domain.h>
#include <weft/guest.h>
#include <weft/hart.h>
#include <weft/io.h>
#include <weft/local.h>
#include <weft/parallel.h>
#include <weft/pool.h>
#include <weft/runtime.h>
#include <weft/sched.h>
#include <weft/spmd.h>
#include <weft/status.h>
#include <weft/stream.h>
#include <weft/sync.h>
#include <weft/trace.h>
#include <weft/unit.h>
#include <weft/version.h>

#endif
