/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Weft's version, and what stays stable across versions.
 *
 * The C ABI grows and never shrinks within a major version: structures that a caller fills begin
 * with their size, so an older caller works with a newer library. Before 1.0 this holds within a
 * minor version. The library's soname says which programs it works with: libweft.so.0.7 works with
 * programs that were linked with a 0.7; the loader refuses others. */
#ifndef WEFT_VERSION_H
#define WEFT_VERSION_H

/** Major version: changes when the ABI breaks. Before 1.0 the minor version may break it. */
#define WEFT_VERSION_MAJOR 0
/** Minor version: changes when the ABI grows. */
#define WEFT_VERSION_MINOR 7
/** Patch version: changes when the ABI neither breaks nor grows. */
#define WEFT_VERSION_PATCH 0

/** Marks a symbol that the shared library exports. */
#define WEFT_API __attribute__((visibility("default")))

#ifdef __cplusplus
/** Begins declarations with C linkage; they throw nothing. */
#define WEFT_BEGIN extern "C" {
/** Ends what WEFT_BEGIN began. */
#define WEFT_END }
/** Promises that a call throws no exception. */
#define WEFT_NOTHROW noexcept
/** Marks a function that is compiled into the program that calls it. */
#define WEFT_INLINE __attribute__((always_inline)) inline
#else
#define WEFT_BEGIN
#define WEFT_END
#define WEFT_NOTHROW
#define WEFT_INLINE __attribute__((always_inline)) static inline
#endif

WEFT_BEGIN

/** The version of the library in use, as MAJOR * 10000 + MINOR * 100 + PATCH; it may differ from
 * the macros, which give the header's version. From anywhere; never switches. Since 0.1. */
WEFT_API int weft_version(void) WEFT_NOTHROW;

/** Features that a library may have been built without, by an option of its CMake. */
typedef enum weft_feature {
    /** requests that units move to other pools: weft_unit_migrate_to_pool and its like
     * (WEFT_MIGRATION) */
    WEFT_FEATURE_MIGRATION = 1,
    /** requests that units end: weft_unit_cancel (WEFT_CANCEL) */
    WEFT_FEATURE_CANCEL = 2,
    /** weft_observer_register, and the trace of the settings (WEFT_OBSERVERS) */
    WEFT_FEATURE_OBSERVERS = 4
} weft_feature;

/** The features that the library in use was built with, as bits of weft_feature; by default all. A
 * call that needs a missing feature returns WEFT_UNSUPPORTED and does nothing. From anywhere; never
 * switches. Since 0.4. */
WEFT_API unsigned weft_features(void) WEFT_NOTHROW;

WEFT_END

#endif
