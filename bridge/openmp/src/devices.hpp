// Devices by their numbers: there is none but the host.
#pragma once

namespace weft_openmp {

constexpr int host_device = 0;   // the number behind that of the last device

// OMP_TARGET_OFFLOAD=mandatory ends the process where a directive, or a routine, names a device
// that there is not. A directive may leave it to default-device-var, or to the host, where its `if`
// is false. Negative numbers are no devices of routines, but asking for them is no error.
void demand_device_of_directive(int device);
void demand_device_of_routine(int device);

}   // namespace weft_openmp
