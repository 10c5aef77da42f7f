// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The four functions by which libtbb finds a library that has workers for it. It looks for all of
// them, in a libirml.so.1 first, and then in what is loaded.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "../../common/binding.hpp"
#include "rml.hpp"
#include "server.hpp"

namespace weft_tbb {

namespace {

// What libtbb understands as an answer.
constexpr int success = 0, not_found = 2, incompatible = 3;
constexpr unsigned protocol = 2;   // of both sides, when they open

// Whether the table of a client's functions is the one that we know. In oneTBB, since its first
// version, which says 12000, the destructors come first; the library before (libtbb.so.2) has none,
// and a call of its client would end in the wrong function.
bool is_known(const void* return_address) {
    int (*version)() = nullptr;
    weft_bridge::each_loaded([&](const weft_bridge::Loaded& object) {
        if (!object.holds(return_address)) return false;
        version = reinterpret_cast<int (*)()>(weft_bridge::address_in(object, "TBB_runtime_interface_version"));
        return true;
    });
    return version != nullptr && version() >= 12000;
}

// Workers call TBB until their connection has closed, which may be after the program has closed its
// handles of the library: it stays loaded.
void keep(const void* return_address) {
    std::string path;
    weft_bridge::base_of(return_address, &path);
    if (!path.empty()) dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

}   // namespace

// The manager is to have the last word on how many workers there are.
bool is_managed() {
    const char* const said = std::getenv("TCM_ENABLE");
    return said != nullptr && std::strcmp(said, "1") == 0;
}

}   // namespace weft_tbb

using namespace weft_tbb;   // NOLINT: entry points

extern "C" {

[[gnu::visibility("default")]] int __RML_open_factory(rml::Factory*, unsigned* server_version,
                                                      unsigned client_version) {
    if (client_version != protocol || !is_known(__builtin_return_address(0))) return incompatible;
    if (is_managed()) return not_found;
    *server_version = protocol;
    return success;
}

[[gnu::visibility("default")]] int __TBB_make_rml_server(rml::Factory*, rml::Server** server, rml::Client* client) {
    if (client->version() != 0) return incompatible;
    keep(__builtin_return_address(0));
    *server = &new_server(*client);
    return success;
}

[[gnu::visibility("default")]] int __RML_close_factory(rml::Factory*) { return success; }

[[gnu::visibility("default")]] void __TBB_call_with_my_server_info(void (*call)(void* argument, const char* info),
                                                                   void* argument) {
    call(argument, "Weft");
}

}   // extern "C"
