// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names that programs call. openmp.map says under which versions.
#pragma once

#define OPENMP_API extern "C" __attribute__((visibility("default")))
