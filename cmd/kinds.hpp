// What Weft knows of programs and libraries that compute in parallel, in the words that people read: of the
// preview, before a run.
#pragma once

namespace weft_command {

enum class Verdict { taken_over, guarded, left_alone };

enum class Kind {
    none,            // nothing that Weft has to do with
    openmp,          // has regions of the GNU ABI
    openmp_queries,  // calls omp_ functions only
    libgomp,         // is a copy of gcc's runtime
    libgomp_static,  // has it inside
    llvm_client,     // has regions of LLVM's ABI
    llvm_runtime,    // is LLVM's runtime, or Intel's
    llvm_static,
    tbb,
    openblas,  // with threads of its own
    threads    // starts threads
};

inline const char* name_of(Verdict verdict) {
    switch (verdict) {
    case Verdict::taken_over: return "taken over";
    case Verdict::guarded: return "guarded";
    case Verdict::left_alone: return "left alone";
    }
    return "";
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

inline constexpr const char guarded_openblas[] =
    "OpenBLAS: one call at a time computes in parallel, and callers that wait for it do not spin";

}  // namespace weft_command
