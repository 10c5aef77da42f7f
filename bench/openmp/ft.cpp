// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// After the NAS benchmark FT, class W: a partial differential equation by Fourier transforms in
// three dimensions, of 128 x 128 x 32 points, over six time steps. Written from the report's
// description. Its grain is coarse: a region of some ms for each direction of a transform.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

#include "kernel.hpp"

namespace {

constexpr int nx = 128, ny = 128, nz = 32;
constexpr int points = nx * ny * nz, longest = std::max({nx, ny, nz});
constexpr int iterations = 6;
// lines that are transformed together: a cache line for each point, and a thread's data fits into
// the first-level cache
constexpr int lines = 4;
constexpr double alpha = 1e-6;

struct Complex {
    double re, im;
};

using Field = std::vector<Complex>;

constexpr std::array<Complex, iterations> published = {{{567.3612178944, 529.3246849175},
                                                        {563.1436885271, 528.2149986629},
                                                        {559.4024089970, 527.0996558037},
                                                        {556.0698047020, 526.0027904925},
                                                        {553.0898991250, 524.9400845633},
                                                        {550.4159734538, 523.9212247086}}};

// e^(2 pi i k / n) for k below n / 2.
std::vector<Complex> roots_of(int n) {
    std::vector<Complex> roots(static_cast<std::size_t>(n / 2));
    for (int k = 0; k < n / 2; ++k)
        roots[static_cast<std::size_t>(k)] = {std::cos(2 * std::numbers::pi * k / n),
                                              std::sin(2 * std::numbers::pi * k / n)};
    return roots;
}

// Transforms `lines` lines of n points, with equal points of all lines side by side, by Stockham's
// algorithm, which reorders while it copies from one array into the other. `sign` is the
// exponent's. Returns the array that holds the result.
Complex* transform_lines(Complex* from, Complex* to, int n, const std::vector<Complex>& roots, double sign) {
    int stride = 1;
    for (int length = n; length > 1; length /= 2, stride *= 2) {
        const int half = length / 2, run = stride * lines;
        for (int p = 0; p < half; ++p) {
            const Complex root = {roots[static_cast<std::size_t>(p * stride)].re,
                                  sign * roots[static_cast<std::size_t>(p * stride)].im};
            const Complex *const a = from + p * run, *const b = from + (p + half) * run;
            Complex *const sum = to + 2 * p * run, *const difference = sum + run;
            for (int i = 0; i < run; ++i) {
                const Complex off = {a[i].re - b[i].re, a[i].im - b[i].im};
                sum[i] = {a[i].re + b[i].re, a[i].im + b[i].im};
                difference[i] = {off.re * root.re - off.im * root.im, off.re * root.im + off.im * root.re};
            }
        }
        std::swap(from, to);
    }
    return from;
}

// The lines of one direction: `n` points at distance `apart`; a line begins at each of `across`
// points, at distance `between`, in each of `planes` planes.
struct Direction {
    int n, apart;
    int across, between;
    int planes, plane_apart;
};

void transform(Field& field, const Direction& d, const std::vector<Complex>& roots, double sign) {
    const int groups = d.across / lines;
    Complex* const all = field.data();
#pragma omp parallel
    {
        alignas(64) Complex one[longest * lines];
        alignas(64) Complex other[longest * lines];
#pragma omp for collapse(2)
        for (int plane = 0; plane < d.planes; ++plane) {
            for (int group = 0; group < groups; ++group) {
                Complex* const first = all + plane * d.plane_apart + group * lines * d.between;
                for (int k = 0; k < d.n; ++k) {
                    for (int line = 0; line < lines; ++line)
                        one[k * lines + line] = first[k * d.apart + line * d.between];
                }
                const Complex* const done = transform_lines(one, other, d.n, roots, sign);
                for (int k = 0; k < d.n; ++k) {
                    for (int line = 0; line < lines; ++line)
                        first[k * d.apart + line * d.between] = done[k * lines + line];
                }
            }
        }
    }
}

// Neighbours in x are adjacent in memory, then those in y, then those in z.
constexpr Direction along_x = {nx, 1, ny, nx, nz, nx* ny};
constexpr Direction along_y = {ny, nx, nx, 1, nz, nx* ny};
constexpr Direction along_z = {nz, nx* ny, nx, 1, ny, nx};

class Equation {
public:
    Equation()
        : spectrum_(points),
          now_(points),
          decay_(points),
          roots_x_(roots_of(nx)),
          roots_y_(roots_of(ny)),
          roots_z_(roots_of(nz)) {}

    void solve() {
        begin();
        transform(spectrum_, along_x, roots_x_, -1);
        transform(spectrum_, along_y, roots_y_, -1);
        transform(spectrum_, along_z, roots_z_, -1);
        for (int i = 0; i < iterations; ++i) {
#pragma omp parallel for
            for (int at = 0; at < points; ++at) {
                spectrum_[at] = {spectrum_[at].re * decay_[at], spectrum_[at].im * decay_[at]};
                now_[at] = spectrum_[at];
            }
            transform(now_, along_z, roots_z_, 1);
            transform(now_, along_y, roots_y_, 1);
            transform(now_, along_x, roots_x_, 1);
            sums[static_cast<std::size_t>(i)] = checksum();
        }
    }

    std::array<Complex, iterations> sums{};

private:
    static double square_of_wave(int k, int n) {
        const int wave = k >= n / 2 ? k - n : k;
        return static_cast<double>(wave) * wave;
    }

    // Draws random points, as one sequence, and computes the factor of each wave for a time step.
    void begin() {
#pragma omp parallel for
        for (int z = 0; z < nz; ++z) {
            nas::Random random;
            random.skip(2ULL * nx * ny * static_cast<unsigned>(z));
            for (int at = z * nx * ny; at < (z + 1) * nx * ny; ++at) {
                const double re = random.next();
                spectrum_[at] = {re, random.next()};
                const int x = at % nx, y = at / nx % ny;
                decay_[at] = std::exp(-4 * alpha * std::numbers::pi * std::numbers::pi *
                                      (square_of_wave(x, nx) + square_of_wave(y, ny) + square_of_wave(z, nz)));
            }
        }
    }

    Complex checksum() const {
        double re = 0, im = 0;
#pragma omp parallel for reduction(+ : re, im)
        for (int j = 1; j <= 1024; ++j) {
            const Complex& point = now_[static_cast<std::size_t>(j % nx + nx * (3 * j % ny + ny * (5 * j % nz)))];
            re += point.re;
            im += point.im;
        }
        return {re / points, im / points};
    }

    Field spectrum_, now_;
    std::vector<double> decay_;
    const std::vector<Complex> roots_x_, roots_y_, roots_z_;
};

}   // namespace

int main(int argc, char** argv) {
    Equation equation;
    nas::measure(argc, argv, "ft", "5", [&equation] {
        equation.solve();
        for (std::size_t i = 0; i < published.size(); ++i) {
            if (!nas::near(equation.sums[i].re, published[i].re, 1e-12) ||
                !nas::near(equation.sums[i].im, published[i].im, 1e-12))
                nas::fail("ft", "not the published checksums");
        }
    });
    return 0;
}
