// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "preview.hpp"

#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "../bridge/common/openblas.hpp"
#include "image.hpp"
#include "kinds.hpp"
#include "preload.hpp"
#include "process.hpp"

namespace weft_command {

namespace {

bool begins(const std::string& text, const char* with) { return text.compare(0, std::strlen(with), with) == 0; }

std::string file_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// ---- what the loader would load -----------------------------------------------------------------

struct Listing {
    std::vector<std::string> objects;   // paths, the program's first
    std::vector<std::string> trouble;   // the loader's complaints
};

// Asking the loader means running it. The program's author could have named any program as its
// loader, so only a loader that belongs to the system is run.
bool is_the_systems(const std::string& loader) {
    struct stat status;
    return stat(loader.c_str(), &status) == 0 && status.st_uid == 0 && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// "\tlibm.so.6 => /lib/libm.so.6 (0x00007f...)", "\t/lib/libm.so.6 (0x...)", "\tlibnone.so => not
// found".
void read_line(std::string line, Listing& listing) {
    line.erase(0, line.find_first_not_of(" \t"));
    const std::size_t address = line.rfind(" (0x"), arrow = line.find(" => ");
    if (address == std::string::npos) {
        if (!line.empty() && line != "statically linked") listing.trouble.push_back(line);
        return;
    }
    std::string path = line.substr(0, address);
    if (arrow != std::string::npos && arrow < address) path.erase(0, arrow + 4);
    if (!path.empty() && path[0] == '/') listing.objects.push_back(path);   // the kernel's own object has no file
}

template <class Line>
void each_line(const std::string& text, Line line) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        line(text.substr(at, end - at));
        at = end + 1;
    }
}

Listing list(const std::string& program, const std::string& loader) {
    Listing listing;
    listing.objects.push_back(program);
    if (!is_the_systems(loader)) {
        listing.trouble.push_back("'" + loader + "' is not the system's, and was not asked");
        return listing;
    }
    // When the kernel starts the program, $ORIGIN is the folder of the file itself; here it would
    // be the folder of the given name.
    const std::string file = real(program);
    // Variables that make the loader print more or run more than it is asked for.
    const std::vector<const char*> without = {"LD_AUDIT",   "LD_DEBUG",  "LD_BIND_NOW", "LD_WARN",
                                              "LD_VERBOSE", "LD_UNUSED", "LD_PROFILE"};
    const Outcome outcome = run_and_wait(loader, {loader, "--list", file}, without, true);
    if (outcome.error != 0) listing.trouble.push_back("it cannot be run: " + std::string(std::strerror(outcome.error)));
    each_line(outcome.output, [&](const std::string& line) { read_line(line, listing); });
    each_line(outcome.errors, [&](const std::string& line) { listing.trouble.push_back(line); });
    return listing;
}

// ---- the objects --------------------------------------------------------------------------------

struct Object {
    std::string path;
    std::string soname;
    unsigned constructs = 0, queries = 0, llvm = 0;   // how many functions of OpenMP it refers to
    bool starts_threads = false, opens = false, exec_blas = false;
    bool defines_gnu = false, defines_llvm = false;   // it has a runtime's entry points
    bool is_onetbb = false;
    bool has_number = false, sets_number = false, has_callback = false;   // functions of OpenBLAS

    bool is_openblas() const { return has_number && sets_number; }
};

bool is_one_of(const char* name, std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* one) { return std::strcmp(name, one) == 0; });
}

void note_definition(Object& object, const char* name) {
    namespace openblas = weft_bridge::openblas;
    if (std::strcmp(name, gnu_function) == 0) object.defines_gnu = true;
    if (std::strcmp(name, llvm_function) == 0) object.defines_llvm = true;
    if (std::strcmp(name, "exec_blas") == 0) object.exec_blas = true;
    if (std::strcmp(name, onetbb_function) == 0) object.is_onetbb = true;
    if (openblas::is(name, openblas::number)) object.has_number = true;
    if (openblas::is(name, openblas::set_number)) object.sets_number = true;
    if (openblas::is(name, openblas::set_callback)) object.has_callback = true;
}

void note_call(Object& object, const char* name, bool weak) {
    if (begins(name, "__kmpc_")) ++object.llvm;
    if (begins(name, "GOMP_")) ++object.constructs;
    if (begins(name, "omp_") && !weak) ++object.queries;   // weak: called only if another library defines it
    if (is_one_of(name, {"pthread_create", "thrd_create",
                         "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"})) {
        object.starts_threads = true;
    }
    if (is_one_of(name, {"dlopen", "dlmopen"})) object.opens = true;
}

Object look_into(const std::string& path) {
    Object object;
    object.path = real(path);   // names such as libblas.so.3 may stand for any library
    const Image image(path);
    object.soname = image.soname();
    image.each_symbol(true, [&](const char* name, bool defined, bool weak) {
        if (defined) note_definition(object, name);
        else note_call(object, name, weak);
    });
    // If the symbols were stripped, runtimes are recognised by words of their messages. Only a file
    // that starts threads can contain a runtime.
    if (object.starts_threads && !object.defines_gnu && !object.defines_llvm) {
        object.defines_llvm = image.contains(llvm_words);
        object.defines_gnu = image.contains(gnu_words);
    }
    return object;
}

// Whether this is a library of a language: these define the functions by which other libraries
// start threads and open libraries.
bool is_of_the_language(const Object& object) {
    for (const char* name : {"libc.so", "libpthread.so", "libdl.so", "libstdc++.so", "libgfortran.so", "libgcc_s.so",
                             "ld-linux", "libc++.so", "libm.so"}) {
        if (begins(object.soname, name) || begins(file_of(object.path), name)) return true;
    }
    return false;
}

Kind kind_of(const Object& object) {
    // LLVM's runtime defines the entry points of the GNU ABI, too.
    if (object.defines_llvm) return is_llvm_runtime(object.soname.c_str()) ? Kind::llvm_runtime : Kind::llvm_static;
    if (begins(object.soname, "libgomp")) return Kind::libgomp;
    if (object.defines_gnu) return Kind::libgomp_static;
    if (object.llvm != 0) return Kind::llvm_client;
    if (object.constructs != 0) return Kind::openmp;
    if (object.is_onetbb || is_tbb_soname(object.soname.c_str())) return Kind::tbb;
    const bool is_openblas = object.is_openblas() || object.path.find("openblas") != std::string::npos;
    if (object.starts_threads && is_openblas) return Kind::openblas;
    if (object.queries != 0) return Kind::openmp_queries;
    return object.starts_threads && !is_of_the_language(object) ? Kind::threads : Kind::none;
}

// ---- the text -----------------------------------------------------------------------------------

enum class Verdict { taken_over, guarded, limited, left_alone };

const char* name_of(Verdict verdict) {
    switch (verdict) {
    case Verdict::taken_over: return "taken over";
    case Verdict::guarded: return "guarded";
    case Verdict::limited: return "limited";
    case Verdict::left_alone: return "left alone";
    }
    return "";
}

class Text {
public:
    Text(const Pieces& pieces, const PreviewOptions& options) : pieces_(pieces), options_(options) {}

    void head(const std::string& program) { text_ += "weft run preview: " + program + "\n"; }
    void line(const std::string& what, const std::string& more) { text_ += "  " + what + ": " + more + "\n"; }

    void variant() {
        if (options_.why_variant != nullptr)
            line("would run on", path_of(Piece::weft) + ", since " + options_.why_variant);
    }

    void objects(const std::vector<Object>& all) {
        all_ = &all;
        const std::size_t before = text_.size();
        for (const Verdict verdict : {Verdict::taken_over, Verdict::guarded, Verdict::limited, Verdict::left_alone}) {
            for (const Object& object : all) say(object, verdict);
        }
        starters(all);
        if (text_.size() == before) text_ += "  nothing that the loader would load has OpenMP or threads\n";
        openers(all);
    }
    std::string take() { return std::move(text_); }

private:
    void say(const Object& object, Verdict about) {
        const Kind kind = kind_of(object);
        if (kind == Kind::none || kind == Kind::threads) return;
        const bool computes = kind == Kind::openblas || (kind == Kind::openmp && !options_.native_openmp);
        const bool is_guarded = computes && object.exec_blas && !leaves_blas();
        if (about == Verdict::guarded && is_guarded) return would(name_of(about), object, guarded_openblas);
        if (kind == Kind::openblas) return say_openblas(object, about);
        const bool gnu = kind == Kind::openmp || kind == Kind::openmp_queries || kind == Kind::libgomp;
        const std::string left = kind == Kind::tbb ? why_left(object) : std::string();
        const bool taken = kind == Kind::tbb ? left.empty() : gnu && !options_.native_openmp;
        const Verdict verdict = taken ? Verdict::taken_over : Verdict::left_alone;
        if (verdict == about) would(name_of(verdict), object, kind == Kind::tbb ? tbb_clause(left) : clause(kind));
    }

    void say_openblas(const Object& object, Verdict about) {
        const Verdict verdict = verdict_on_openblas(object);
        if (verdict != about) return;
        const char* const left = why_left();
        const std::string jobs = has_jobs(object) ? openblas_jobs : "";
        std::string what = verdict == Verdict::left_alone ? "threads of its own"
                           : left != nullptr              ? jobs
                           : jobs.empty()                 ? openblas_follows
                                                          : openblas_follows + (", and " + jobs);
        if (verdict == Verdict::left_alone && object.is_openblas() && left != nullptr) what += std::string(": ") + left;
        would(name_of(verdict), object, name_of(Kind::openblas) + (": " + what));
    }
    Verdict verdict_on_openblas(const Object& object) const {
        if (!object.is_openblas() || leaves_blas()) return Verdict::left_alone;
        return why_left() == nullptr || has_jobs(object) ? Verdict::limited : Verdict::left_alone;
    }
    bool has_jobs(const Object& object) const { return object.has_callback && !options_.native_openmp; }
    // Why the number of threads of an OpenBLAS would not follow the load. Null: it would.
    const char* why_left() const {
        return why_openblas_is_left(leaves_blas(), std::getenv(weft_bridge::blas_threads.name));
    }

    void would(const char* verdict, const Object& object, const std::string& what) {
        line(std::string("would be ") + verdict, object.path + ": " + what);
    }

    std::string clause(Kind kind) const {
        const std::string name = name_of(kind);
        switch (kind) {
        case Kind::openmp:
            return name + (options_.native_openmp ? ": --openmp=native" : ", by " + path_of(Piece::openmp));
        case Kind::openmp_queries:
            return name + (options_.native_openmp ? ": --openmp=native" : ", which Weft answers");
        case Kind::libgomp:
            return name + (options_.native_openmp ? ": --openmp=native" : ", whose callers run on Weft");
        case Kind::llvm_client: return name + by_llvm();
        default: return name + ": threads of its own";
        }
    }

    // Why the workers of this TBB would not be Weft's; empty: they would.
    std::string why_left(const Object& object) const {
        const char* const why = why_tbb_is_left(options_.native_tbb, object.is_onetbb, text_of("TCM_ENABLE") == "1");
        if (options_.native_tbb || !object.is_onetbb) return why;
        // TBB looks for it in its own folder, too
        std::string irml = object.path.substr(0, object.path.rfind('/') + 1) + irml_soname;
        if (access(irml.c_str(), R_OK) != 0) irml.clear();
        for (const Object& one : *all_) {
            if (one.soname == irml_soname) irml = one.path;
        }
        if (!irml.empty()) return "its workers are those of " + irml;
        return why == nullptr ? std::string() : why;
    }
    std::string tbb_clause(const std::string& left) const {
        const std::string name = name_of(Kind::tbb);
        return left.empty() ? name + ", by " + path_of(Piece::tbb) : name + ": " + left;
    }

    std::string by_llvm() const {
        for (const Object& object : *all_) {
            if (is_llvm_runtime(object.soname.c_str())) return ", which runs on " + object.path;
        }
        return ", which Weft does not serve";
    }

    // The first object for which `is` is true, and how many others there are; empty: there is none.
    template <class Is>
    static std::string first_of(const std::vector<Object>& all, Is is) {
        std::string names;
        std::size_t others = 0;
        for (const Object& object : all) {
            if (!is(object)) continue;
            if (names.empty()) names = object.path;
            else ++others;
        }
        if (others != 0) names += " and " + std::to_string(others) + (others == 1 ? " other" : " others");
        return names;
    }

    // Many libraries could start threads, but few do.
    void starters(const std::vector<Object>& all) {
        const std::string names = first_of(all, [](const Object& object) { return kind_of(object) == Kind::threads; });
        if (names.empty()) return;
        const char* const guests = options_.admits_guests ? ": each would be admitted as a guest (--guests=admit)" : "";
        line("would be left alone", "threads, if any are started by " + names + guests);
    }

    // No list shows the libraries that are opened while the program runs.
    void openers(const std::vector<Object>& all) {
        const std::string names =
            first_of(all, [](const Object& object) { return object.opens && !is_of_the_language(object); });
        if (names.empty()) return;
        line("only a run tells", "which libraries are opened later, as Python opens its modules, by " + names +
                                     "; `weft run --report` does");
    }

    // Whether Weft has nothing to do with OpenBLAS.
    bool leaves_blas() const { return options_.native_blas || path_of(Piece::openblas).empty(); }
    std::string path_of(Piece piece) const {
        for (const Library& library : pieces_.libraries) {
            if (library.piece == piece) return library.path();
        }
        return {};
    }

    const Pieces& pieces_;
    const PreviewOptions& options_;
    const std::vector<Object>* all_ = nullptr;
    std::string text_;
};

bool is_a_piece(const std::string& path, const Pieces& pieces) {
    return std::any_of(pieces.libraries.begin(), pieces.libraries.end(),
                       [&](const Library& library) { return path == library.path(); });
}

// For "#!/usr/bin/env python3": the program that env starts; empty: it is not known.
std::string started_by_env(const Program& program) {
    if (program.elf || file_of(program.image) != "env") return {};
    const std::string name = program.argument.substr(0, program.argument.find_first_of(" \t"));
    return name.empty() || name[0] == '-' || name.find('=') != std::string::npos ? std::string() : name;
}

// `depth`: how many programs named by env led to this one; such scripts can name each other.
void describe(const Program& program, int depth, const Pieces& pieces, const PreviewOptions& options, Text& text) {
    text.head(program.path);
    if (!program.elf && !program.image.empty()) text.line("a script", "its interpreter is " + program.image);
    if (program.reach != Reach::full) {
        const char* const children = program.reach == Reach::children ? "; programs that it starts are reached" : "";
        return text.line("out of reach", "the program: " + program.why + children);
    }
    if (program.image.empty()) return text.line("only a run tells", "its file cannot be read");
    if (depth == 0) text.variant();
    if (const std::string name = started_by_env(program); !name.empty() && depth < 4) {
        const Program started = look_at(name.c_str());
        if (started.error == 0) return describe(started, depth + 1, pieces, options, text);
        return text.line("the interpreter", name + ": " + std::strerror(started.error));
    }
    const std::string loader = Image(program.image).interpreter();
    const Listing listing = list(program.image, loader);
    std::vector<Object> objects;
    for (const std::string& path : listing.objects) {
        if (!is_a_piece(path, pieces)) objects.push_back(look_into(path));
    }
    text.objects(objects);
    for (const std::string& trouble : listing.trouble) text.line("the loader " + loader, trouble);
    if (!program.elf || depth > 0)
        text.line("only a run tells", "which programs the script starts; each is reached, too");
}

}   // namespace

std::string preview(const Program& program, const Pieces& pieces, const PreviewOptions& options) {
    Text text(pieces, options);
    describe(program, 0, pieces, options, text);
    return text.take();
}

}   // namespace weft_command
