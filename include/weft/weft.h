/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Weft's C interface, in reading order. Declares nothing itself.
 *
 * Conventions of all these headers; tools/contracts.py checks those that a script can check.
 *
 * Calls
 *  1. A call that can fail returns a weft_status; results are written through pointers, and only
 *     when the status says that there is a result.
 *  2. The name is weft_SUBJECT_VERB. The subject comes first among the arguments, the outputs come
 *     last; a buffer is followed by its size.
 *  3. An object's property is read by weft_SUBJECT_PROPERTY_get(object, &value), and set by
 *     weft_SUBJECT_PROPERTY_set. A property without a subject (the caller's own, the process's) is
 *     returned by value, as by weft_unit_self and weft_stream_count.
 *  4. A call that waits has a twin, _until, whose last input is a deadline: a time on the clock of
 *     weft_now_ns, and never a timeout. The twin returns WEFT_TIMED_OUT when the deadline came
 *     first. _try_ and _test do not wait, and return WEFT_BUSY.
 *  5. "May switch" says that the calling unit may be suspended and continue on another OS thread:
 *     values read from thread-local memory before the call are stale after it.
 *  6. No exception leaves a call.
 *
 * Objects
 *  7. Handles are opaque pointers. A required handle that is null returns WEFT_INVALID in every
 *     build. Use of a freed object's handle is undefined, and stops the process in checked builds.
 *  8. _create makes an object, _free frees it; _free never waits, and returns WEFT_BUSY while the
 *     object is in use. A call that waits first is named _join_free.
 *  9. _init begins an object in the caller's memory, which need not be destroyed. _register and
 *     _unregister begin and end the time during which the library calls a function.
 * 10. Structures that the caller fills begin with `size`, set to their sizeof; zero means the
 *     default. _with takes options.
 * 11. Sizes are in bytes, times in nanoseconds, and their names say so.
 *
 * The headers in <weft/embed/> are only for runtimes that embed Weft: the calling unit, read
 * without a call (here.h), jobs of forks (job.h), hosted units (hosted.h). */
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
