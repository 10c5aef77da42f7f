// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a stream waits after it has lent its hart. share/lending.cpp owns it.
#pragma once

#include "hart/parker.hpp"

namespace weft {

struct Stream;

struct Turn {
    Stream* const stream;   // the stream it belongs to
    Turn* next = nullptr;   // in Lending::waiting
    Parker parker;
    // the stream continues with a hart that a domain has brought; under Lending::lock until the
    // stream is unparked
    bool called_off = false;

    explicit Turn(Stream* whose) : stream(whose) {}
};

}   // namespace weft
