/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls beyond Argobots' interface. Programs that include this header run only on this library. */
#ifndef ABT_WEFT_H
#define ABT_WEFT_H

#include <abt.h>
#include <weft/kind.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Sets the kind (weft/kind.h) of ULTs created with the attribute, overriding ABT_THREAD_KIND. A
 * ULT of kind SS or SC is on its scheduler's stack until it first suspends; until then
 * ABT_thread_get_stack reports that stack. It runs only under the schedulers of the library:
 * another pool refuses it (its creation fails with ERR_FEATURE_NA). WEFT_KIND_DEFAULT: the kind
 * that the environment sets.
 *
 * Returns ABT_SUCCESS, ABT_ERR_INV_THREAD_ATTR, ABT_ERR_INV_ARG (no such kind of ULT). From
 * anywhere; never switches. */
ABT_API_PUBLIC int ABT_weft_thread_attr_set_kind(ABT_thread_attr attr, weft_kind kind);

/** Waits until the ULT has migrated as requested by ABT_thread_migrate or a similar call. A
 * blocking migration (Seo et al., TPDS 2018, section IV-C) is such a request followed by this call.
 * The calling ULT itself migrates now. A blocked ULT migrates when it is resumed.
 *
 * Returns ABT_SUCCESS (it has migrated, or there was no request), ABT_ERR_INV_THREAD (no such ULT;
 * it ended first), ABT_ERR_MEM (its new pool did not accept it), ABT_ERR_OTHER (the caller is a
 * tasklet), ABT_ERR_FEATURE_NA. From any thread or ULT; may switch. */
ABT_API_PUBLIC int ABT_weft_thread_migrate_wait(ABT_thread thread);

#ifdef __cplusplus
}
#endif

#endif
