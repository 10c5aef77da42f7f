// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stands for OpenBLAS in the test: an exec_blas that is called through the loader's table, as in
// OpenBLAS, and calls its argument.
extern "C" {

[[gnu::visibility("default")]] int exec_blas(long count, void* queue) {
    reinterpret_cast<void (*)(long)>(queue)(count);
    return 7;
}
[[gnu::visibility("default")]] int multiply(long count, void (*body)(long)) {
    return exec_blas(count, reinterpret_cast<void*>(body)) + 1;
}

static void (*when_set)(int);
[[gnu::visibility("default")]] void goto_set_num_threads(int count) {
    if (when_set != nullptr) when_set(count);
}
[[gnu::visibility("default")]] void set_threads(int count, void (*then)(int)) {
    when_set = then;
    goto_set_num_threads(count);
}
[[gnu::visibility("default")]] int call_by_address(int (*exec)(long, void*), void (*body)(long)) {
    return exec(1, reinterpret_cast<void*>(body)) + 2;
}
}
