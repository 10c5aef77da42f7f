// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// After the NAS benchmark CG, class W: the least eigenvalue of a sparse symmetric matrix by inverse
// iteration, each step of which is 25 steps of conjugate gradients. Written from the report's
// description. Its grain is a loop with a barrier: three for each product of the matrix and a
// vector, some hundreds of us.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "kernel.hpp"

namespace {

constexpr int order = 7000;
constexpr int nonzeros = 8;   // of each vector that the matrix is made of
constexpr int iterations = 15;
constexpr int steps = 25;
constexpr double shift = 12;
constexpr double condition = 0.1;
constexpr double published = 10.362595087124;

using Vector = std::vector<double>;

struct Matrix {
    std::vector<int> begins;   // row i goes from begins[i] to begins[i + 1]
    std::vector<int> columns;
    Vector values;
};

// The sum of weighted outer products of sparse random vectors, the weights falling from 1 to
// `condition`; and `condition - shift` on the diagonal.
Matrix made_matrix(nas::Random& random) {
    int places = 1;
    while (places < order) places *= 2;
    std::vector<std::map<int, double>> rows(order);
    const double ratio = std::pow(condition, 1.0 / order);
    double weight = 1;
    for (int i = 0; i < order; ++i, weight *= ratio) {
        std::vector<std::pair<int, double>> vector;
        while (vector.size() < nonzeros) {
            const double value = random.next();
            const int place = static_cast<int>(places * random.next());
            if (place >= order) continue;
            if (std::any_of(vector.begin(), vector.end(), [place](const auto& entry) { return entry.first == place; }))
                continue;
            vector.emplace_back(place, value);
        }
        const auto own =
            std::find_if(vector.begin(), vector.end(), [i](const auto& entry) { return entry.first == i; });
        if (own != vector.end()) own->second = 0.5;
        else vector.emplace_back(i, 0.5);
        for (const auto& [row, left] : vector) {
            for (const auto& [column, right] : vector)
                rows[static_cast<std::size_t>(row)][column] += weight * left * right;
        }
    }
    Matrix matrix;
    for (int i = 0; i < order; ++i) {
        auto& row = rows[static_cast<std::size_t>(i)];
        row[i] += condition - shift;
        matrix.begins.push_back(static_cast<int>(matrix.columns.size()));
        for (const auto& [column, value] : row) {
            matrix.columns.push_back(column);
            matrix.values.push_back(value);
        }
    }
    matrix.begins.push_back(static_cast<int>(matrix.columns.size()));
    return matrix;
}

class Solver {
public:
    explicit Solver(const Matrix& matrix) : matrix_(matrix), x(order), z_(order), p_(order), q_(order), r_(order) {}

    // Returns the eigenvalue that the iteration finds.
    double iterate() {
        std::fill(x.begin(), x.end(), 1.0);
        double zeta = 0;
        for (int i = 0; i < iterations; ++i) {
            residual = solve();
            double along = 0, square = 0;
#pragma omp parallel for reduction(+ : along, square)
            for (int j = 0; j < order; ++j) {
                along += x[j] * z_[j];
                square += z_[j] * z_[j];
            }
            zeta = shift + 1 / along;
            const double scale = 1 / std::sqrt(square);
#pragma omp parallel for
            for (int j = 0; j < order; ++j) x[j] = scale * z_[j];
        }
        return zeta;
    }

    double residual = 0;   // of the latest solution

private:
    double product(const double* vector, int row) const {
        double sum = 0;
        for (int k = matrix_.begins[row]; k < matrix_.begins[row + 1]; ++k)
            sum += matrix_.values[k] * vector[matrix_.columns[k]];
        return sum;
    }

    // Computes z with A z close to x; returns the distance.
    double solve() {
        double rho = 0, along = 0, next = 0, distance = 0;
        double *const x_of = x.data(), *const z = z_.data(), *const p = p_.data(), *const q = q_.data(),
                      *const r = r_.data();
#pragma omp parallel
        {
#pragma omp for reduction(+ : rho)
            for (int j = 0; j < order; ++j) {
                z[j] = 0;
                p[j] = r[j] = x_of[j];
                rho += r[j] * r[j];
            }
            double before = rho;
            for (int step = 0; step < steps; ++step) {
#pragma omp for reduction(+ : along)
                for (int j = 0; j < order; ++j) {
                    q[j] = product(p, j);
                    along += p[j] * q[j];
                }
                const double alpha = before / along;
#pragma omp for reduction(+ : next)
                for (int j = 0; j < order; ++j) {
                    z[j] += alpha * p[j];
                    r[j] -= alpha * q[j];
                    next += r[j] * r[j];
                }
                const double beta = next / before;
                before = next;
                // All threads have read `along` before the loop for z and r ended, and none adds to
                // it before the loop for p ends.
#pragma omp master
                along = 0;
#pragma omp for
                for (int j = 0; j < order; ++j) p[j] = r[j] + beta * p[j];
#pragma omp master
                next = 0;   // all threads have read it, and the product's loop ends before any adds to it
            }
#pragma omp for reduction(+ : distance)
            for (int j = 0; j < order; ++j) {
                const double off = x_of[j] - product(z, j);
                distance += off * off;
            }
        }
        return std::sqrt(distance);
    }

    const Matrix& matrix_;
    Vector x;
    Vector z_, p_, q_, r_;
};

}   // namespace

int main(int argc, char** argv) {
    nas::Random random;
    random.next();
    const Matrix matrix = made_matrix(random);
    Solver solver(matrix);
    nas::measure(argc, argv, "cg", "5", [&solver] {
        const double zeta = solver.iterate();
        if (!nas::near(zeta, published, 1e-10) || !(solver.residual < 1e-9))
            nas::fail("cg", "not the published eigenvalue");
    });
    return 0;
}
