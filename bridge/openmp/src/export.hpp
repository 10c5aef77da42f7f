// The names that programs call. Under which versions they stand says openmp.map.
#pragma once

#define OPENMP_API extern "C" __attribute__((visibility("default")))
