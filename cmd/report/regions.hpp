// What libweft_regions and libweft_report tell each other, by functions that they find by their
// names.
#pragma once

#include <cstdint>

namespace weft_report {

using VisitRegions = void (*)(const char* path, std::uintptr_t base, std::uint64_t count, void* argument);
using EachRegions = void (*)(VisitRegions visit, void* argument);
inline constexpr char each_regions[] = "weft_report_regions";   // of libweft_regions

struct Shared;
using Share = void (*)(Shared* to);
inline constexpr char share[] = "weft_report_share";   // of libweft_report

}   // namespace weft_report
