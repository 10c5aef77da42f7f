// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include <unistd.h>

#include "last_error.hpp"
#include "text.hpp"

namespace treesum {
namespace {

constexpr std::size_t piece_bytes = 64 * 1024;
constexpr std::int64_t redraw_ms = 100;

// Writes all of the text. Returns 0, or the errno of a failure.
int write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0) {
            if (last_error() == EINTR) continue;
            return last_error();
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

// Not strerror(3), which is not thread-safe.
std::string sentence_of(int error_number) { return std::generic_category().message(error_number); }

}   // namespace

Report::Report(bool progress)
    : stdout_is_terminal_(::isatty(STDOUT_FILENO) == 1), bar_(progress && ::isatty(STDERR_FILENO) == 1) {}

void Report::line(std::string_view text) {
    const std::lock_guard guard(mutex_);
    waiting_ += text;
    if (waiting_.size() >= piece_bytes || stdout_is_terminal_) flush();
}

void Report::failure(std::string_view name, int error_number) { failure(name, sentence_of(error_number)); }

void Report::failure(std::string_view name, std::string_view sentence) {
    fail();
    warning(quoted(name) + ": " + std::string(sentence));
}

void Report::warning(std::string_view sentence) {
    const std::lock_guard guard(mutex_);
    say("treesum: " + std::string(sentence) + "\n");
}

void Report::done() {
    done_.fetch_add(1, std::memory_order_relaxed);
    if (!bar_) return;
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_);
    auto due = next_draw_ms_.load(std::memory_order_relaxed);
    // Of the units that find the redraw due at the same time, one draws and the others continue.
    if (now.count() < due || !next_draw_ms_.compare_exchange_strong(due, now.count() + redraw_ms)) return;
    const std::lock_guard guard(mutex_);
    draw();
}

int Report::finish() {
    const std::lock_guard guard(mutex_);
    clear();
    flush();
    return failed_.load(std::memory_order_relaxed) ? 1 : 0;
}

void Report::say(std::string_view text) {
    clear();
    write_all(STDERR_FILENO, text);   // a failure cannot be reported anywhere
}

void Report::flush() {
    if (stdout_is_terminal_) clear();
    const int error_number = broken_ ? 0 : write_all(STDOUT_FILENO, waiting_);
    waiting_.clear();
    if (error_number == 0) return;
    broken_ = true;
    fail();
    say("treesum: write error: " + sentence_of(error_number) + "\n");
}

void Report::draw() {
    constexpr std::size_t width = 30;
    const std::uint64_t done = done_.load(std::memory_order_relaxed);
    const std::uint64_t found = std::max(found_.load(std::memory_order_relaxed), done);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    const double megabytes = static_cast<double>(bytes_.load(std::memory_order_relaxed)) / 1e6;
    const std::size_t filled = found == 0 ? 0 : static_cast<std::size_t>(width * done / found);
    const std::string bar = std::string(filled, '#') + std::string(width - filled, '.');
    char text[160];
    const int length =
        std::snprintf(text, sizeof text, "\r[%s] %llu of %llu files, %.0f MB, %.0f MB/s\033[K", bar.c_str(),
                      static_cast<unsigned long long>(done), static_cast<unsigned long long>(found), megabytes,
                      megabytes / std::max(elapsed.count(), 0.001));
    write_all(STDERR_FILENO, {text, std::min(static_cast<std::size_t>(length), sizeof text - 1)});
    drawn_ = true;
}

void Report::clear() {
    if (drawn_) write_all(STDERR_FILENO, "\r\033[K");
    drawn_ = false;
}

}   // namespace treesum
