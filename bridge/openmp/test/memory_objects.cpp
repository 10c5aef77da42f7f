// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Allocators in C++: objects in the allocate clause are made and destroyed where the clause has
// memory for them, in functions and templates; the routines' default arguments; containers on an
// allocator.
#include <cstdint>
#include <new>
#include <stdexcept>
#include <vector>

#include "check.h"

namespace {

int alive;   // objects

class Object {
public:
    explicit Object(int value = 5) : value_(value) { count(1); }
    Object(const Object& other) : value_(other.value_) { count(1); }
    Object& operator=(const Object& other) = default;
    ~Object() { count(-1); }
    int value() const { return value_; }
    void add(int more) { value_ += more; }
    bool is_aligned() const { return reinterpret_cast<std::uintptr_t>(this) % 128 == 0; }

private:
    static void count(int more) {
#pragma omp atomic
        alive += more;
    }
    int value_;
};
#pragma omp declare reduction(sum : Object : omp_out.add(omp_in.value())) initializer(omp_priv = Object(0))

constexpr std::size_t pool_bytes = 65536, most_overhead = 168;

omp_allocator_handle_t made(std::size_t alignment, omp_uintptr_t fallback) {
    const omp_alloctrait_t traits[] = {
        {omp_atk_pool_size, pool_bytes}, {omp_atk_alignment, alignment}, {omp_atk_fallback, fallback}};
    return omp_init_allocator(omp_default_mem_space, 3, traits);
}

bool is_whole(omp_allocator_handle_t allocator) {
    void* const block = omp_alloc(pool_bytes - most_overhead, allocator);
    omp_free(block);
    return block != nullptr;
}

// Each thread has an object of its own in the allocator's memory, made and destroyed once.
void on_regions(omp_allocator_handle_t pool, int threads) {
    Object first(7), own(1), total(100);
    int right = 0;
#pragma omp parallel num_threads(threads) firstprivate(first) private(own) reduction(sum : total) reduction(+ : right) \
    allocate(pool : first, own, total)
    {
        right += first.value() == 7 && own.value() == 5 && first.is_aligned() && own.is_aligned() && total.is_aligned();
        own.add(omp_get_thread_num());
        total.add(own.value() + first.value());
    }
    EQUAL(right, threads);
    EQUAL(total.value(), 100 + 12 * threads + threads * (threads - 1) / 2);
    EQUAL(alive, 3);
    Object last;
#pragma omp parallel for num_threads(threads) lastprivate(last) firstprivate(first) allocate(pool : last, first)
    for (int i = 0; i < 40; ++i) {
        last = Object(i + first.value());
        if (!last.is_aligned()) right = -1;
    }
    CHECK(last.value() == 46 && right == threads);
    EQUAL(alive, 4);
}

// The objects that tasks have copied are alive until they have run.
void on_tasks(omp_allocator_handle_t pool, int threads) {
    int right = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    {
        for (int i = 0; i < 30; ++i) {
            Object copy(i);
#pragma omp task firstprivate(copy) allocate(pool : copy) shared(right)
            if (copy.is_aligned()) {
#pragma omp atomic
                right += copy.value();
            }
        }
        Object begins(2);
#pragma omp taskloop firstprivate(begins) allocate(pool : begins) shared(right) num_tasks(5)
        for (int i = 0; i < 20; ++i) {
#pragma omp atomic
            right += begins.is_aligned() ? begins.value() : 1000;
        }
    }
    EQUAL(right, 435 + 40);
    EQUAL(alive, 0);
}

template <class Value, std::size_t alignment>
int in_template(Value value, omp_allocator_handle_t pool, int threads) {
    int right = 0;
    Value& reference = value;
#pragma omp parallel num_threads(threads) firstprivate(reference) reduction(+ : right) \
    allocate(align(alignment), allocator(pool) : reference, right)
    right += reinterpret_cast<std::uintptr_t>(&reference) % alignment == 0 && reference == value;
    return right;
}

// An exception within a region leaves nothing in the pool.
void exceptions(omp_allocator_handle_t pool, int threads) {
    int caught = 0;
    Object own;
#pragma omp parallel num_threads(threads) firstprivate(own) allocate(pool : own) reduction(+ : caught)
    try {
        own.add(1);
        std::vector<int> more(3);
        more.at(static_cast<std::size_t>(own.value())) = 1;
    } catch (const std::out_of_range&) {
        ++caught;
    }
    EQUAL(caught, threads);
    EQUAL(alive, 1);
}

// The standard library's interface on an allocator, as programs write it around the routines.
template <class Value>
struct Adapter {
    using value_type = Value;
    omp_allocator_handle_t handle;
    explicit Adapter(omp_allocator_handle_t from) : handle(from) {}
    template <class Other>
    explicit Adapter(const Adapter<Other>& other) : handle(other.handle) {}
    Value* allocate(std::size_t count) {
        void* const memory = omp_alloc(count * sizeof(Value), handle);
        if (memory == nullptr) throw std::bad_alloc();
        return static_cast<Value*>(memory);
    }
    void deallocate(Value* memory, std::size_t) { omp_free(memory, handle); }
    bool operator==(const Adapter& other) const { return handle == other.handle; }
    bool operator!=(const Adapter& other) const { return handle != other.handle; }
};

void containers(omp_allocator_handle_t pool, int threads) {
    int refused = 0;
#pragma omp parallel num_threads(threads) reduction(+ : refused)
    {
        std::vector<int, Adapter<int>> numbers{Adapter<int>(pool)};
        try {
            for (int i = 0; i < 100000; ++i) numbers.push_back(i);
        } catch (const std::bad_alloc&) {
            ++refused;
        }
        for (std::size_t i = 0; i < numbers.size(); ++i) CHECK(numbers[i] == static_cast<int>(i));
    }
    EQUAL(refused, threads);
}

void default_arguments() {
    omp_set_default_allocator(omp_large_cap_mem_alloc);
    EQUAL(omp_get_default_allocator(), omp_large_cap_mem_alloc);
    omp_set_default_allocator(omp_null_allocator);
    EQUAL(omp_get_default_allocator(), omp_default_mem_alloc);
    char* block = static_cast<char*>(omp_alloc(10));
    block[9] = 3;
    block = static_cast<char*>(omp_realloc(block, 20));
    CHECK(block != nullptr && block[9] == 3);
    omp_free(block);
    void* const blocks[] = {omp_calloc(3, 5), omp_aligned_alloc(64, 128), omp_aligned_calloc(64, 2, 64)};
    for (void* const each : blocks) {
        CHECK(each != nullptr);
        omp_free(each);
    }
}

}   // namespace

int main() {
    const omp_allocator_handle_t pool = made(128, omp_atv_abort_fb), small = made(1, omp_atv_null_fb);
    CHECK(pool != omp_null_allocator && small != omp_null_allocator);
    EACH_SIZE(size) {
        on_regions(pool, size);
        on_tasks(pool, size);
        EQUAL((in_template<double, 256>(2.5, pool, size)), size);
        EQUAL((in_template<char, 64>('c', omp_low_lat_mem_alloc, size)), size);
        exceptions(pool, size);
        containers(small, size);
        CHECK(is_whole(pool) && is_whole(small));
        EQUAL(alive, 0);
    }
    default_arguments();
    omp_destroy_allocator(small);
    omp_destroy_allocator(pool);
    return verdict();
}
