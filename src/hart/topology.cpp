// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hart/topology.hpp"

#include <dlfcn.h>
#include <hwloc.h>

#include <cerrno>
#include <mutex>

#include "hart/quota.hpp"
#include "os/lock.hpp"
#include "os/thread.hpp"

namespace weft::hart {
namespace {

// hwloc's own header provides the types and the prototypes; the functions are looked up at run
// time, so that nothing links to hwloc.
struct Functions {
    decltype(&::hwloc_topology_init) topology_init;
    decltype(&::hwloc_topology_load) topology_load;
    decltype(&::hwloc_topology_destroy) topology_destroy;
    decltype(&::hwloc_topology_is_thissystem) topology_is_thissystem;
    decltype(&::hwloc_get_type_depth) get_type_depth;
    decltype(&::hwloc_get_obj_by_depth) get_obj_by_depth;
    decltype(&::hwloc_bitmap_isset) bitmap_isset;
};

struct Topology {
    void* library = nullptr;
    Functions hwloc = {};
    hwloc_topology_t tree = nullptr;
    bool refused = false;   // the load was tried, and is not tried again before topology_release
};

constinit os::Lock lock;
constinit Topology topology;   // under the lock

template <class Function>
bool look_up(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

bool look_up_all(void* library, Functions& hwloc) {
    return look_up(library, "hwloc_topology_init", hwloc.topology_init) &&
           look_up(library, "hwloc_topology_load", hwloc.topology_load) &&
           look_up(library, "hwloc_topology_destroy", hwloc.topology_destroy) &&
           look_up(library, "hwloc_topology_is_thissystem", hwloc.topology_is_thissystem) &&
           look_up(library, "hwloc_get_type_depth", hwloc.get_type_depth) &&
           look_up(library, "hwloc_get_obj_by_depth", hwloc.get_obj_by_depth) &&
           look_up(library, "hwloc_bitmap_isset", hwloc.bitmap_isset);
}

void unload() {
    if (topology.tree != nullptr) topology.hwloc.topology_destroy(topology.tree);
    if (topology.library != nullptr) dlclose(topology.library);
    topology = {};
}

Answer load() {
    topology.library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
    if (topology.library == nullptr || !look_up_all(topology.library, topology.hwloc)) return Answer::unsupported;
    const Functions& hwloc = topology.hwloc;
    errno = 0;
    if (hwloc.topology_init(&topology.tree) != 0) {
        topology.tree = nullptr;
        return errno == ENOMEM ? Answer::no_memory : Answer::unsupported;
    }
    if (hwloc.topology_load(topology.tree) != 0) return errno == ENOMEM ? Answer::no_memory : Answer::unsupported;
    // HWLOC_XMLFILE and similar variables describe other machines, which do not have our CPUs.
    return hwloc.topology_is_thissystem(topology.tree) != 0 ? Answer::ok : Answer::unsupported;
}

// On an OS thread of its own: the caller may be a unit whose stack is too small for the loader and
// for hwloc; and hwloc may bind the thread that it runs on to one processor after the other.
Answer load_elsewhere() {
    constexpr std::size_t stack_bytes = 512 * 1024;
    Answer answer = Answer::no_memory;
    os::Thread thread;
    if (!os::thread_start(
            thread, stack_bytes, [](void* raw) { *static_cast<Answer*>(raw) = load(); }, &answer)) {
        return Answer::no_memory;
    }
    os::thread_join(thread);
    return answer;
}

// With the lock held.
Answer ready() {
    if (topology.tree != nullptr) return Answer::ok;
    if (topology.refused) return Answer::unsupported;
    const Answer answer = load_elsewhere();
    if (answer != Answer::ok) {
        unload();
        topology.refused = answer == Answer::unsupported;
    }
    return answer;
}

hwloc_obj_t object(int depth, unsigned index) { return topology.hwloc.get_obj_by_depth(topology.tree, depth, index); }

hwloc_obj_t find_cpu(unsigned cpu) {
    const int depth = topology.hwloc.get_type_depth(topology.tree, HWLOC_OBJ_PU);
    for (unsigned index = 0;; ++index) {
        hwloc_obj_t found = object(depth, index);
        if (found == nullptr || found->os_index == cpu) return found;
    }
}

// The logical index of the nearest `type` above `from`; `otherwise` where the machine has no such
// level.
unsigned above(hwloc_obj_t from, hwloc_obj_type_t type, unsigned otherwise) {
    for (hwloc_obj_t at = from; at != nullptr; at = at->parent) {
        if (at->type == type) return at->logical_index;
    }
    return otherwise;
}

bool has_cpu(hwloc_obj_t node, std::size_t cpu) {
    return node->cpuset != nullptr && topology.hwloc.bitmap_isset(node->cpuset, static_cast<unsigned>(cpu)) != 0;
}

// Those of `cpus` that lie at `node`.
os::CpuSet at_node(hwloc_obj_t node, const os::CpuSet& cpus) {
    os::CpuSet both;
    for (std::size_t index = 0, cpu = cpus.at(0); cpu < os::CpuSet::limit; cpu = cpus.at(++index)) {
        if (has_cpu(node, cpu)) both.add(cpu);
    }
    return both;
}

hwloc_obj_t numa_node(unsigned index) { return object(HWLOC_TYPE_DEPTH_NUMANODE, index); }

}   // namespace

Answer place(std::size_t hart, Position& found) noexcept {
    const std::size_t cpu = process_cpus().at(hart);
    if (cpu == os::CpuSet::limit) return Answer::no_such;
    std::lock_guard guard(lock);
    if (const Answer answer = ready(); answer != Answer::ok) return answer;
    hwloc_obj_t processor = find_cpu(static_cast<unsigned>(cpu));
    if (processor == nullptr) return Answer::no_such;
    Position read{.cpu = static_cast<unsigned>(cpu)};
    read.core = above(processor, HWLOC_OBJ_CORE, processor->logical_index);
    read.package = above(processor, HWLOC_OBJ_PACKAGE, 0);
    for (unsigned index = 0; hwloc_obj_t node = numa_node(index); ++index) {
        if (!has_cpu(node, cpu)) continue;
        read.numa = node->os_index;
        break;
    }
    found = read;
    return Answer::ok;
}

Answer numa_count(std::size_t& count) noexcept {
    const os::CpuSet cpus = process_cpus();
    std::lock_guard guard(lock);
    if (const Answer answer = ready(); answer != Answer::ok) return answer;
    std::size_t nodes = 0;
    for (unsigned index = 0; hwloc_obj_t node = numa_node(index); ++index) nodes += !at_node(node, cpus).empty();
    count = nodes;
    return Answer::ok;
}

Answer numa_cpus(unsigned node, os::CpuSet& cpus) noexcept {
    const os::CpuSet all = process_cpus();
    std::lock_guard guard(lock);
    if (const Answer answer = ready(); answer != Answer::ok) return answer;
    for (unsigned index = 0; hwloc_obj_t one = numa_node(index); ++index) {
        if (one->os_index != node) continue;
        const os::CpuSet both = at_node(one, all);
        if (both.empty()) return Answer::no_such;
        cpus = both;
        return Answer::ok;
    }
    return Answer::no_such;
}

void topology_release() noexcept {
    std::lock_guard guard(lock);
    unload();
}

void topology_forked() noexcept {
    if (lock.break_open()) topology = Topology();
}

}   // namespace weft::hart
