// Where a stream waits that has lent its hart. share/lending.cpp owns it.
#pragma once

#include "hart/parker.hpp"

namespace weft {

struct Stream;

struct Turn {
    Stream* const stream;   // whose it is
    Turn* next = nullptr;   // in Lending::waiting
    Parker parker;
    // the stream goes on with a hart that a domain has brought; under Lending::lock until it is
    // unparked
    bool called_off = false;

    explicit Turn(Stream* whose) : stream(whose) {}
};

}   // namespace weft
