/* What can be seen: counters, a list of the units that live, a dump of all with their frames. Counters are kept per stream, off the hot path, and summed
 * when they are read (the naming follows HPX's performance counters). */
#ifndef WEFT_TRACE_H
#define WEFT_TRACE_H

#include <stdint.h>
#include <stdio.h>

#include <weft/status.h>

WEFT_BEGIN

/** Reads a counter by name.
 *
 * name   "/units/count/created", or of one stream "/units{stream#2}/count/created"; weft_counters_print lists all
 * value  required; times in nanoseconds
 *
 * Returns WEFT_OK, WEFT_INVALID (no such counter: the text lists those that are near), WEFT_NOT_INITIALIZED. From any thread or
 * unit; never switches. Since 0.1. */
WEFT_API weft_status weft_counter_read(const char *name, uint64_t *value) WEFT_NOTHROW;

/** Writes all counters to `file`, a line each: the name, a tab, the value; first the sums, then by stream. With the
 * environment variable WEFT_COUNTERS ("stderr", or a file's name beginning with / or .) this is done at exit or at the last
 * weft_finalize, whichever comes first. Returns WEFT_OK, WEFT_INVALID, WEFT_NOT_INITIALIZED. From any thread or unit; never
 * switches. Since 0.1. */
WEFT_API weft_status weft_counters_print(FILE *file) WEFT_NOTHROW;

/** Writes all units that live to `file`, a line each: id, state, kind, name, what it waits for, where it was spawned. Returns as
 * weft_counters_print. From any thread or unit; never switches. Since 0.1. */
WEFT_API weft_status weft_units_print(FILE *file) WEFT_NOTHROW;

/** Writes a dump to `file`: a line for each stream and for each unit that lives, with what it waits for, how long it will wait at most, and
 * where it was spawned; below the line of one that has started and does not run, its frames, innermost first. Frames that an earlier one
 * has had are told by its id. The text is for people and may change.
 *
 * file  required; the caller must not hold its lock (flockfile)
 *
 * The program goes on meanwhile: a unit that is created or ends then may be missed, and one that did not keep still is said to have
 * changed. Functions are named where the dynamic linker knows them (-rdynamic, shared libraries), elsewhere by their place in their
 * file, as addr2line takes it. The setting WEFT_DUMP does the same at a signal, to standard error.
 *
 * Returns WEFT_OK, WEFT_INVALID, WEFT_NOT_INITIALIZED, WEFT_SYSTEM (no OS thread could be had for it, or the file cannot be written).
 * From any thread or unit, but not from weft_unit_each's visit; it takes the caller's OS thread until it is done, and never
 * switches. Since 0.3. */
WEFT_API weft_status weft_dump(FILE *file) WEFT_NOTHROW;

WEFT_END

#endif
