// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A blocked matrix product. The result is divided into tiles, and weft::parallel_for computes the
// tiles on whatever streams have nothing else to do. Each tile is computed from tiles of the
// factors that fit in a processor's first-level cache, and no two elements of the loop write to the
// same place, so nothing is locked.
//
// Prints the number of tiles, and the result of a check.
#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

#include <weft/weft.hpp>

namespace {

constexpr int size = 256;
constexpr int tile = 32;   // three tiles have 24 KiB
static_assert(size % tile == 0);

// A square matrix, row by row.
class matrix {
public:
    double* row(int i) { return &elements_[static_cast<std::size_t>(i) * size]; }
    const double* row(int i) const { return &elements_[static_cast<std::size_t>(i) * size]; }

    // Small whole numbers, so that all sums are exact.
    void fill(unsigned seed) {
        std::mt19937 random(seed);
        for (double& element : elements_) element = static_cast<double>(random() % 19) - 9;
    }

    std::vector<double> times(const std::vector<double>& vector) const {
        std::vector<double> product(size);
        weft::parallel_for(0, size, [&](int i) {
            for (int k = 0; k < size; ++k) product[i] += row(i)[k] * vector[k];
        });
        return product;
    }

private:
    std::vector<double> elements_ = std::vector<double>(static_cast<std::size_t>(size) * size);
};

// Adds to a tile of c, whose first element is (i0, j0), the product of a tile of a and a tile of b.
void add_product(matrix& c, const matrix& a, const matrix& b, int i0, int j0, int k0) {
    for (int i = i0; i < i0 + tile; ++i) {
        double* const to = c.row(i);
        for (int k = k0; k < k0 + tile; ++k) {
            const double factor = a.row(i)[k];
            const double* const from = b.row(k);
            for (int j = j0; j < j0 + tile; ++j) to[j] += factor * from[j];
        }
    }
}

matrix product(const matrix& a, const matrix& b) {
    constexpr int tiles = size / tile;   // in a row
    matrix c;
    weft::parallel_for(0, tiles * tiles, [&](int number) {
        const int i0 = number / tiles * tile;
        const int j0 = number % tiles * tile;
        for (int k0 = 0; k0 < size; k0 += tile) add_product(c, a, b, i0, j0, k0);
    });
    return c;
}

}   // namespace

int main() try {
    const weft::runtime runtime;
    matrix a, b;
    a.fill(1);
    b.fill(2);
    const matrix c = product(a, b);

    // Freivalds' check: (ab)v is a(bv) for every vector v, and a(bv) takes far fewer operations. A
    // random v of zeros and ones shows a wrong product with a probability of at least 1/2.
    std::mt19937 random(3);
    bool right = true;
    for (int round = 0; round < 20; ++round) {
        std::vector<double> vector(size);
        for (double& element : vector) element = static_cast<double>(random() % 2);
        right = right && c.times(vector) == a.times(b.times(vector));
    }
    std::printf("%d x %d in %d tiles: the product is %s\n", size, size, (size / tile) * (size / tile),
                right ? "right" : "wrong");
    return right ? 0 : 1;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
