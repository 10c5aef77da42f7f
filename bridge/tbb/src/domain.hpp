// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The domain of all of TBB's workers in the process. It lasts as long as the runtime, whichever
// servers come and go, and is made when the first worker is.
//
// Its harts go to workers that are ready, in turn; where none is, to the domains below it, which
// are those of OpenMP's members that workers have called (weft_domain_lasting_set); now and then to
// these all the same. The runtime does so by itself.
#pragma once

#include <cstddef>

#include <weft/pool.h>
#include <weft/status.h>

namespace weft_tbb {

// Where workers are spawned. Null: there is no runtime, and none can be started; weft_error_text
// says why.
weft_pool* pool_of_workers();

// So many harts more than before, or fewer. Where there are no workers nothing happens.
void request_harts(std::ptrdiff_t delta);

}   // namespace weft_tbb
