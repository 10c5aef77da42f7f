// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Libraries on Weft that add a description when units are shown (weft_describer_register). They
// outlive every runtime.
#pragma once

#include "weft/trace.h"

namespace weft::trace {

// False: no memory.
bool add_describer(void (*describe)(const weft_description* of, void* argument), void* argument) noexcept;

struct Describer {
    void (*describe)(const weft_description* of, void* argument);
    void* argument;
    const Describer* next;   // the one added before
};

// The describer that was added last, which leads by `next` to all earlier ones; null: none. They
// are never removed.
const Describer* describers() noexcept;

// Calls each describer with an empty text, and then visit(text) if it has written one.
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
