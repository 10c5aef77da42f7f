// What the tool says: checksum lines on standard output, complaints and the progress bar on
// standard error. Any unit may call at any time; lines come out whole, in the order of their
// completion.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace treesum {

class Report {
public:
    // `progress`: draw a bar when standard error is a terminal.
    explicit Report(bool progress);

    // Adds a whole line, or several, to the output; it is written in large pieces.
    void line(std::string_view text);

    // "treesum: NAME: sentence" on standard error; the exit status becomes 1.
    void failure(std::string_view name, int error_number);
    void failure(std::string_view name, std::string_view sentence);
    // "treesum: sentence"; does not change the exit status.
    void warning(std::string_view sentence);
    // The exit status becomes 1.
    void fail() { failed_.store(true, std::memory_order_relaxed); }   // read after all units have been joined

    // A file was found, so many bytes of one were read, a file is done.
    void found() { found_.fetch_add(1, std::memory_order_relaxed); }   // relaxed: figures for the eye
    void read(std::uint64_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
    void done();

    // Writes what is left, takes the bar away. Returns the exit status.
    int finish();

private:
    void say(std::string_view text);
    void flush();
    void draw();
    void clear();

    const bool stdout_is_terminal_;
    const bool bar_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::atomic<std::uint64_t> found_{0};
    std::atomic<std::uint64_t> done_{0};
    std::atomic<std::uint64_t> bytes_{0};
    std::atomic<std::int64_t> next_draw_ms_{0};
    std::atomic<bool> failed_{false};

    std::mutex mutex_;   // of all below; held while writing, never across a suspension
    std::string waiting_;
    bool drawn_ = false;
    bool broken_ = false;   // standard output cannot be written
};

}   // namespace treesum
