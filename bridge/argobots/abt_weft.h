/* What this library has beyond Argobots' interface: programs that include this header run here
 * alone. */
#ifndef ABT_WEFT_H
#define ABT_WEFT_H

#include <abt.h>
#include <weft/kind.h>

#ifdef __cplusplus
extern "C" {
#endif

/** ULTs that are created with the attribute are of that kind (weft/kind.h), and not as
 * ABT_THREAD_KIND says. One of kind SS or SC has its scheduler's stack until it first suspends,
 * which is then what ABT_thread_get_stack tells of it, and runs under the schedulers of the library
 * only: another pool refuses it (ERR_FEATURE_NA of the creation). WEFT_KIND_DEFAULT: as the
 * environment says.
 *
 * Returns ABT_SUCCESS, ABT_ERR_INV_THREAD_ATTR, ABT_ERR_INV_ARG (no such kind of ULT). From
 * anywhere; never switches. */
ABT_API_PUBLIC int ABT_weft_thread_attr_set_kind(ABT_thread_attr attr, weft_kind kind);

/** Waits until the ULT has gone where it was asked to by ABT_thread_migrate and the like: the
 * blocking form of a migration (Seo et al., TPDS 2018, section IV-C) is a request and this. Of the
 * calling ULT: it goes now. One that is blocked goes when it is resumed.
 *
 * Returns ABT_SUCCESS (it has gone, or was not asked), ABT_ERR_INV_THREAD (none; it has ended
 * before), ABT_ERR_MEM (its new pool has not taken it), ABT_ERR_OTHER (a tasklet calls),
 * ABT_ERR_FEATURE_NA. From any thread or ULT; may switch. */
ABT_API_PUBLIC int ABT_weft_thread_migrate_wait(ABT_thread thread);

#ifdef __cplusplus
}
#endif

#endif
