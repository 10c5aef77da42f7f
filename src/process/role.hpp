// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The purpose of a stream that is not one of the program's. share/carriers.cpp, guest.cpp and
// rescue.cpp own it.
#pragma once

namespace weft {

struct Guest;

struct Role {
    // the program does not know the stream: it takes harts to domains, or stands in for others, or
    // is a guest's
    bool hidden = false;
    // it now stands in for another stream, and has a hart for that (rescue.hpp)
    bool rescues = false;
    Guest* guest = nullptr;   // if its carrier is an OS thread of the application: the guest (guest.hpp)
};

}   // namespace weft
