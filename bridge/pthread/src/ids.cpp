// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A call that sets a process's ids makes all its OS threads set them, and identifies the calling
// thread by the thread pointer.
#include <grp.h>
#include <unistd.h>

#include "real.hpp"

namespace {

using weft_pthread::inside_of;
using weft_pthread::Real;

Real<int (*)(uid_t)> real_setuid("setuid"), real_seteuid("seteuid");
Real<int (*)(gid_t)> real_setgid("setgid"), real_setegid("setegid");
Real<int (*)(uid_t, uid_t)> real_setreuid("setreuid");
Real<int (*)(gid_t, gid_t)> real_setregid("setregid");
Real<int (*)(uid_t, uid_t, uid_t)> real_setresuid("setresuid");
Real<int (*)(gid_t, gid_t, gid_t)> real_setresgid("setresgid");
Real<int (*)(size_t, const gid_t*)> real_setgroups("setgroups");
Real<int (*)(const char*, gid_t)> real_initgroups("initgroups");

}   // namespace

extern "C" {

[[gnu::visibility("default")]] int setuid(uid_t user) noexcept {
    return inside_of(weft_hosted_as_carrier, real_setuid.get(), user);
}
[[gnu::visibility("default")]] int seteuid(uid_t user) noexcept {
    return inside_of(weft_hosted_as_carrier, real_seteuid.get(), user);
}
[[gnu::visibility("default")]] int setgid(gid_t group) noexcept {
    return inside_of(weft_hosted_as_carrier, real_setgid.get(), group);
}
[[gnu::visibility("default")]] int setegid(gid_t group) noexcept {
    return inside_of(weft_hosted_as_carrier, real_setegid.get(), group);
}
[[gnu::visibility("default")]] int setreuid(uid_t real, uid_t effective) noexcept {
    return inside_of(weft_hosted_as_carrier, real_setreuid.get(), real, effective);
}
[[gnu::visibility("default")]] int setregid(gid_t real, gid_t effective) noexcept {
    return inside_of(weft_hosted_as_carrier, real_setregid.get(), real, effective);
}
[[gnu::visibility("default")]] int setresuid(uid_t real, uid_t effective, uid_t saved) noexcept {
    return inside_of(weft_hosted_as_carrier, real_setresuid.get(), real, effective, saved);
}
[[gnu::visibility("default")]] int setresgid(gid_t real, gid_t effective, gid_t saved) noexcept {
    return inside_of(weft_hosted_as_carrier, real_setresgid.get(), real, effective, saved);
}
[[gnu::visibility("default")]] int setgroups(size_t count, const gid_t* groups) noexcept {
    return inside_of(weft_hosted_as_carrier, real_setgroups.get(), count, groups);
}
[[gnu::visibility("default")]] int initgroups(const char* user, gid_t group) {
    return inside_of(weft_hosted_as_carrier, real_initgroups.get(), user, group);
}

}   // extern "C"
