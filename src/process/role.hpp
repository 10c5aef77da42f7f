// What a stream is there for, if it is not one of the program's. share/carriers.cpp, guest.cpp and
// rescue.cpp own it.
#pragma once

namespace weft {

struct Guest;

struct Role {
    // the program knows of no such stream: it takes harts to domains, or stands in for others, or
    // is a guest's
    bool hidden = false;
    // at the moment it stands in for another stream, and has a hart for that (rescue.hpp)
    bool rescues = false;
    Guest* guest = nullptr;   // of one whose carrier is an OS thread of the application: that (guest.hpp)
};

}   // namespace weft
