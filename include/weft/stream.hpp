// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams in C++: a stream runs units on a hart in the order that its scheduler chooses. A
// stream_ref is one pointer and owns nothing; a `stream` owns a stream, and stops it when
// destroyed.
#pragma once

#include <weft/language.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <weft/stream.h>
#include <weft/kind.hpp>
#include <weft/pool.hpp>
#include <weft/sched.hpp>
#include <weft/status.hpp>

namespace weft {
inline namespace v0 {

/** A reference to a stream; it owns nothing. Any number of threads may use one stream. */
class stream_ref {
public:
    /** No stream. */
    constexpr stream_ref() noexcept = default;
    /** The stream behind a handle of the C interface. */
    constexpr stream_ref(weft_stream* handle) noexcept : handle_(handle) {}   // NOLINT: meant to convert

    /** The handle, for calls of the C interface. */
    constexpr weft_stream* native_handle() const noexcept { return handle_; }
    /** Whether there is a stream. */
    explicit constexpr operator bool() const noexcept { return handle_ != nullptr; }
    /** Whether both are the same stream. */
    friend constexpr bool operator==(stream_ref, stream_ref) noexcept = default;

    /** Its rank: 0 for the stream of the thread that started the runtime. */
    std::size_t rank() const {
        std::size_t rank = 0;
        check(weft_stream_rank_get(handle_, &rank));
        return rank;
    }

    /** Its name; valid as long as the stream exists. */
    std::string_view name() const {
        const char* name = "";
        check(weft_stream_name_get(handle_, &name));
        return name;
    }

    /** Its main pool. */
    pool_ref pool() const {
        weft_pool* pool = nullptr;
        check(weft_stream_pool_get(handle_, &pool));
        return pool;
    }

    /** Asks the stream to run nothing from its next switch until resume(). Does not wait. */
    void suspend() const { check(weft_stream_suspend(handle_)); }
    /** Lets the suspended stream run again. */
    void resume() const { check(weft_stream_resume(handle_)); }

    /** From now on, ULTs spawned on the stream without a kind are of this kind; see
     * weft_stream_kind_set. From a unit that runs on the stream. */
    void set_kind(unit_kind kind) const { check(weft_stream_kind_set(handle_, static_cast<weft_kind>(kind))); }

    /** Binds its carrier to one hart, which replaces an earlier binding. */
    void bind_hart(std::size_t hart) const { check(weft_stream_bind_hart(handle_, hart)); }
    /** Binds its carrier to a set of CPUs, "0-3,8". */
    void bind_cpus(const char* cpus) const { check(weft_stream_bind_cpus(handle_, cpus)); }
    /** Binds its carrier to a set of CPUs, given as a std::string. */
    void bind_cpus(const std::string& cpus) const { bind_cpus(cpus.c_str()); }
    /** Binds its carrier to the CPUs of a NUMA node. */
    void bind_numa(unsigned node) const { check(weft_stream_bind_numa(handle_, node)); }
    /** Lets its carrier run on all CPUs of the process again. */
    void unbind() const { check(weft_stream_unbind(handle_)); }

    /** The CPUs that its carrier may run on, as "0-3,8". */
    std::string binding() const {
        std::array<char, 4096> text{};   // a set of 1,024 CPUs, written as singles, fits
        check(weft_stream_binding_get(handle_, text.data(), text.size()));
        return text.data();
    }

    /** The stream's scheduler, which may be replaced at any moment. */
    scheduler_ref get_scheduler() const {
        weft_sched* sched = nullptr;
        check(weft_stream_sched_get(handle_, &sched));
        return sched;
    }

    /** Gives the stream another scheduler, which takes over when the stream's loop has its next
     * turn; see weft_stream_sched_set. The stream then owns the scheduler. */
    void set_scheduler(scheduler&& next) const {
        check(weft_stream_sched_set(handle_, next.native_handle()));
        static_cast<void>(next.release());
    }

protected:
    /** The handle; a derived class that owns the stream changes it. */
    weft_stream* handle_ = nullptr;
};

/** The options of a new stream; to be written with designated initialisers. A field that is left
 * out has its default. Since 0.7. */
struct stream_options {
    /** its main pool, when it is given no scheduler; none: a new pool, freed with the stream */
    pool_ref pool = {};
    /** at most 15 bytes are kept; null: "weft/RANK" */
    const char* name = nullptr;
    /** the kind of threads that are spawned on the stream without a kind */
    unit_kind kind = unit_kind::unspecified;
    /** what weft_stream_data_get returns from the beginning */
    void* data = nullptr;
};

/** A stream that is stopped, once its pools are empty, and freed when this object is destroyed.
 * When the destructor cannot stop it, because a unit that runs on it or a tasklet is the caller,
 * the stream stays until the runtime ends; stop() throws in that case. */
class stream : public stream_ref {
public:
    /** Starts a stream with a pool of its own. `name`: at most 15 bytes are kept; null:
     * "weft/RANK". */
    explicit stream(const char* name = nullptr) : stream(stream_options{.name = name}) {}
    /** Starts a stream with this main pool. */
    explicit stream(pool_ref pool, const char* name = nullptr) : stream(stream_options{.pool = pool, .name = name}) {}
    /** Starts a stream with this scheduler, which it then owns. */
    explicit stream(scheduler&& runs, const char* name = nullptr)
        : stream(std::move(runs), stream_options{.name = name}) {}
    /** Starts a stream with the options `wanted`. Since 0.7. */
    explicit stream(const stream_options& wanted) { start(nullptr, wanted); }
    /** Starts a stream with the options `wanted` and this scheduler, which it then owns. Since
     * 0.7. */
    stream(scheduler&& runs, const stream_options& wanted) {
        start(runs.native_handle(), wanted);
        static_cast<void>(runs.release());
    }
    /** Takes ownership of a stream of the C interface. */
    explicit stream(weft_stream* handle) noexcept : stream_ref(handle) {}
    /** Takes the stream; `other` is left with none. */
    stream(stream&& other) noexcept : stream_ref(std::exchange(other.handle_, nullptr)) {}
    /** Stops this stream as the destructor does, then takes the other. */
    stream& operator=(stream&& other) noexcept {
        stream(std::move(other)).swap(*this);
        return *this;
    }
    /** Stops and frees the stream. May switch. */
    ~stream() {
        if (handle_ != nullptr) weft_stream_join_free(handle_);
    }

    /** Stops the stream once its pools are empty, waits until it has stopped, and frees it. Throws,
     * and keeps the stream, when the caller cannot do that. May switch. */
    void stop() {
        check(weft_stream_join_free(handle_));
        handle_ = nullptr;
    }

    /** Gives the stream up without stopping it. */
    weft_stream* release() noexcept { return std::exchange(handle_, nullptr); }

    /** Exchanges two streams. */
    void swap(stream& other) noexcept { std::swap(handle_, other.handle_); }
    /** Exchanges two streams. */
    friend void swap(stream& one, stream& other) noexcept { one.swap(other); }

private:
    void start(weft_sched* sched, const stream_options& wanted) {
        weft_stream_options options{};
        options.size = sizeof options;
        options.sched = sched;
        options.pool = wanted.pool.native_handle();
        options.name = wanted.name;
        options.kind = static_cast<weft_kind>(wanted.kind);
        options.data = wanted.data;
        check(weft_stream_create(&options, &handle_));
    }
};

/** How many streams there are. */
inline std::size_t stream_count() noexcept { return weft_stream_count(); }

/** The stream with this rank, or none. */
inline stream_ref stream_at(std::size_t rank) noexcept { return weft_stream_at(rank); }

/** Queries of the calling stream about itself. */
namespace this_stream {

/** The stream that runs the caller, or none outside of streams. After a call that may switch it may
 * be another stream. */
inline stream_ref self() noexcept { return weft_stream_self(); }

}   // namespace this_stream

}   // namespace v0
}   // namespace weft
