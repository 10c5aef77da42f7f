// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface between libweft_regions and libweft_report. Each finds the other's function by its
// name.
#pragma once

#include <cstdint>

namespace weft_report {

using VisitRegions = void (*)(const char* path, std::uintptr_t base, std::uint64_t count, void* argument);
using EachRegions = void (*)(VisitRegions visit, void* argument);
inline constexpr char each_regions[] = "weft_report_regions";   // in libweft_regions

struct Shared;
using Share = void (*)(Shared* to);
inline constexpr char share[] = "weft_report_share";   // in libweft_report

}   // namespace weft_report
