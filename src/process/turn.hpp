// Where a stream waits that has lent its hart. share/lending.cpp owns it.
#pragma once

#include "hart/gate.hpp"

namespace weft {

struct Stream;

struct Turn {
    Stream* const stream;   // whose it is
    Turn* next = nullptr;   // in Lending::waiting
    Gate gate;
    // the stream goes on with a hart that a domain has brought; under Lending::lock until the gate opens
    bool called_off = false;

    explicit Turn(Stream* whose) : stream(whose) {}
};

}   // namespace weft
