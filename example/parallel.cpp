// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop, sums, a sort and tasks in parallel: the primes below a million, how they are distributed,
// and the numbers with the most divisors.
#include <cstdio>
#include <vector>
#include <weft/weft.hpp>

namespace {

bool is_prime(int number) {
    for (int i = 2; i * i <= number; ++i) {
        if (number % i == 0) return false;
    }
    return number > 1;
}

struct candidate {
    int number;
    int divisors;
};

}   // namespace

int main() {
    const weft::runtime runtime;
    constexpr int count = 1'000'000;

    // A loop. Its elements run on any streams that have nothing else to do, in any order; each
    // element writes to a place of its own.
    std::vector<int> prime(count);
    weft::parallel_for(0, count, [&](int i) { prime[i] = is_prime(i); });

    // A sum, and for each element the sum up to it.
    const int primes = weft::parallel_reduce(prime, 0);
    std::vector<int> up_to(count);
    weft::parallel_scan(prime, up_to.begin());
    std::printf("%d primes below %d, %d of them in the first half\n", primes, count, up_to[count / 2 - 1]);

    // Loops nest; the inner loop is short and is not split as long as all streams are busy. The
    // divisors of each number are counted by trial division, which is slow on purpose.
    std::vector<candidate> candidates(5'000);
    weft::parallel_for(candidates, [&](candidate& one) {
        one.number = static_cast<int>(&one - candidates.data()) + 1;
        one.divisors = weft::parallel_reduce(1, one.number + 1, 0, std::plus<>(),
                                             [&](int i) { return one.number % i == 0 ? 1 : 0; });
    });
    weft::parallel_sort(candidates, [](const candidate& a, const candidate& b) {
        return a.divisors != b.divisors ? a.divisors > b.divisors : a.number < b.number;
    });
    std::printf("most divisors: %d has %d, then %d\n", candidates[0].number, candidates[0].divisors,
                candidates[1].number);

    // Tasks: any number of them; the task that finds the number stops the others.
    weft::task_group search;
    for (int from = 0; from < 4; ++from) {
        search.run([&, from](std::stop_token stop) {
            for (int i = count + from; !stop.stop_requested(); i += 4) {
                if (i == 1'000'003 && is_prime(i)) {
                    std::printf("%d is prime\n", i);
                    search.cancel();
                }
                weft::this_thread::yield();
            }
        });
    }
    search.wait();
}
