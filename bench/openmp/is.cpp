// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// After the NAS benchmark IS, class W: the ranks of 2^20 integer keys below 2^16, ten times.
// Written from the report's description. It uses buckets, so that each additional thread adds only
// the work of a row of counts. Its grain is the phase of a ranking between two barriers, some
// hundreds of us.
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel.hpp"

namespace {

using Key = std::int32_t;

constexpr int key_count = 1 << 20;
constexpr int key_bits = 16, bucket_bits = 10;
constexpr int values = 1 << key_bits, buckets = 1 << bucket_bits;
constexpr int bucket_shift = key_bits - bucket_bits, in_bucket = 1 << bucket_shift;
// length of a thread's counts: with a power of two, the counts of all threads for a bucket would
// fall into one cache set
constexpr int row = buckets + 16;
constexpr int iterations = 10;

// The tested keys and their ranks, which rise with the iteration for the first two keys and fall
// for the others.
constexpr std::array<int, 5> tested = {357773, 934767, 875723, 898999, 404505};
constexpr std::array<int, 5> published = {1249, 11698, 1039987, 1043896, 1048018};

class Sort {
public:
    Sort() : keys_(key_count), grouped_(key_count), ranks_(values), begins_(buckets + 1) {
        nas::Random random;
        for (Key& key : keys_) {
            double sum = random.next();
            for (int i = 0; i < 3; ++i) sum += random.next();
            key = static_cast<Key>(sum * (values / 4));
        }
        std::copy_n(keys_.begin(), changed_.size(), changed_.begin());
        counts_.resize(static_cast<std::size_t>(omp_get_max_threads()) * row);
    }

    void rank_all() {
        std::copy_n(changed_.begin(), changed_.size(), keys_.begin());   // restores the keys that the last pass changed
        for (int iteration = 1; iteration <= iterations; ++iteration) {
            keys_[iteration] = iteration;
            keys_[iteration + iterations] = values - iteration;
            rank();
            for (std::size_t i = 0; i < tested.size(); ++i) {
                const int known = i < 2 ? published[i] + iteration - 2 : published[i] - iteration;
                if (ranks_[keys_[tested[i]] - 1] != known) nas::fail("is", "not the published ranks");
            }
        }
    }

    // Checks that the ranks sort the keys.
    void verify() {
        std::vector<Key> sorted(key_count, -1);
        std::vector<int> place = ranks_;
        for (const Key key : keys_) sorted[--place[key]] = key;
        if (!std::is_sorted(sorted.begin(), sorted.end()) || sorted.front() < 0)
            nas::fail("is", "the ranks do not sort the keys");
    }

private:
    // Sets ranks_[v] to the number of keys that are at most v.
    void rank() {
        const Key* const keys = keys_.data();
        Key* const grouped = grouped_.data();
        int *const ranks = ranks_.data(), *const counts = counts_.data(), *const begins = begins_.data();
#pragma omp parallel
        {
            int* const own = counts + omp_get_thread_num() * row;
            const int threads = omp_get_num_threads();
            std::fill_n(own, buckets, 0);
#pragma omp for schedule(static)
            for (int i = 0; i < key_count; ++i) ++own[keys[i] >> bucket_shift];
                // Computes where each bucket begins, and where each thread's keys begin within it.
#pragma omp for schedule(static)
            for (int bucket = 0; bucket < buckets; ++bucket) {
                int sum = 0;
                for (int thread = 0; thread < threads; ++thread) sum += counts[thread * row + bucket];
                begins[bucket + 1] = sum;
            }
#pragma omp single
            for (int bucket = 0; bucket < buckets; ++bucket) begins[bucket + 1] += begins[bucket];
#pragma omp for schedule(static)
            for (int bucket = 0; bucket < buckets; ++bucket) {
                int at = begins[bucket];
                for (int thread = 0; thread < threads; ++thread) {
                    const int count = counts[thread * row + bucket];
                    counts[thread * row + bucket] = at;
                    at += count;
                }
            }
#pragma omp for schedule(static)
            for (int i = 0; i < key_count; ++i) grouped[own[keys[i] >> bucket_shift]++] = keys[i];
                // Counts the few values of each bucket. The buckets in the middle have the most
                // keys, so a free thread takes the next ones.
#pragma omp for schedule(dynamic, 8)
            for (int bucket = 0; bucket < buckets; ++bucket) {
                int* const of_bucket = ranks + bucket * in_bucket;
                std::fill_n(of_bucket, in_bucket, 0);
                for (int i = begins[bucket]; i < begins[bucket + 1]; ++i) ++ranks[grouped[i]];
                int below = begins[bucket];
                for (int value = 0; value < in_bucket; ++value) below = of_bucket[value] += below;
            }
        }
    }

    std::vector<Key> keys_, grouped_;
    std::array<Key, 2 * iterations + 1> changed_{};
    std::vector<int> ranks_, counts_, begins_;
};

}   // namespace

int main(int argc, char** argv) {
    Sort sort;
    nas::measure(argc, argv, "is", "10", [&sort] { sort.rank_all(); });
    sort.verify();
    return 0;
}
