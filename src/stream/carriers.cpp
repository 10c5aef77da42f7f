// The OS threads that take harts to domains, and those that rescue. Each is a stream that draws from one pool, where nothing waits but letters: harts on their way.
#include <mutex>

#include "stream/domain.hpp"
#include "stream/error.hpp"
#include "stream/runtime.hpp"

namespace weft {
namespace {

// A hart on its way to a root: a letter in the carriers' pool.
struct Sent {
    Unit letter;
    Domain* to;
    Transition transition;                 // what it does there first
};

Domain* domain_of(hart::Root* root) { return reinterpret_cast<Domain*>(root); }

// Of the hart that the calling carrier has brought, until it goes back to the base.
void arrive(void* raw) {
    auto* const sent = static_cast<Sent*>(raw);
    Stream& stream = current();
    set_domain(stream, sent->to);
    stream.transition = sent->transition;
    os::destroy(sent);
    serve(stream);
    carrier_is_free(runtime().carriers);
}

bool start_carrier(Runtime& of, const Carriers& by) {
    Pool* pools[] = {by.sent};
    Sched* const sched = sched::create(WEFT_SCHED_BASIC, nullptr, nullptr, pools, 1);
    if (sched == nullptr) return false;
    enlist(*sched);
    Stream* stream;
    if (start_stream(*sched, nullptr, by.name, &stream, of.default_kind, nullptr, true) == WEFT_OK) return true;
    dismiss(*sched);
    return false;
}

// One more carrier is busy: an idle one, or a new one. False: there is none, and none can be started. Under their lock.
bool engage_carrier(Runtime& of, Carriers& by) {
    if (by.closed) return false;
    if (by.busy == by.count) {
        if (by.sent == nullptr) {
            Pool* const made = make_pool(WEFT_POOL_SHARED);
            if (made == nullptr) return false;
            made->letters = true;
            enlist(*made);
            by.sent = made;
        }
        if (!start_carrier(of, by)) return false;
        ++by.count;
    }
    ++by.busy;
    return true;
}

}  // namespace

hart::Base::Hooks base_hooks(Runtime& of) {
    return {.limit = hart::limit,
            .now_ns = os::now_ns,
            .send = [](hart::Root& root, void* raw) {
                auto& to = *static_cast<Runtime*>(raw);
                return &root == &to.streams_root ? end_waiting(to) : pass_on(*domain_of(&root), {});
            },
            .closed = [](hart::Root& root, void*) { complete(*domain_of(&root)); },
            .tell = [](hart::Root& root, void* raw) { ask_to_step_aside(*static_cast<Runtime*>(raw), root.wanted_back.load()); },
            .watch = [](std::uint64_t deadline_ns, void* raw) { static_cast<Runtime*>(raw)->lookout.watch(deadline_ns); },
            .lacking = [](void* raw) { wake_watchdog(*static_cast<Runtime*>(raw)); },
            .argument = &of};
}

bool send_letter(Carriers& by, Unit& letter, void (*body)(void*), void* argument) {
    std::lock_guard guard(by.lock);
    if (!engage_carrier(runtime(), by)) return false;
    letter.body = body;
    letter.argument = argument;
    letter.kind = Kind::tasklet;
    letter.flags = Unit::internal;
    letter.pool = by.sent;
    pool::push(*by.sent, &letter);
    return true;
}

void carrier_is_free(Carriers& of) {
    std::lock_guard guard(of.lock);
    --of.busy;
}

bool pass_on(Domain& domain, const Transition& transition) {
    auto* const sent = os::make<Sent>();
    if (sent == nullptr) return false;
    sent->to = &domain;
    sent->transition = transition;
    if (send_letter(runtime().carriers, sent->letter, arrive, sent)) return true;
    os::destroy(sent);
    return false;
}

void hart_to_domain(Stream& stream, Domain& domain) {
    stream.holds_hart = false;
    bool last;
    runtime().base.move(runtime().streams_root, -1, domain.root, 1, last);   // what it is registered with counts as requested
}

bool hart_to_base(Stream& stream, Domain& domain) {
    bool last = false;
    if (stream.only_carries()) {
        set_domain(stream, domain_of(runtime().base.give_back(domain.root, last)));
    } else {
        set_domain(stream, nullptr);
        runtime().base.move(domain.root, 0, runtime().streams_root, 1, last);
        stream.holds_hart = true;
    }
    return last;
}

}  // namespace weft
