// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tool's output: checksum lines on standard output, failures and the progress bar on standard
// error. Any unit may call at any time. Lines are written whole, in the order of their completion.
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

    // Adds one or several whole lines to the output, which is written in large pieces.
    void line(std::string_view text);

    // "treesum: NAME: sentence" on standard error; the exit status becomes 1.
    void failure(std::string_view name, int error_number);
    void failure(std::string_view name, std::string_view sentence);
    // "treesum: sentence"; does not change the exit status.
    void warning(std::string_view sentence);
    // The exit status becomes 1.
    void fail() { failed_.store(true, std::memory_order_relaxed); }   // read after all units have been joined

    // Count a file that was found, bytes that were read, and a file that is done.
    void found() { found_.fetch_add(1, std::memory_order_relaxed); }   // relaxed: only for display
    void read(std::uint64_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
    void done();

    // Writes the rest of the output and removes the bar. Returns the exit status.
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

    std::mutex mutex_;   // guards all members below; held while writing, never across a suspension
    std::string waiting_;
    bool drawn_ = false;
    bool broken_ = false;   // writing to standard output has failed
};

}   // namespace treesum
