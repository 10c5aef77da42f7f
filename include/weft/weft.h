/* Weft's C interface, in reading order. Declares nothing itself. */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include <weft/version.h>
#include <weft/status.h>
#include <weft/hart.h>
#include <weft/pool.h>
#include <weft/sched.h>
#include <weft/unit.h>
#include <weft/local.h>
#include <weft/stream.h>
#include <weft/sync.h>
#include <weft/io.h>
#include <weft/parallel.h>
#include <weft/here.h>
#include <weft/domain.h>
#include <weft/spmd.h>
#include <weft/arena.h>
#include <weft/hosted.h>
#include <weft/guest.h>
#include <weft/trace.h>
#include <weft/runtime.h>

#endif
