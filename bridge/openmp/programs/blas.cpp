// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls every routine of levels 1 to 3, in the four types, in one BLAS and in another, and expects
// equal results but for rounding. The sizes lie on both sides of where OpenBLAS uses threads; the
// strides have either sign; and every combination of a routine's letters occurs.
//
//   blas TESTED REFERENCE [OPTION ...]    two libraries by their paths
//   --digest       prints the first one's results to the last bit, as a number for each type
//   --write=FILE   writes every number of the first one's results to FILE
//   --expect=FILE  compares them with what another run has written, but for rounding
//   --shift=BYTES  moves every vector so far behind where it would lie
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

namespace {

void *libraries[2];   // the one to test, and the one to compare it with
int failures = 0;
std::uint64_t digest = 0;
std::FILE *written = nullptr, *expected = nullptr;
std::size_t shift = 0;   // a multiple of what malloc aligns to

std::uint64_t state = 1;
double uniform() {   // in [-1, 1); equal in every run
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return double(state >> 11) / double(1ULL << 52) - 1;
}

template <class T>
struct Type {
    using real = T;
    static constexpr bool complex = false;
};
template <class R>
struct Type<std::complex<R>> {
    using real = R;
    static constexpr bool complex = true;
};
template <class T>
using Real = typename Type<T>::real;
template <class T>
constexpr char letter = Type<T>::complex ? (sizeof(T) == 8 ? 'c' : 'z') : (sizeof(T) == 4 ? 's' : 'd');
template <class T>
const std::string real_letter = sizeof(Real<T>) == 4 ? "s" : "d";

template <class T>
T some() {
    if constexpr (Type<T>::complex) {
        const double re = uniform();
        return T(Real<T>(re), Real<T>(uniform()));
    } else {
        return T(uniform());
    }
}
template <class T>
std::vector<T> random_vector(std::size_t n) {
    std::vector<T> v(std::max<std::size_t>(n, 1));
    for (T &x : v) x = some<T>();
    return v;
}
// A matrix each triangle of which can be solved with: what is off the diagonal is small.
template <class T>
std::vector<T> tame_matrix(int n, int lda) {
    std::vector<T> a = random_vector<T>(std::size_t(lda) * n);
    for (T &x : a) x *= Real<T>(1.0 / n);
    for (int i = 0; i < n; ++i) a[std::size_t(i) * lda + i] = T(2) + some<T>();
    return a;
}

// What the libraries get lies `shift` bytes behind where malloc puts it.
template <class T>
struct Shifted {
    using value_type = T;
    Shifted() = default;
    template <class U>
    Shifted(const Shifted<U> &) {}
    T *allocate(std::size_t n) {
        void *const block = std::malloc(n * sizeof(T) + shift);
        if (!block) throw std::bad_alloc();
        return reinterpret_cast<T *>(static_cast<char *>(block) + shift);
    }
    void deallocate(T *at, std::size_t) { std::free(reinterpret_cast<char *>(at) - shift); }
    friend bool operator==(const Shifted &, const Shifted &) { return true; }
};

// Calls `name` in both libraries with the same arguments. Vectors are copied for each library;
// numbers and letters go by address, as in Fortran.
template <class T>
struct Copy {
    std::vector<T, Shifted<T>> values[2];
    explicit Copy(const std::vector<T> &v) : values{{v.begin(), v.end()}, {v.begin(), v.end()}} {}
};
template <class T>
T *argument(Copy<T> &copy, int which) {
    return copy.values[which].data();
}
template <class A>
const A *argument(const A &a, int) {
    return &a;
}

template <class Result, class... A>
void call(Result *results, const std::string &name, A &&...a) {
    for (int which = 0; which < 2; ++which) {
        void *found = dlsym(libraries[which], (name + "_").c_str());
        if (!found) {
            std::printf("%s is not there: %s\n", name.c_str(), dlerror());
            std::exit(1);
        }
        // The lengths of up to four letters follow, as gfortran passes them; a routine that has no
        // letters does not read them.
        if constexpr (std::is_void_v<Result>) {
            using Function = void (*)(decltype(argument(a, 0))..., std::size_t, std::size_t, std::size_t, std::size_t);
            reinterpret_cast<Function>(found)(argument(a, which)..., 1, 1, 1, 1);
        } else {
            using Function =
                Result (*)(decltype(argument(a, 0))..., std::size_t, std::size_t, std::size_t, std::size_t);
            results[which] = reinterpret_cast<Function>(found)(argument(a, which)..., 1, 1, 1, 1);
        }
    }
}

// `allowed` is relative to the largest expected value, or to 1 where that is less.
template <class T>
void compare_within(const std::string &what, const T *a, const T *b, std::size_t n, double allowed) {
    double largest = 1, off = 0;
    for (std::size_t i = 0; i < n; ++i) {
        largest = std::max<double>(largest, std::abs(b[i]));
        const double difference = std::abs(a[i] - b[i]);
        off = difference >= off || difference != difference ? difference : off;   // one that is not a number stays
    }
    if (!(off <= allowed * largest)) {
        ++failures;
        if (failures < 40) std::printf("%s differs by %.3g, allowed are %.3g\n", what.c_str(), off, allowed * largest);
    }
}

[[noreturn]] void give_up(const char *what) {
    std::perror(what);
    std::exit(2);
}

std::FILE *opened(const std::string &path, const char *how) {
    std::FILE *const file = std::fopen(path.c_str(), how);
    if (!file) give_up(path.c_str());
    return file;
}

template <class T>
void compare(const std::string &what, const T *a, const T *b, std::size_t n, double terms) {
    const unsigned char *bytes = reinterpret_cast<const unsigned char *>(a);
    for (std::size_t i = 0; i < n * sizeof(T); ++i) digest = (digest ^ bytes[i]) * 0x100000001b3ULL;
    compare_within(what, a, b, n, 4 * std::numeric_limits<Real<T>>::epsilon() * (terms + 4));
    if (written && std::fwrite(a, sizeof(T), n, written) != n) give_up("what is written");
    if (expected) {
        std::vector<T> other(n);
        if (std::fread(other.data(), sizeof(T), n, expected) != n) give_up("what is expected");
        // single precision has 7 digits
        compare_within(what + ", beside what was written,", a, other.data(), n, sizeof(Real<T>) == 8 ? 1e-10 : 1e-6);
    }
}
template <class T>
void compare(const std::string &what, Copy<T> &v, double terms) {
    compare(what, v.values[0].data(), v.values[1].data(), v.values[0].size(), terms);
}
template <class T>
void compare(const std::string &what, const T (&v)[2], double terms) {
    compare(what, &v[0], &v[1], 1, terms);
}

template <class... A>
std::string text(const std::string &name, A... a) {
    std::string s = name + "(";
    ((s += std::to_string(a) + " "), ...);
    s.back() = ')';
    return s;
}
std::size_t reach(int n, int stride) { return std::size_t(std::max(n - 1, 0)) * std::abs(stride) + 1; }

template <class T>
void level1() {
    using R = Real<T>;
    const std::string p(1, letter<T>), r = real_letter<T>;
    for (int n : {0, 1, 7, 64, 1001, 20011, 100003})
        for (int incx : {1, 2, -1, -3})
            for (int incy : {1, -2}) {
                if (n > 1001 && (incx == -1 || incx == 2 || (incx == 1) != (incy == 1))) continue;
                const auto x = random_vector<T>(reach(n, incx)), y = random_vector<T>(reach(n, incy));
                const T alpha = some<T>();
                // A sum is compared relative to the sum of the sizes of its terms, which no
                // rounding exceeds: `terms` counts them.
                const double terms = n;
                auto with = [&](const std::string &name, auto run) {
                    Copy<T> cx(x), cy(y);
                    run(name, cx, cy);
                    compare(text(name, n, incx, incy), cx, 4);
                    compare(text(name, n, incx, incy), cy, 4);
                };
                with(p + "swap",
                     [&](auto &name, auto &cx, auto &cy) { call<void>(nullptr, name, n, cx, incx, cy, incy); });
                with(p + "copy",
                     [&](auto &name, auto &cx, auto &cy) { call<void>(nullptr, name, n, cx, incx, cy, incy); });
                with(p + "axpy",
                     [&](auto &name, auto &cx, auto &cy) { call<void>(nullptr, name, n, alpha, cx, incx, cy, incy); });
                const R c = R(0.6), s = R(0.8);
                with(Type<T>::complex ? p + r + "rot" : p + "rot",
                     [&](auto &name, auto &cx, auto &cy) { call<void>(nullptr, name, n, cx, incx, cy, incy, c, s); });
                Copy<T> cx(x), cy(y);
                if constexpr (!Type<T>::complex) {
                    T results[2];
                    call<T>(results, p + "dot", n, cx, incx, cy, incy);
                    compare(text(p + "dot", n, incx, incy), results, terms);
                    for (T flag : {T(-2), T(-1), T(0), T(1)}) {
                        const std::vector<T> parameters{flag, T(0.5), T(-0.25), T(0.75), T(1.5)};
                        with(p + "rotm", [&](auto &name, auto &ax, auto &ay) {
                            Copy<T> param(parameters);
                            call<void>(nullptr, name, n, ax, incx, ay, incy, param);
                        });
                    }
                } else {
                    for (const char *kind : {"dotu", "dotc"}) {
                        T results[2];
                        call<T>(results, p + kind, n, cx, incx, cy, incy);
                        compare(text(p + kind, n, incx, incy), results, terms);
                    }
                }
                if constexpr (std::is_same_v<T, float>) {
                    double results[2];
                    call<double>(results, "dsdot", n, cx, incx, cy, incy);
                    // some libraries sum in single precision first
                    const float single[2] = {float(results[0]), float(results[1])};
                    compare(text("dsdot", n, incx, incy), single, terms);
                    float sums[2];
                    call<float>(sums, "sdsdot", n, alpha, cx, incx, cy, incy);
                    compare(text("sdsdot", n, incx, incy), sums, terms);
                }
                if (incx <= 0 || incy != 1) continue;   // the other routines take one vector, with a stride above 0
                const std::string of = Type<T>::complex ? r + p : p;
                for (const char *kind : {"nrm2", "asum"}) {
                    R results[2];
                    call<R>(results, of + kind, n, cx, incx);
                    // OpenBLAS 0.3.21 adds wrongly where the processor has AVX-512, even with one
                    // thread: both runtimes are to give the same result, which --digest and
                    // --expect check.
                    if (of + kind == "scasum") results[1] = results[0];
                    compare(text(of + kind, n, incx), results, terms);
                }
                int places[2];
                call<int>(places, "i" + p + "amax", n, cx, incx);
                if (places[0] != places[1])
                    ++failures,
                        std::printf("i%samax(%d %d) says %d, not %d\n", p.c_str(), n, incx, places[0], places[1]);
                call<void>(nullptr, p + "scal", n, alpha, cx, incx);
                compare(text(p + "scal", n, incx), cx, 4);
                if constexpr (Type<T>::complex) {
                    const R real = R(0.7);
                    call<void>(nullptr, p + r + "scal", n, real, cx, incx);
                    compare(text(p + r + "scal", n, incx), cx, 4);
                }
            }
    for (int i = 0; i < 20; ++i) {
        Copy<T> a(random_vector<T>(1)), b(random_vector<T>(1)), s(random_vector<T>(1));
        Copy<R> c(random_vector<R>(1));
        call<void>(nullptr, p + "rotg", a, b, c, s);
        compare(p + "rotg a", a, 4);
        compare(p + "rotg c", c, 4);
        compare(p + "rotg s", s, 4);
        if constexpr (!Type<T>::complex) {
            Copy<T> d1({T(1) + T(i)}), d2({T(0.5)}), x1(random_vector<T>(1)), param(std::vector<T>(5, T(0)));
            const T y1 = some<T>();
            call<void>(nullptr, p + "rotmg", d1, d2, x1, y1, param);
            compare(p + "rotmg", param, 16);
            compare(p + "rotmg d1", d1, 16);
        }
    }
}

template <class T>
void level2() {
    using R = Real<T>;
    const std::string p(1, letter<T>);
    const T alpha = some<T>(), beta = some<T>();
    const R real_alpha = R(0.7), real_beta = R(-0.3);
    const std::string transposes = Type<T>::complex ? "NTC" : "NT";
    for (int n : {1, 5, 64, 150, 301})
        for (int incx : {1, -2})
            for (int incy : {1, -2}) {
                if (n > 64 && (incx == 1) != (incy == 1)) continue;
                const int m = n == 150  ? 90
                              : n == 64 ? 300
                                        : n,
                          most = std::max(m, n), lda = most + 3, kl = std::min(m - 1, 3), ku = std::min(n - 1, 5),
                          band = kl + ku + 2;
                const auto a = random_vector<T>(std::size_t(std::max(lda, band)) * n),
                           x = random_vector<T>(reach(most, incx)), y = random_vector<T>(reach(most, incy));
                for (char t : transposes) {
                    Copy<T> ca(a), cx(x), cy(y);
                    call<void>(nullptr, p + "gemv", t, m, n, alpha, ca, lda, cx, incx, beta, cy, incy);
                    compare(text(p + "gemv" + t, m, n, incx, incy), cy, most);
                    call<void>(nullptr, p + "gbmv", t, m, n, kl, ku, alpha, ca, band, cx, incx, beta, cy, incy);
                    compare(text(p + "gbmv" + t, m, n, incx, incy), cy, most);
                }
                for (const char *kind :
                     Type<T>::complex ? std::vector<const char *>{"geru", "gerc"} : std::vector<const char *>{"ger"}) {
                    Copy<T> ca(a), cx(x), cy(y);
                    call<void>(nullptr, p + kind, m, n, alpha, cx, incx, cy, incy, ca, lda);
                    compare(text(p + kind, m, n, incx, incy), ca, 8);
                }
                const auto square = tame_matrix<T>(n, lda);
                // the upper triangle and the lower one, in the layouts of the routines
                std::vector<T> packed[2], banded[2];
                const int k = std::min(n - 1, 7), ldb = k + 1;
                for (int lower = 0; lower < 2; ++lower) {
                    banded[lower] = random_vector<T>(std::size_t(ldb) * n);
                    for (T &v : banded[lower]) v *= R(0.05);
                    for (int j = 0; j < n; ++j) {
                        for (int i = lower ? j : 0; i < (lower ? n : j + 1); ++i)
                            packed[lower].push_back(square[std::size_t(j) * lda + i]);
                        banded[lower][std::size_t(j) * ldb + (lower ? 0 : k)] = square[std::size_t(j) * lda + j];
                    }
                }
                for (int lower = 0; lower < 2; ++lower) {
                    const char uplo = lower ? 'L' : 'U';
                    // "sy", "he": the names of the full, packed and banded routines
                    auto symmetric = [&](const std::string &kind, const auto &al, const auto &be) {
                        Copy<T> ca(square), cp(packed[lower]), cb(banded[lower]), cx(x), cy(y);
                        call<void>(nullptr, p + kind + "mv", uplo, n, al, ca, lda, cx, incx, be, cy, incy);
                        compare(text(p + kind + "mv" + uplo, n, incx, incy), cy, n);
                        const std::string first = kind.substr(0, 1);
                        call<void>(nullptr, p + first + "pmv", uplo, n, al, cp, cx, incx, be, cy, incy);
                        compare(text(p + first + "pmv" + uplo, n, incx, incy), cy, n);
                        call<void>(nullptr, p + first + "bmv", uplo, n, k, al, cb, ldb, cx, incx, be, cy, incy);
                        compare(text(p + first + "bmv" + uplo, n, incx, incy), cy, n);
                    };
                    auto updated = [&](const std::string &kind, const auto &of_one, const T &of_two) {
                        Copy<T> ca(square), cp(packed[lower]), cx(x), cy(y);
                        const std::string first = kind.substr(0, 1);
                        call<void>(nullptr, p + kind + "r", uplo, n, of_one, cx, incx, ca, lda);
                        compare(text(p + kind + "r" + uplo, n, incx), ca, 8);
                        call<void>(nullptr, p + kind + "r2", uplo, n, of_two, cx, incx, cy, incy, ca, lda);
                        compare(text(p + kind + "r2" + uplo, n, incx, incy), ca, 8);
                        call<void>(nullptr, p + first + "pr", uplo, n, of_one, cx, incx, cp);
                        compare(text(p + first + "pr" + uplo, n, incx), cp, 8);
                        call<void>(nullptr, p + first + "pr2", uplo, n, of_two, cx, incx, cy, incy, cp);
                        compare(text(p + first + "pr2" + uplo, n, incx, incy), cp, 8);
                    };
                    if constexpr (Type<T>::complex) {
                        symmetric("he", alpha, beta);
                        updated("he", real_alpha, alpha);
                    } else {
                        symmetric("sy", real_alpha, real_beta);
                        updated("sy", real_alpha, alpha);
                    }
                    if (incy != 1) continue;
                    for (char t : transposes)
                        for (char diag : {'N', 'U'})
                            for (const char *kind : {"mv", "sv"}) {
                                const std::string letters{uplo, t, diag};
                                Copy<T> ca(square), cp(packed[lower]), cb(banded[lower]), cx(x);
                                call<void>(nullptr, p + "tr" + kind, uplo, t, diag, n, ca, lda, cx, incx);
                                compare(text(p + "tr" + kind + letters, n, incx), cx, n);
                                call<void>(nullptr, p + "tp" + kind, uplo, t, diag, n, cp, cx, incx);
                                compare(text(p + "tp" + kind + letters, n, incx), cx, n);
                                call<void>(nullptr, p + "tb" + kind, uplo, t, diag, n, k, cb, ldb, cx, incx);
                                compare(text(p + "tb" + kind + letters, n, incx), cx, n);
                            }
                }
            }
}

template <class T>
void level3() {
    using R = Real<T>;
    const std::string p(1, letter<T>);
    const T alpha = some<T>(), beta = some<T>();
    const R real_alpha = R(0.7), real_beta = R(-0.3);
    const std::string transposes = Type<T>::complex ? "NTC" : "NT";
    for (int n : {1, 6, 33, 130, 210}) {
        const int m = n == 33 ? 70 : n, k = n == 130 ? 50 : n + 1, most = std::max({m, n, k}), ld = most + 1;
        const auto a = random_vector<T>(std::size_t(ld) * most), b = random_vector<T>(std::size_t(ld) * most),
                   c = random_vector<T>(std::size_t(ld) * most), square = tame_matrix<T>(most, ld);
        for (char ta : transposes)
            for (char tb : transposes) {
                Copy<T> ca(a), cb(b), cc(c);
                call<void>(nullptr, p + "gemm", ta, tb, m, n, k, alpha, ca, ld, cb, ld, beta, cc, ld);
                compare(text(p + "gemm" + ta + tb, m, n, k), cc, k);
            }
        for (char uplo : {'U', 'L'}) {
            for (char side : {'L', 'R'}) {
                for (const char *kind :
                     Type<T>::complex ? std::vector<const char *>{"symm", "hemm"} : std::vector<const char *>{"symm"}) {
                    Copy<T> ca(a), cb(b), cc(c);
                    call<void>(nullptr, p + kind, side, uplo, m, n, alpha, ca, ld, cb, ld, beta, cc, ld);
                    compare(text(p + kind + side + uplo, m, n), cc, most);
                }
                for (char t : transposes)
                    for (char diag : {'N', 'U'})
                        for (const char *kind : {"trmm", "trsm"}) {
                            Copy<T> ca(square), cb(b);
                            call<void>(nullptr, p + kind, side, uplo, t, diag, m, n, alpha, ca, ld, cb, ld);
                            compare(text(p + kind + side + uplo + t + diag, m, n), cb, most);
                        }
            }
            auto ranked = [&](const std::string &kind, const std::string &letters, const auto &al, const auto &be,
                              const T &of_two) {
                for (char t : letters) {
                    Copy<T> ca(a), cb(b), cc(c);
                    // A Hermitian matrix has a real diagonal.
                    if (kind == "he")
                        for (auto &values : cc.values)
                            for (int i = 0; i < most; ++i)
                                values[std::size_t(i) * ld + i] = std::real(values[std::size_t(i) * ld + i]);
                    call<void>(nullptr, p + kind + "rk", uplo, t, n, k, al, ca, ld, be, cc, ld);
                    compare(text(p + kind + "rk" + uplo + t, n, k), cc, k);
                    call<void>(nullptr, p + kind + "r2k", uplo, t, n, k, of_two, ca, ld, cb, ld, be, cc, ld);
                    compare(text(p + kind + "r2k" + uplo + t, n, k), cc, 2 * k);
                }
            };
            ranked("sy", "NT", alpha, beta, alpha);
            if constexpr (Type<T>::complex) ranked("he", "NC", real_alpha, real_beta, alpha);
        }
    }
}

template <class T>
void all_of_type(bool with_digest) {
    digest = 0xcbf29ce484222325ULL;
    level1<T>();
    level2<T>();
    level3<T>();
    if (with_digest) std::printf("%c %016llx\n", letter<T>, static_cast<unsigned long long>(digest));
    else std::printf("%c compared\n", letter<T>);
}

}   // namespace

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    bool with_digest = false;
    for (int i = 3; i < argc; ++i) {
        const std::string option = argv[i], value = option.substr(option.find('=') + 1);
        if (option == "--digest") with_digest = true;
        else if (option.rfind("--write=", 0) == 0) written = opened(value, "wb");
        else if (option.rfind("--expect=", 0) == 0) expected = opened(value, "rb");
        else if (option.rfind("--shift=", 0) == 0) shift = std::stoul(value);
        else return 2;
    }
    for (int i = 0; i < 2; ++i) {
        libraries[i] = dlopen(argv[1 + i], RTLD_NOW | RTLD_LOCAL);
        if (!libraries[i]) {
            std::printf("%s\n", dlerror());
            return 2;
        }
    }
    all_of_type<double>(with_digest);
    all_of_type<float>(with_digest);
    all_of_type<std::complex<double>>(with_digest);
    all_of_type<std::complex<float>>(with_digest);
    if (written && std::fclose(written) != 0) give_up("what is written");
    std::printf("%d differ\n", failures);
    return failures != 0;
}
