// Libraries on Weft that have something to say of a unit when units are shown
// (weft_describer_register). They outlive every runtime.
#pragma once

#include "weft/trace.h"

namespace weft::trace {

// False: no memory.
bool add_describer(void (*describe)(const weft_description* of, void* argument), void* argument) noexcept;

struct Describer {
    void (*describe)(const weft_description* of, void* argument);
    void* argument;
    const Describer* next;   // added before
};

// The last one that was added, and by `next` all before; null: none. They stay.
const Describer* describers() noexcept;

// Calls each of them with an empty text, and then visit(text) where it has written one.
template <class Visit>
void each_description(const weft_description& of, Visit visit) {
    for (const Describer* one = describers(); one != nullptr; one = one->next) {
        of.text[0] = '\0';
        one->describe(&of, one->argument);
        of.text[of.bytes - 1] = '\0';
        if (of.text[0] != '\0') visit(of.text);
    }
}

}   // namespace weft::trace
