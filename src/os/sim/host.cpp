#include "os/host.hpp"

// The virtual harts of a simulation share one OS thread, and so one thread control block: there are no hosts.
namespace weft::os {

bool hosts_supported() { return false; }
void host_begin() {}
bool host_start(HostThread&, std::size_t, const CpuSet*) { return false; }
void host_release(HostThread&) {}
bool host_call(void (*body)(void*), void* argument) { return body(argument), true; }
bool host_settle() { return true; }
bool host_end_of_unit(const HostThread&) { return false; }
void host_prepare_carrier() {}
void signal_here(int) {}
void signal_thread(std::uint32_t, int) {}

}  // namespace weft::os
