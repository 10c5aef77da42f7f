// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "verify.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "last_error.hpp"

namespace treesum {
namespace {

struct Tally {
    std::size_t proper = 0;   // the reading unit alone uses this and `improper`
    std::size_t improper = 0;
    std::atomic<std::size_t> unreadable{0};
    std::atomic<std::size_t> wrong{0};
};

// Lines of a file, without their ends; a carriage return before the newline is part of the end.
class Lines {
public:
    explicit Lines(const std::string& name) : file_(name == "-" ? ::fdopen(0, "r") : std::fopen(name.c_str(), "re")) {}
    ~Lines() { std::free(line_); }
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;

    bool opened() const { return file_ != nullptr; }
    bool failed() const { return std::ferror(file_.get()) != 0; }

    std::optional<std::string_view> next() {
        const ssize_t length = ::getline(&line_, &capacity_, file_.get());
        if (length < 0) return std::nullopt;
        std::string_view line(line_, static_cast<std::size_t>(length));
        if (line.ends_with('\n')) line.remove_suffix(1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        return line;
    }

private:
    struct Closer {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, Closer> file_;
    char* line_ = nullptr;
    std::size_t capacity_ = 0;
};

void check_file(const Expectation& expected, Hashing& hashing, Report& report, Tally& tally) {
    hashing.start(
        expected.name, Opening::named,
        [&report, &tally, digest = expected.digest](const std::string& path, int error_number, const Digest& found) {
            const std::string name = verdict_name(path);
            if (error_number != 0) {
                report.failure(path, error_number);
                tally.unreadable.fetch_add(1, std::memory_order_relaxed);   // relaxed: read after all have been joined
                report.line(name + ": FAILED open or read\n");
            } else if (found != digest) {
                report.fail();
                tally.wrong.fetch_add(1, std::memory_order_relaxed);   // relaxed: read after all have been joined
                report.line(name + ": FAILED\n");
            } else {
                report.line(name + ": OK\n");
            }
        });
}

void warn(Report& report, std::size_t count, const char* one, const char* many) {
    if (count > 0) report.warning("WARNING: " + std::to_string(count) + (count == 1 ? one : many));
}

}   // namespace

void verify(const std::string& list, Hashing& hashing, Report& report) {
    const std::string list_name = list == "-" ? "standard input" : list;
    Lines lines(list);
    if (!lines.opened()) return report.failure(list_name, last_error());
    Tally tally;
    LineReader reader;
    while (const auto line = lines.next()) {
        if (line->empty() || line->front() == '#') continue;
        if (const auto expected = reader.read(*line)) {
            ++tally.proper;
            check_file(*expected, hashing, report, tally);
        } else {
            ++tally.improper;
        }
    }
    const bool broken = lines.failed();
    hashing.finish();
    if (broken) return report.failure(list_name, "read error");
    if (tally.proper == 0) return report.failure(list_name, "no properly formatted checksum lines found");
    warn(report, tally.improper, " line is improperly formatted", " lines are improperly formatted");
    warn(report, tally.unreadable, " listed file could not be read", " listed files could not be read");
    warn(report, tally.wrong, " computed checksum did NOT match", " computed checksums did NOT match");
}

}   // namespace treesum
