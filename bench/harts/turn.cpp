// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that pass a turn around: std::thread, without Weft. turn.py runs the program alone and
// with `weft run --guests=admit`, alternately.
//   turn THREADS HANDOVERS one|each
// With one condition for all threads, or one for each. Prints the time of a hand-over.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

int main(int count, char** arguments) {
    const std::size_t threads = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 16;
    const std::size_t rounds = (count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 8000) / threads;
    const bool each = count > 3 && std::strcmp(arguments[3], "each") == 0;
    const std::size_t nobody = threads;
    std::mutex mutex;
    std::vector<std::condition_variable> changed(each ? threads : 1);
    std::size_t turn = nobody;
    const auto condition_of = [&](std::size_t number) -> std::condition_variable& {
        return changed[each ? number : 0];
    };
    const auto give_to = [&](std::size_t next) {
        turn = next;
        each ? condition_of(next).notify_one() : condition_of(next).notify_all();
    };
    std::vector<std::thread> all;
    for (std::size_t mine = 0; mine < threads; ++mine) {
        all.emplace_back([&, mine] {
            for (std::size_t round = 0; round < rounds; ++round) {
                std::unique_lock lock(mutex);
                condition_of(mine).wait(lock, [&] { return turn == mine; });
                give_to((mine + 1) % threads);
            }
        });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));   // until all threads wait
    const auto begin = std::chrono::steady_clock::now();
    {
        const std::lock_guard lock(mutex);
        give_to(0);
    }
    for (std::thread& thread : all) thread.join();
    const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
    std::printf("%.2f\n", taken.count() / static_cast<double>(threads * rounds));
}
