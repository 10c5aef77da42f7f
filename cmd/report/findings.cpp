// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "findings.hpp"

#include <algorithm>
#include <cstdlib>

#include "../../bridge/common/openblas.hpp"
#include "objects.hpp"

namespace weft_report {

using weft_command::is_llvm_runtime;

namespace {

// An object, with its counts and the findings from its slots.
struct Seen {
    const Object* object;
    std::uint64_t regions = 0, threads = 0;
    unsigned constructs = 0;         // slots for calls that gcc generates for OpenMP constructs
    unsigned queries = 0;            // slots for OpenMP functions that are bound to Weft
    unsigned llvm = 0;               // slots for calls that clang generates
    bool starts_threads = false;     // refers to a function that starts threads
    bool guarded = false;            // OpenBLAS whose parallel part admits one caller at a time
    bool bypasses = false;           // begins regions on Weft that are not counted for it
    const Object* other = nullptr;   // the other libgomp that it calls
};

const Object* object_at(const List<Object>& objects, std::uintptr_t address) {
    const auto found =
        std::find_if(objects.begin(), objects.end(), [=](const Object& object) { return object.holds(address); });
    return found == objects.end() ? nullptr : &*found;
}

// A lazily bound slot points into its own object until the first call.
void look_at_slot(Seen& seen, const List<Object>& objects, const char* name, bool own, std::uintptr_t value) {
    const bool exec = std::strcmp(name, "exec_blas") == 0;   // OpenBLAS's own, called through the loader's table
    if (own && !exec) return;
    if (begins(name, "__kmpc_")) ++seen.llvm;
    if (std::strcmp(name, "pthread_create") == 0 || std::strcmp(name, "thrd_create") == 0) seen.starts_threads = true;
    const bool construct = begins(name, "GOMP_"), query = begins(name, "omp_");
    if (!construct && !query && !exec) return;
    const Object* const target = object_at(objects, value);
    if (exec) {
        seen.guarded = target != nullptr && begins(target->soname, "libweft_openblas");
        return;
    }
    const bool ours = target != nullptr && target->is_ours;
    seen.constructs += construct;
    seen.queries += query && ours;
    if (target == nullptr || target == seen.object) return;
    if (!ours) seen.other = target;
    else if (begins(name, "GOMP_parallel") && std::strcmp(name, "GOMP_parallel_end") != 0 &&
             !begins(target->soname, "libweft_regions"))
        seen.bypasses = true;
}

// Without a libgomp of ours, calls that have not been made yet will go to the libgomp that the
// library needs.
void find_native(List<Seen>& all) {
    for (Seen& seen : all) {
        if (seen.constructs == 0 || seen.other != nullptr) continue;
        for (const Seen& one : all) {
            if (seen.object->any_needed([&](const char* name) {
                    return *one.object->soname != '\0' && std::strcmp(name, one.object->soname) == 0 &&
                           begins(name, "libgomp");
                }))
                seen.other = one.object;
        }
    }
}

// ---- counts -------------------------------------------------------------------------------------

struct Counts {
    List<Seen>* seen;
    List<Library>* gone;   // libraries that were unloaded since
    std::uint64_t known = 0;
};

void add_gone(List<Library>& gone, const char* path, std::uint64_t regions, std::uint64_t threads) {
    Library library;
    library.verdict = regions != 0 ? Verdict::taken_over : Verdict::left_alone;
    library.kind = regions != 0 ? Kind::openmp : Kind::threads;
    library.path = path == nullptr ? "code that lies in no file" : path;
    library.regions = regions;
    library.threads = threads;
    for (Library& one : gone) {
        if (one.path != library.path || one.kind != library.kind) continue;
        one.regions += regions;
        one.threads += threads;
        return;
    }
    gone.push_back(library);
}

Seen* seen_at(List<Seen>& all, const char* path, std::uintptr_t base) {
    const auto found = std::find_if(all.begin(), all.end(), [=](const Seen& seen) {
        return path != nullptr && seen.object->loaded.base == base && seen.object->name == path;
    });
    return found == all.end() ? nullptr : &*found;
}

void add_regions(const char* path, std::uintptr_t base, std::uint64_t count, void* raw) {
    auto& counts = *static_cast<Counts*>(raw);
    counts.known += count;
    if (Seen* const seen = seen_at(*counts.seen, path, base)) seen->regions += count;
    else add_gone(*counts.gone, path, count, 0);
}

void add_counts(Counts& counts, std::uint64_t all_regions, EachRegions regions, const Tally& threads) {
    if (regions != nullptr) regions(add_regions, &counts);
    threads.each([&](const Origin& origin, std::uint64_t count) {
        if (Seen* const seen = seen_at(*counts.seen, origin.path, origin.base)) seen->threads += count;
        else add_gone(*counts.gone, origin.path, 0, count);
    });
    // If only one library bypasses the counting library, the uncounted regions are its own.
    Seen* one = nullptr;
    for (Seen& seen : *counts.seen) {
        if (!seen.bypasses || seen.object->is_ours) continue;
        if (one != nullptr) return;
        one = &seen;
    }
    if (one == nullptr || all_regions < counts.known) return;
    one->regions += all_regions - counts.known;
    one->bypasses = false;
}

// ---- verdicts -----------------------------------------------------------------------------------

bool is_libgomp(const Object& object) { return begins(object.soname, "libgomp"); }

void* openblas_function(const Object& object, const char* name) {
    return weft_bridge::openblas::find(name,
                                       [&](const char* full) { return weft_bridge::address_in(object.loaded, full); });
}
// Whether it has the functions that bridge/openblas needs.
bool is_known_openblas(const Object& object) {
    return openblas_function(object, weft_bridge::openblas::number) != nullptr &&
           openblas_function(object, weft_bridge::openblas::set_number) != nullptr;
}
bool is_openblas(const Object& object) {
    return object.path.find("openblas") != String::npos || is_known_openblas(object);
}

// Only files that could start threads are searched: an OpenMP runtime starts some.
Kind kind_without_openmp(const Seen& seen) {
    const Object& object = *seen.object;
    if (seen.starts_threads) {
        const Runtimes runtimes = runtimes_in(object.path);   // LLVM's has the entry points of the GNU ABI, too
        if (runtimes.llvm) return is_llvm_runtime(object.soname) ? Kind::llvm_runtime : Kind::llvm_static;
        if (runtimes.gnu) return Kind::libgomp_static;
    }
    return is_openblas(object) ? Kind::openblas : Kind::threads;
}

const Object* llvm_runtime(const List<Seen>& all) {
    for (const Seen& seen : all) {
        if (is_llvm_runtime(seen.object->soname)) return seen.object;
    }
    return nullptr;
}

void add(List<Library>& libraries, const Seen& seen, Verdict verdict, Kind kind, const Object* by = nullptr) {
    Library library;
    library.verdict = verdict;
    library.kind = kind;
    library.path = seen.object->path;
    if (by != nullptr) library.by = by->path;
    library.counted = kind != Kind::openmp || !seen.bypasses;
    library.thread_local_data = seen.object->loaded.thread_local_data;
    library.regions = kind == Kind::openmp && by == nullptr ? seen.regions : 0;
    if (kind != Kind::openmp && kind != Kind::openmp_queries && kind != Kind::llvm_client)
        library.threads = seen.threads;
    libraries.push_back(library);
}

void add_libgomp(List<Library>& libraries, const Seen& seen, const List<Seen>& all, bool replaced) {
    bool is_called = false, is_needed = false;
    for (const Seen& one : all) {
        is_called = is_called || one.other == seen.object;
        is_needed = is_needed || (one.constructs != 0 && one.object->any_needed([&](const char* name) {
                        return std::strcmp(name, seen.object->soname) == 0;
                    }));
    }
    const bool idle = !is_called && seen.threads == 0;
    if (idle && (!replaced || !is_needed)) return;   // it had no effect
    add(libraries, seen, idle ? Verdict::taken_over : Verdict::left_alone, Kind::libgomp);
}

void add_threads(Program& program, const Seen& seen, Kind kind) {
    if (seen.threads == 0 && kind == Kind::threads) return;
    add(program.libraries, seen, program.admits && seen.threads != 0 ? Verdict::limited : Verdict::left_alone, kind);
}

bool is(const char* variable, const char* value) {
    const char* const said = std::getenv(variable);
    return said != nullptr && std::strcmp(said, value) == 0;
}

// The object whose SONAME begins so; null: there is none.
const Object* object_of(const List<Seen>& all, const char* soname) {
    const auto found =
        std::find_if(all.begin(), all.end(), [=](const Seen& one) { return begins(one.object->soname, soname); });
    return found == all.end() ? nullptr : found->object;
}

// ---- OpenBLAS with threads of its own -----------------------------------------------------------

void add_openblas(Program& program, const Seen& seen, const List<Seen>& all) {
    const Object* const bridge = object_of(all, "libweft_openblas.so");
    const bool is_known = is_known_openblas(*seen.object);
    // bridge/openblas counts the calls of the process
    const bool has_jobs = is_known && program.values[blas_calls] != 0 &&
                          openblas_function(*seen.object, weft_bridge::openblas::set_callback) != nullptr;
    if (seen.threads == 0 && !has_jobs) return;
    if (has_jobs) return add(program.libraries, seen, Verdict::taken_over, Kind::openblas);
    const char* const left =
        weft_command::why_openblas_is_left(bridge == nullptr, std::getenv(weft_bridge::blas_threads.name));
    const bool follows = is_known && left == nullptr, are_guests = program.admits && (!is_known || bridge == nullptr);
    add(program.libraries, seen, follows || are_guests ? Verdict::limited : Verdict::left_alone, Kind::openblas);
    if (is_known) program.libraries.back().why = follows ? weft_command::openblas_follows : left;
}

// ---- TBB ----------------------------------------------------------------------------------------

bool is_onetbb(const Object& object) {
    return weft_bridge::address_in(object.loaded, weft_command::onetbb_function) != nullptr;
}
bool is_tbb(const Object& object) { return is_onetbb(object) || weft_command::is_tbb_soname(object.soname); }

void add_tbb(Program& program, const Seen& seen, const List<Seen>& all) {
    const bool is_native = object_of(all, "libweft_tbb.so") == nullptr;
    const char* const why = weft_command::why_tbb_is_left(is_native, is_onetbb(*seen.object), is("TCM_ENABLE", "1"));
    const Object* const irml = object_of(all, weft_command::irml_soname);
    const bool other = irml != nullptr && !is_native && is_onetbb(*seen.object);
    const bool taken = why == nullptr && !other && seen.threads == 0;
    const bool limited = program.admits && seen.threads != 0;
    add(program.libraries, seen,
        taken     ? Verdict::taken_over
        : limited ? Verdict::limited
                  : Verdict::left_alone,
        Kind::tbb, other ? irml : nullptr);
    Library& library = program.libraries.back();
    if (!other && why != nullptr) library.why = why;
}

// The bridge counts the workers of the process. If only one TBB has them, they are its own.
void share_workers(Program& program) {
    Library* one = nullptr;
    for (Library& library : program.libraries) {
        if (library.kind != Kind::tbb || library.verdict != Verdict::taken_over) continue;
        if (one != nullptr) one->counted = library.counted = false;
        one = &library;
    }
    if (one != nullptr && one->counted) one->workers = program.values[tbb_workers];
}

void add_findings(Program& program, const Seen& seen, const List<Seen>& all, bool replaced) {
    List<Library>& libraries = program.libraries;
    if (is_libgomp(*seen.object)) return add_libgomp(libraries, seen, all, replaced);
    const bool is_runtime = llvm_runtime(all) == seen.object;
    if (seen.llvm != 0 && !is_runtime) add(libraries, seen, Verdict::left_alone, Kind::llvm_client, llvm_runtime(all));
    if (seen.regions != 0 || seen.bypasses || (seen.constructs != 0 && seen.other == nullptr && !is_runtime)) {
        add(libraries, seen, Verdict::taken_over, Kind::openmp);
        if (seen.guarded && seen.regions != 0) add(libraries, seen, Verdict::limited, Kind::openmp);
    } else if (seen.constructs != 0 && seen.other != nullptr) {
        add(libraries, seen, Verdict::left_alone, Kind::openmp, seen.other);
    } else if (seen.queries != 0 && seen.llvm == 0 && !is_openblas(*seen.object) && !is_runtime) {
        add(libraries, seen, Verdict::taken_over, Kind::openmp_queries);
    }
    const bool known = seen.constructs != 0 && !is_runtime;
    if (seen.guarded && seen.regions == 0 && seen.threads != 0) {
        add(libraries, seen, Verdict::limited, Kind::openblas);
        libraries.back().threads = 0;   // they are reported with its entry for threads
    }
    if (is_tbb(*seen.object)) return add_tbb(program, seen, all);
    const Kind kind = known || (seen.llvm != 0 && !is_runtime) ? Kind::threads : kind_without_openmp(seen);
    if (kind == Kind::openblas) add_openblas(program, seen, all);
    else add_threads(program, seen, kind);
}

}   // namespace

void look_at_process(Program& program, std::uint64_t all_regions, EachRegions regions, const Tally& threads) {
    const List<Object> objects = loaded_objects();
    List<Seen> all;
    bool replaced = false;   // Weft's libgomp is loaded
    for (const Object& object : objects) {
        replaced = replaced || (object.is_ours && is_libgomp(object));
        all.push_back({&object});
        each_slot(object, [&](const char* name, bool own, std::uintptr_t value) {
            look_at_slot(all.back(), objects, name, own, value);
        });
    }
    program.admits = is("WEFT_GUESTS", "admit");
    program.native_openmp = !replaced;
    if (!replaced) find_native(all);
    List<Library> gone;
    Counts counts{&all, &gone};
    add_counts(counts, all_regions, regions, threads);
    for (const Seen& seen : all) {
        if (!seen.object->is_ours) add_findings(program, seen, all, replaced);
    }
    share_workers(program);
    program.libraries.insert(program.libraries.end(), gone.begin(), gone.end());
}

void forget_unused(Program& program) {
    auto& libraries = program.libraries;
    const auto is_used = [&program](const Library& one) {
        const bool is_taken = one.verdict == Verdict::taken_over;
        return one.regions != 0 || one.threads != 0 ||
               (is_taken && one.kind == Kind::tbb && program.values[tbb_entries] != 0) ||
               (is_taken && one.kind == Kind::openblas && program.values[blas_calls] != 0);
    };
    const auto is_unused = [&](const Library& one) { return !is_used(one); };
    libraries.erase(std::remove_if(libraries.begin(), libraries.end(), is_unused), libraries.end());
}

}   // namespace weft_report
