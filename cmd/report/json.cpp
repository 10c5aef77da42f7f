// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report for programs. doc/run.md documents the keys and the values of "verdict" and "kind",
// which must not change.
#include <weft/version.h>

#include "../json.hpp"
#include "record.hpp"

namespace weft_report {

namespace {

String quoted(std::string_view text) { return weft_command::quoted<String>(text); }

const char* name_of(Verdict verdict) {
    switch (verdict) {
    case Verdict::taken_over: return "taken_over";
    case Verdict::limited: return "limited";
    case Verdict::left_alone: return "left_alone";
    }
    return "";
}

const char* key_of(Kind kind) {
    switch (kind) {
    case Kind::none: return "none";
    case Kind::openmp: return "openmp";
    case Kind::openmp_queries: return "openmp_queries";
    case Kind::libgomp: return "libgomp";
    case Kind::libgomp_static: return "libgomp_static";
    case Kind::llvm_client: return "llvm_client";
    case Kind::llvm_runtime: return "llvm_runtime";
    case Kind::llvm_static: return "llvm_static";
    case Kind::tbb: return "tbb";
    case Kind::openblas: return "openblas";
    case Kind::threads: return "threads";
    }
    return "";
}

String key_of(const char* name) {
    String key;
    for (; *name != '\0'; ++name)
        key += *name == ' ' ? '_' : *name >= 'A' && *name <= 'Z' ? static_cast<char>(*name - 'A' + 'a') : *name;
    return quoted(key);
}

String object_of(const Library& library) {
    return "{\"library\":" + quoted(library.path) + ",\"verdict\":\"" + name_of(library.verdict) + "\",\"kind\":\"" +
           key_of(library.kind) + "\",\"regions\":" +
           (library.kind == Kind::tbb || library.counted ? decimal(library.regions) : String("null")) +
           ",\"threads\":" + decimal(library.threads) + ",\"workers\":" +
           (library.kind != Kind::tbb || library.counted ? decimal(library.workers) : String("null")) +
           ",\"runs_on\":" + (library.by.empty() ? String("null") : quoted(library.by)) +
           ",\"why\":" + (library.why.empty() ? String("null") : quoted(library.why)) + "}";
}

String object_of(const Program& program) {
    String json = "{\"program\":" + quoted(program.path) + ",\"process\":" + decimal(program.process) +
                  ",\"processes\":" + decimal(program.processes);
    json += ",\"left_alone\":" + (program.unreached.empty() ? String("null") : quoted(program.unreached)) +
            ",\"libraries\":[";
    const char* separator = "";
    for (const Library& library : program.libraries) {
        json += separator + object_of(library);
        separator = ",";
    }
    json += "],\"counters\":";
    if (!program.unreached.empty()) return json + "null}";
    for (std::size_t i = 0; i < counter_count; ++i)
        json += (i == 0 ? "{" : ",") + key_of(counters[i].name) + ":" + decimal(program.values[i]);
    return json + "}}";
}

}   // namespace

String to_json(const Report& report) {
    String json = "{\"weft_report\":1,\"weft\":\"" + decimal(WEFT_VERSION_MAJOR) + "." + decimal(WEFT_VERSION_MINOR) +
                  "." + decimal(WEFT_VERSION_PATCH) + "\",\"programs\":[";
    const char* separator = "";
    for (const Program& program : report.programs) {
        json += separator + object_of(program);
        separator = ",";
    }
    json += "],\"silent\":[";
    separator = "";
    for (const Silent& one : report.silent) {
        json += separator + ("{\"program\":" + quoted(one.path)) + ",\"process\":" + decimal(one.process) + "}";
        separator = ",";
    }
    return json + "]}\n";
}

}   // namespace weft_report
