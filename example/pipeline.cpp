// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pipeline of three stages with channels between them, and several units in each stage: readers
// produce lines, parsers turn lines into readings, and adders sum the readings up. A channel that
// is full makes its senders wait, so a slow stage slows the stages before it down and no queue
// grows.
//
// A stage ends when the channel that it receives from is closed and empty; the last unit of the
// stage then closes the next channel. Prints the sum for each sensor.
#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include <weft/weft.hpp>

namespace {

constexpr std::size_t sensors = 4;

struct reading {
    std::size_t sensor;
    long value;
};

// What a reader would read from a file: line number i. Each hundredth line is damaged.
std::string line_of(int i) {
    if (i % 100 == 99) return "??";
    return std::to_string(i % sensors) + ' ' + std::to_string(i);
}

// "2 17": sensor 2 has measured 17. Nothing: the line is damaged.
std::optional<reading> parse(const std::string& line) {
    const char* const end = line.data() + line.size();
    reading parsed{};
    const auto sensor = std::from_chars(line.data(), end, parsed.sensor);
    if (sensor.ec != std::errc() || parsed.sensor >= sensors || sensor.ptr == end) return {};
    const auto value = std::from_chars(sensor.ptr + 1, end, parsed.value);
    if (value.ec != std::errc() || value.ptr != end) return {};
    return parsed;
}

// Adds a stage to the pipeline: `count` units that call body(number). The last that returns calls
// `close`.
template <class Body, class Close>
void add_stage(weft::task_group& pipeline, int count, Body body, Close close) {
    const auto left = std::make_shared<std::atomic<int>>(count);
    for (int i = 0; i < count; ++i) {
        pipeline.run([=] {
            body(i);
            if (left->fetch_sub(1) == 1) close();
        });
    }
}

}   // namespace

int main() try {
    const weft::runtime runtime;
    weft::channel<std::string> lines(64);
    weft::channel<reading> readings(64);
    weft::mutex mutex;
    std::array<long, sensors> sums{};   // under the mutex, as the next one
    int damaged = 0;

    weft::task_group pipeline;
    // A unit that throws stops the group. Then both channels are closed, so that no unit waits for
    // a stage that is gone, and wait() rethrows the exception.
    const std::stop_callback give_up(pipeline.get_stop_token(), [&] {
        lines.close();
        readings.close();
    });

    // Two readers share the lines. send() returns false when the channel is closed.
    const auto read = [&lines](int reader) {
        for (int i = reader; i < 10'000 && lines.send(line_of(i)); i += 2) {}
    };
    add_stage(pipeline, 2, read, [&lines] { lines.close(); });

    // receive() returns nothing when the channel is closed and empty.
    const auto parse_lines = [&](int) {
        int rejected = 0;
        while (const std::optional<std::string> line = lines.receive()) {
            const std::optional<reading> parsed = parse(*line);
            if (!parsed) {
                ++rejected;
            } else if (!readings.send(*parsed)) {
                return;
            }
        }
        const std::lock_guard guard(mutex);
        damaged += rejected;
    };
    add_stage(pipeline, 4, parse_lines, [&readings] { readings.close(); });

    const auto add = [&](int) {
        std::array<long, sensors> own{};
        while (const std::optional<reading> next = readings.receive()) own[next->sensor] += next->value;
        const std::lock_guard guard(mutex);
        for (std::size_t i = 0; i < sensors; ++i) sums[i] += own[i];
    };
    add_stage(pipeline, 2, add, [] {});

    pipeline.wait();
    for (std::size_t i = 0; i < sensors; ++i) std::printf("sensor %zu: %ld\n", i, sums[i]);
    std::printf("%d damaged lines\n", damaged);
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
