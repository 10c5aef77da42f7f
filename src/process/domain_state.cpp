// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/domain_state.hpp"

#include "unit/handle.hpp"

namespace weft {

bool is_out_of_place_in_domain(const Stream& stream, const Unit& unit) {
    return stream.serving.domain != nullptr && stream.serving.domain != stream.serving.lender &&
           unit.pool != stream.serving.domain->pool;
}

void tell_domain_of_wait(Unit& unit) {
    const Domain* const domain = current().serving.domain;
    if (domain == nullptr || domain->ops.block == nullptr || unit.pool != domain->pool) return;
    if (unit.waits != Waits::domain && unit.waits != Waits::domain_pause)
        domain->ops.block(domain->self, to_handle(&unit));
}

}   // namespace weft
