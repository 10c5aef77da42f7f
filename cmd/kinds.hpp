// What Weft knows of programs and libraries that compute in parallel, in the words that people
// read: of the preview, before a run, and of the report, after it.
#pragma once

#include <cstring>

namespace weft_command {

// What a library has to do with parallelism.
enum class Kind : unsigned char {
    none,             // nothing that Weft has to do with
    openmp,           // code that gcc has compiled with -fopenmp
    openmp_queries,   // refers to functions of OpenMP (omp_) only
    libgomp,          // gcc's runtime, or a copy of it
    libgomp_static,   // has libgomp within it
    llvm_client,      // code that clang has compiled with -fopenmp
    llvm_runtime,     // LLVM's runtime, or Intel's
    llvm_static,      // has LLVM's runtime within it
    tbb,
    openblas,   // with threads of its own
    threads     // starts threads, and that is all that is known of it
};

// Whether the SONAME is that of LLVM's OpenMP runtime, or of Intel's build of it.
inline bool is_llvm_runtime(const char* soname) {
    return std::strncmp(soname, "libomp", 6) == 0 || std::strncmp(soname, "libiomp5", 8) == 0;
}

// By what a file shows that it has a runtime within it: a function that it defines or, where
// symbols were stripped, words of its messages. LLVM's runtime has the functions of both.
inline constexpr char gnu_function[] = "GOMP_parallel", llvm_function[] = "__kmpc_fork_call";
inline constexpr char gnu_words[] = "\nlibgomp: ", llvm_words[] = "KMP_DUPLICATE_LIB_OK";

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

inline constexpr const char guarded_openblas[] =
    "OpenBLAS: one call at a time computes in parallel, and callers that wait for it do not spin";

}   // namespace weft_command
