// exec_blas, through which OpenBLAS built with OpenMP runs everything that it does in parallel. It takes the process's one slot by looking again and
// again, without a pause, and would keep its hart from whoever has the slot. Here who comes waits as others do in Weft before it is let in, and finds the slot free. And
// goto_set_num_threads, which OpenBLAS calls when omp_get_max_threads says another number than it did last: it frees the buffers of threads beyond the number, which a caller that is
// inside may be using.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include <weft/sync.h>
#include <weft/unit.h>

namespace {

using Exec = int (*)(long, void*);
using SetThreads = void (*)(int);

// Who calls, from before the call to after it: a unit that is a pthread or has come in as a guest meanwhile is told by its pthread, another by itself.
struct Caller {
    pthread_t thread = pthread_self();
    weft_unit* unit = nullptr;

    Caller() {
        weft_unit* const self = weft_unit_self();
        weft_stack_info stack{};
        stack.size = sizeof stack;
        if (self == nullptr || weft_unit_self_kind() == WEFT_KIND_HOSTED || weft_unit_stack(self, &stack) != WEFT_OK) return;
        const auto place = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        if (place - reinterpret_cast<std::uintptr_t>(stack.lowest) < stack.bytes) unit = self;   // not so a guest: it stands on its thread's own
    }
};

// One of the process's OpenBLASes: there may be several.
struct Library {
    std::atomic<const void*> base{nullptr};
    Exec exec = nullptr;
    SetThreads set_threads = nullptr;
    bool guarded = false;
    weft_semaphore free{};
    // Who has it; relaxed, all of it: only who has it finds itself, and has written it.
    std::atomic<bool> held{false};
    std::atomic<pthread_t> holder{};
    std::atomic<weft_unit*> holding_unit{nullptr};

    bool held_by(const Caller& caller) const {
        return held.load(std::memory_order_relaxed) && pthread_equal(holder.load(std::memory_order_relaxed), caller.thread) != 0 &&
               holding_unit.load(std::memory_order_relaxed) == caller.unit;
    }
    void hold(const Caller& caller) {
        holder.store(caller.thread, std::memory_order_relaxed);
        holding_unit.store(caller.unit, std::memory_order_relaxed);
        held.store(true, std::memory_order_relaxed);
    }
    void let_go() { held.store(false, std::memory_order_relaxed); }
};

constexpr int most_libraries = 16;
Library libraries[most_libraries];
pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER;

// Whether the library runs its parts by OpenMP. With threads of its own it has a lock that waits.
bool uses_openmp(const link_map& library) {
    const char* names = nullptr;
    for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    }
    for (const ElfW(Dyn)* entry = library.l_ld; names != nullptr && entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_NEEDED && std::strstr(names + entry->d_un.d_val, "omp") != nullptr) return true;   // libgomp, libomp, libiomp5
    }
    return false;
}

// In the child of a fork nobody is inside.
void forget() {
    finding = PTHREAD_MUTEX_INITIALIZER;
    for (Library& library : libraries) {
        library.let_go();
        weft_semaphore_init(&library.free, 1);
    }
}

// The library that a function lies in.
const void* base_of(const void* function) {
    Dl_info info{};
    return dladdr(function, &info) == 0 ? nullptr : info.dli_fbase;
}

// What `handle` has of that name, or what it has loaded; not what this library has in front of it.
template <class Function>
Function function_of(void* handle, const char* name) {
    const auto found = reinterpret_cast<Function>(dlsym(handle, name));
    static const void* const own = base_of(reinterpret_cast<const void*>(&base_of));
    if (found == nullptr || base_of(reinterpret_cast<const void*>(found)) != own) return found;
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));   // a program's handle stands for all that it has been started with
}

// The OpenBLAS that `exec` lies in.
Library* library_of(Exec exec, SetThreads set_threads) {
    const void* const base = base_of(reinterpret_cast<const void*>(exec));
    for (Library& library : libraries) {
        const void* const of = library.base.load(std::memory_order_relaxed);   // relaxed, and below: under the mutex, or behind a caller's word
        if (of == base) return &library;
        if (of != nullptr) continue;
        Dl_info info{};
        link_map* map = nullptr;
        if (dladdr1(reinterpret_cast<const void*>(exec), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr) return nullptr;
        static const int at_fork = pthread_atfork(nullptr, nullptr, forget);
        static_cast<void>(at_fork);
        library.exec = exec;
        library.set_threads = set_threads;
        library.guarded = uses_openmp(*map);
        weft_semaphore_init(&library.free, 1);
        library.base.store(base, std::memory_order_relaxed);
        return &library;
    }
    return nullptr;
}

// Who has called, and which OpenBLAS that means: its own, or where the compiler has made a jump of OpenBLAS' last call, the one that the caller has called.
struct Known {
    std::atomic<const void*> base{nullptr};
    Library* library = nullptr;
};
Known known[64];

[[gnu::cold, gnu::noinline]] Library* add(const void* base, const link_map& map) {
    Library* library = nullptr;
    pthread_mutex_lock(&finding);
    // By its name: it may have been opened for itself alone.
    if (void* const handle = dlopen(map.l_name[0] == '\0' ? nullptr : map.l_name, RTLD_LAZY | RTLD_NOLOAD)) {
        if (const auto exec = function_of<Exec>(handle, "exec_blas")) library = library_of(exec, function_of<SetThreads>(handle, "goto_set_num_threads"));
    }
    for (Known& one : known) {
        const void* const of = one.base.load(std::memory_order_relaxed);   // relaxed: written under this mutex
        if (of == base) break;
        if (of != nullptr) continue;
        one.library = library;
        one.base.store(base, std::memory_order_release);   // release: pairs with find
        break;
    }
    pthread_mutex_unlock(&finding);
    return library;
}

Library* find(const void* caller) {
    Dl_info info{};
    link_map* map = nullptr;
    if (dladdr1(caller, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr) return nullptr;
    for (Known& one : known) {
        if (one.base.load(std::memory_order_acquire) == info.dli_fbase) return one.library;   // acquire: pairs with add
    }
    return add(info.dli_fbase, *map);
}

// Every OpenBLAS that there is. For a call that does not say whose it is: the compiler makes a jump of openblas_set_num_threads' only call, so what is seen is who has called that, and
// may be a language's way to call anything.
template <class Visit>
void each_library(Visit visit) {
    std::vector<std::string> names;
    dl_iterate_phdr([](dl_phdr_info* object, std::size_t, void* raw) {
        if (object->dlpi_name[0] != '\0') static_cast<std::vector<std::string>*>(raw)->emplace_back(object->dlpi_name);
        return 0;
    }, &names);
    for (const std::string& name : names) {
        void* const handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
        if (handle == nullptr) continue;
        const auto exec = function_of<Exec>(handle, "exec_blas");
        const auto set_threads = function_of<SetThreads>(handle, "goto_set_num_threads");
        if (exec != nullptr && set_threads != nullptr) {
            Dl_info info{};
            // Its own, and not what it has loaded.
            if (dladdr(reinterpret_cast<const void*>(exec), &info) != 0 && name == info.dli_fname) {
                pthread_mutex_lock(&finding);
                Library* const library = library_of(exec, set_threads);
                pthread_mutex_unlock(&finding);
                if (library != nullptr) visit(*library);
            }
        }
        dlclose(handle);
    }
}

// call(), when nobody else is inside.
template <class Call>
void let_in(Library& library, Call call) {
    const Caller self;
    if (library.held_by(self)) return call();   // from within: the slot is OpenBLAS' affair
    // Refused to those that may not wait (tasklets): they look, as OpenBLAS has it.
    if (weft_semaphore_acquire(&library.free) != WEFT_OK) return call();
    library.hold(self);
    call();
    library.let_go();
    weft_semaphore_release(&library.free, 1);
}

// What the next library has of that name, for a caller that knows of none, or of a seventeenth.
template <class Function>
Function next_of(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int exec_blas(long count, void* queue) {
    Library* const library = find(__builtin_return_address(0));
    if (library == nullptr) return next_of<Exec>("exec_blas")(count, queue);
    if (!library->guarded) return library->exec(count, queue);
    int answer = 0;
    let_in(*library, [&] { answer = library->exec(count, queue); });
    return answer;
}

[[gnu::visibility("default")]] void goto_set_num_threads(int count) {
    Library* const library = find(__builtin_return_address(0));
    const auto set = [count](Library& of) {
        if (of.guarded) let_in(of, [&] { of.set_threads(count); });
        else of.set_threads(count);
    };
    if (library != nullptr && library->set_threads != nullptr) set(*library);
    else each_library(set);
}

}  // extern "C"
