// The OS threads that take harts to domains, and those that rescue. Each is a stream that draws from one pool, where nothing waits but letters: harts on their way.
#include <mutex>

#include "stream/domain.hpp"
#include "stream/error.hpp"
#include "stream/guest.hpp"
#include "stream/runtime.hpp"

namespace weft {

// A hart on its way to a root: a letter in the carriers' pool.
struct Sent {
    Unit letter;
    Carriers* by;
    Domain* to;
    Transition transition;                 // what it does there first
};

namespace {

// One is kept for the next: most of the time there is one hart on its way at once, and an allocation takes a good part of that.
Sent* make_sent(Carriers& by) {
    Sent* const kept = by.spare.exchange(nullptr);
    if (kept == nullptr) return os::make<Sent>();
    return new (kept) Sent();
}

void give_sent(Carriers& by, Sent& sent) {
    Sent* none = nullptr;
    if (!by.spare.compare_exchange_strong(none, &sent)) os::destroy(&sent);
}

Domain* domain_of(hart::Root* root) { return reinterpret_cast<Domain*>(root); }

Sent& sent_by(Unit& letter) { return *static_cast<Sent*>(letter.argument); }

// The hart is in its domain, with the calling stream.
void bring(Stream& stream, Sent& sent) {
    set_domain(stream, sent.to);
    stream.transition = sent.transition;
    give_sent(*sent.by, sent);
}

// Of the hart that the calling carrier has brought, until it goes back to the base.
void arrive(void* raw) {
    auto& sent = *static_cast<Sent*>(raw);
    Stream& stream = current();
    if (stream.guest != nullptr && !lends_itself(stream)) return pool::push(*sent.letter.pool, &sent.letter);
    Carriers& by = *sent.by;
    bring(stream, sent);
    serve(stream);
    carrier_is_free(by);
}

// Under the lock, as what follows.
Pool* obtain_pool(Carriers& by) {
    if (by.sent == nullptr) {
        Pool* const made = make_pool(WEFT_POOL_SHARED);
        if (made == nullptr) return nullptr;
        made->letters = true;
        enlist(*made);
        by.sent = made;
    }
    return by.sent;
}

// One more that is not busy yet.
bool start_carrier(Runtime& of, Carriers& by) {
    Pool* const sent = obtain_pool(by);
    Sched* const sched = sent == nullptr ? nullptr : sched::create(WEFT_SCHED_BASIC, nullptr, nullptr, const_cast<Pool**>(&sent), 1);
    if (sched == nullptr) return false;
    enlist(*sched);
    Stream* stream;
    if (start_stream(*sched, nullptr, by.name, &stream, of.default_kind, nullptr, true) == WEFT_OK) {
        ++by.count;
        ++by.started;
        return true;
    }
    dismiss(*sched);
    return false;
}

// One more carrier is busy: an idle one, or a new one. False: there is none, and none can be started.
bool engage_carrier(Runtime& of, Carriers& by) {
    if (by.closed || (by.busy >= by.count && !start_carrier(of, by))) return false;
    ++by.busy;
    return true;
}

bool pass_on_by(Carriers& by, Domain& domain, const Transition& transition) {
    Sent* const sent = make_sent(by);
    if (sent == nullptr) return false;
    sent->by = &by;
    sent->to = &domain;
    sent->transition = transition;
    if (send_letter(by, sent->letter, arrive, sent)) return true;
    give_sent(by, *sent);
    return false;
}

// Whoever is to have the hart comes for it. False: nobody can be had.
bool send_hart(hart::Root& root, void* raw) {
    auto& of = *static_cast<Runtime*>(raw);
    if (&root == &of.streams_root) return end_waiting(of);
    if (!root.guest) return pass_on(*domain_of(&root), {});
    admitted(guest_of(root));
    return true;
}

}  // namespace

Carriers::~Carriers() {
    if (spare.load() != nullptr) os::destroy(spare.load());
}

Pool* carriers_pool(Runtime& of) {
    std::lock_guard guard(of.carriers.lock);
    return obtain_pool(of.carriers);
}

void count_guest(Runtime& of, int more) {
    std::lock_guard guard(of.carriers.lock);
    of.guests.fetch_add(static_cast<std::size_t>(more));
    of.carriers.count += static_cast<std::size_t>(more);
    of.carriers.busy += static_cast<std::size_t>(more);
}

void lend_thread(Guest& guest) {
    guest.lends = true;
    carrier_is_free(runtime().carriers);
}

void keep_thread(Stream& stream) {
    Runtime& of = runtime();
    stream.guest->lends = false;
    {
        std::lock_guard guard(of.carriers.lock);
        if (++of.carriers.busy <= of.carriers.count || start_carrier(of, of.carriers)) return;
    }
    // A hart is on its way for which this thread was counted on. It goes back.
    Unit* const letter = pool::pop(*of.carriers.sent);
    if (letter == nullptr) return;   // somebody has come for it
    bring(stream, sent_by(*letter));
    send_away(stream);
    carrier_is_free(of.carriers);
}

Domain* onwards(hart::Root* root) {
    Runtime& of = runtime();
    if (root == nullptr || (!root->guest && root != &of.streams_root)) return domain_of(root);
    if (!send_hart(*root, &of)) of.base.put(*root, 0);
    return nullptr;
}

hart::Base::Hooks base_hooks(Runtime& of) {
    return {.limit = hart::limit,
            .now_ns = os::now_ns,
            .send = send_hart,
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

bool pass_on(Domain& domain, const Transition& transition) { return pass_on_by(runtime().carriers, domain, transition); }
bool pass_on_to_own(Domain& domain) { return pass_on_by(runtime().own_carriers, domain, {}); }

void hart_to_domain(Stream& stream, Domain& domain) {
    stream.holds_hart = false;
    hart::Root& from = stream.guest != nullptr ? stream.guest->root : runtime().streams_root;
    bool last;
    runtime().base.move(from, -1, domain.root, 1, last);   // what it is registered with counts as requested
    if (stream.guest != nullptr) from.keeps.store(hart::Root::Keeps::waits);
}

bool hart_to_base(Stream& stream, Domain& domain, bool takes_next) {
    bool last = false;
    if (stream.only_carries()) {
        set_domain(stream, nullptr);
        hart::Root* const next = runtime().base.give_back(domain.root, last, takes_next);
        if (Domain* const to = onwards(next)) set_domain(stream, to);
    } else {
        set_domain(stream, nullptr);
        runtime().base.move(domain.root, 0, runtime().streams_root, 1, last);
        stream.holds_hart = true;
    }
    return last;
}

}  // namespace weft
