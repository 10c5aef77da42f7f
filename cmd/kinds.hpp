// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Weft knows about programs and libraries that compute in parallel, in the words of the
// preview, before a run, and of the report, after it.
#pragma once

#include <cstring>

#include "../bridge/common/variables.hpp"

namespace weft_command {

// The part that a library has in parallelism.
enum class Kind : unsigned char {
    none,             // nothing that concerns Weft
    openmp,           // code that gcc has compiled with -fopenmp
    openmp_queries,   // refers only to the omp_ functions of OpenMP
    libgomp,          // gcc's runtime, or a copy of it
    libgomp_static,   // contains libgomp
    llvm_client,      // code that clang has compiled with -fopenmp
    llvm_runtime,     // LLVM's OpenMP runtime, or Intel's
    llvm_static,      // contains LLVM's OpenMP runtime
    tbb,
    openblas,   // with threads of its own
    threads     // starts threads; nothing else is known about it
};

// Whether the SONAME is that of LLVM's OpenMP runtime, or of Intel's build of it.
inline bool is_llvm_runtime(const char* soname) {
    return std::strncmp(soname, "libomp", 6) == 0 || std::strncmp(soname, "libiomp5", 8) == 0;
}

// Marks by which a file shows that it contains a runtime: a function that it defines or, if its
// symbols were stripped, words of its messages. LLVM's runtime defines the functions of both
// runtimes.
inline constexpr char gnu_function[] = "GOMP_parallel", llvm_function[] = "__kmpc_fork_call";
inline constexpr char gnu_words[] = "\nlibgomp: ", llvm_words[] = "KMP_DUPLICATE_LIB_OK";

// Intel's Threading Building Blocks. oneTBB defines this function; the library before it, which has
// the SONAME libtbb.so.2, does not. A libirml.so.1 has workers for TBB.
inline constexpr char onetbb_function[] = "_ZN3tbb6detail2r17executeERNS0_2d115task_arena_baseERNS2_13delegate_baseE";
inline constexpr char irml_soname[] = "libirml.so.1";
inline bool is_tbb_soname(const char* soname) {
    return std::strncmp(soname, "libtbb.so", 9) == 0 || std::strncmp(soname, "libtbb_debug.so", 15) == 0 ||
           std::strncmp(soname, "libtbb-", 7) == 0;   // as wheels of Python name their copies
}

// Why the workers of a TBB are not Weft's. Null: no reason is known.
inline const char* why_tbb_is_left(bool is_native, bool is_onetbb, bool is_managed) {
    if (is_native) return "--tbb=native";
    if (!is_onetbb) return "a version before oneTBB, which has another interface";
    return is_managed ? "TCM_ENABLE=1: Intel's thread composability manager decides how many workers there are"
                      : nullptr;
}

inline const char* name_of(Kind kind) {
    switch (kind) {
    case Kind::none: return "";
    case Kind::openmp: return "OpenMP of the GNU ABI";
    case Kind::openmp_queries: return "refers to functions of OpenMP (omp_) only";
    case Kind::libgomp: return "a copy of libgomp";
    case Kind::libgomp_static: return "libgomp was linked into it statically";
    case Kind::llvm_client: return "OpenMP of LLVM's ABI";
    case Kind::llvm_runtime: return "LLVM's OpenMP runtime";
    case Kind::llvm_static: return "LLVM's OpenMP runtime was linked into it statically";
    case Kind::tbb: return "TBB";
    case Kind::openblas: return "OpenBLAS";
    case Kind::threads: return "threads of its own";
    }
    return "";
}

// What Weft bounds of an OpenBLAS. With threads of its own it follows the load.
inline constexpr const char guarded_openblas[] =
    "OpenBLAS: one call at a time computes in parallel, and callers that wait for it do not spin";
inline constexpr const char openblas_jobs[] = "its jobs run on Weft beside OpenMP";
inline constexpr const char openblas_follows[] = "fewer threads while others compute";

// Why Weft does not change the number of threads of an OpenBLAS that it knows. Null: Weft does.
inline const char* why_openblas_is_left(bool is_native, const char* variable) {
    if (is_native) return "--blas=native";
    return weft_bridge::word_of(weft_bridge::blas_threads, variable) == 1 ? nullptr : "WEFT_BLAS_THREADS=full";
}

// The pools of threads that are known by the names of their files. Null: it is another file.
inline const char* pool_in(const char* path) {
    const char* const slash = std::strrchr(path, '/');
    const char* const file = slash == nullptr ? path : slash + 1;
    if (std::strncmp(file, "workqueue.", 10) == 0 && std::strstr(path, "/numba/") != nullptr)
        return "numba's workqueue";
    const bool is_opencv = std::strncmp(file, "libopencv_", 10) == 0 || std::strncmp(file, "cv2.", 4) == 0;
    return is_opencv ? "OpenCV" : nullptr;
}

}   // namespace weft_command
