// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices by their numbers: the host is the only one.
#pragma once

namespace weft_openmp {

constexpr int host_device = 0;   // one past the number of the last device

// With OMP_TARGET_OFFLOAD=mandatory the process ends when a directive, or a routine, names a device
// that does not exist. A directive may leave the device to default-device-var, or to the host,
// where its `if` is false. Routines take no negative numbers for devices, but it is no error to
// pass one.
void demand_device_of_directive(int device);
void demand_device_of_routine(int device);

}   // namespace weft_openmp
