#include "hart/base.hpp"

#include <algorithm>
#include <mutex>

#include "base/assert.hpp"

namespace weft::hart {
namespace {

// Whether `a` has less than `b` in proportion to what it may have.
bool has_less(std::size_t a, unsigned weight_a, std::size_t b, unsigned weight_b) { return a * weight_b < b * weight_a; }

std::size_t wanted(const Root& root) {
    const std::size_t asked = root.asked > 0 ? static_cast<std::size_t>(root.asked) : 0;
    return root.lulled.load() ? std::min(asked, root.held) : asked;
}

}  // namespace

std::size_t Base::room() const {
    const std::size_t limit = hooks_.limit();
    return limit > granted() ? limit - granted() : 0;
}

// One hart after the other to whoever has the best claim. Equal claims: among those who would have none the one that was served longest ago, so that all
// have their turn; else whoever has the hart already, so that it does not go to and fro.
void Base::fill() {
    std::size_t left = hooks_.limit();
    for (Root* root = first_; root != nullptr; root = root->next) {
        root->target = policy_ == Policy::first_come ? std::min(left, wanted(*root)) : 0;
        left -= root->target;
    }
    if (policy_ == Policy::first_come) return;
    const auto weight = [&](const Root& of) { return policy_ == Policy::weighted ? of.weight : 1; };
    const auto better = [&](const Root& a, const Root& b) {
        if (has_less(a.target, weight(a), b.target, weight(b))) return true;
        if (has_less(b.target, weight(b), a.target, weight(a))) return false;
        if (a.target == 0) return a.served < b.served;
        return a.held > a.target && b.held <= b.target;
    };
    for (; left != 0; --left) {
        Root* best = nullptr;
        for (Root* root = first_; root != nullptr; root = root->next) {
            if (wanted(*root) > root->target && (best == nullptr || better(*root, *best))) best = root;
        }
        if (best == nullptr) return;
        ++best->target;
    }
}

// What a root has beyond its request, and beyond its target where another lacks it, or there are more than there should be.
void Base::ask_back() {
    const std::size_t limit = hooks_.limit();
    std::size_t lacking = granted() > limit ? granted() - limit : 0;
    for (const Root* root = first_; root != nullptr; root = root->next) {
        if (root->target > root->held) lacking += root->target - root->held;
    }
    lacking -= std::min(lacking, room());
    for (Root* root = first_; root != nullptr; root = root->next) {
        const std::size_t beyond_target = root->held > root->target ? root->held - root->target : 0;
        const std::size_t beyond_request = root->held > wanted(*root) ? root->held - wanted(*root) : 0;
        const std::size_t back = std::max(std::min(beyond_target, lacking), beyond_request);
        lacking -= std::min(lacking, back);
        // Counted before it is said. relaxed: a hint.
        if (back != 0 && root->wanted_back.load(std::memory_order_relaxed) == 0) root->asked_back.fetch_add(1);
        root->wanted_back.store(static_cast<std::uint32_t>(back));
    }
}

Root* Base::neediest() const {
    Root* best = nullptr;
    for (Root* root = first_; root != nullptr; root = root->next) {
        if (root->target <= root->held) continue;
        if (best == nullptr || root->held < best->held || (root->held == best->held && root->served < best->served)) best = root;
    }
    return best;
}

void Base::count(Root& root) {
    ++root.held;
    root.served = ++grants_;
    granted_.fetch_add(1, std::memory_order_relaxed);   // relaxed: under the lock, as below
}

void Base::uncount(Root& root) {
    WEFT_ASSERT(root.held != 0);
    --root.held;
    granted_.fetch_sub(1, std::memory_order_relaxed);
}

void Base::settle() {
    // What nobody has been sent with is not on its way.
    for (Root* root = first_; root != nullptr; root = root->next) {
        for (; root->coming != 0 && root->held > wanted(*root); --root->coming) uncount(*root);
    }
    fill();
    while (room() != 0) {
        Root* const root = neediest();
        if (root == nullptr) break;
        count(*root);
        ++root->coming;
    }
    ask_back();
}

void Base::send_out() {
    for (;;) {
        Root* to = nullptr;
        {
            std::lock_guard guard(lock_);
            for (Root* root = first_; root != nullptr && to == nullptr; root = root->next) {
                if (root->coming != 0) to = root;
            }
            if (to == nullptr) return;
            --to->coming;
        }
        // It holds the hart that is on its way, so it stays.
        if (hooks_.send(*to, hooks_.argument)) continue;
        bool left;
        {
            std::lock_guard guard(lock_);
            uncount(*to);
            left = unlinked(*to);
            // Nobody can be had for the others, either. Whoever changes something next tries again. None of them is closing: its request would be over.
            for (Root* root = first_; root != nullptr; root = root->next) {
                for (; root->coming != 0; --root->coming) uncount(*root);
            }
        }
        if (left) hooks_.closed(*to, hooks_.argument);
        return;
    }
}

template <class Change>
void Base::change(Change change) {
    {
        std::lock_guard guard(lock_);
        change();
        settle();
    }
    send_out();
}

void Base::join(Root& root) {
    std::lock_guard guard(lock_);
    Root** end = &first_;
    while (*end != nullptr) end = &(*end)->next;
    *end = &root;
    root.next = nullptr;
    root.served = grants_;
}

void Base::close(Root& root) {
    change([&] {
        WEFT_ASSERT(root.held != 0);
        root.closing = true;
        root.asked = 0;
    });
}

bool Base::unlinked(Root& root) {
    if (!root.closing || root.held != 0) return false;
    Root** at = &first_;
    while (*at != &root) at = &(*at)->next;
    *at = root.next;
    return true;
}

void Base::set_policy(Policy policy) {
    change([&] { policy_ = policy; });
}

void Base::set_weight(Root& root, unsigned weight) {
    change([&] { root.weight = weight; });
}

void Base::request(Root& root, std::ptrdiff_t delta) {
    change([&] {
        root.asked += delta;
        if (delta > 0) root.lulled.store(false);
    });
}

void Base::limit_changed() {
    change([] {});
}

Root* Base::give_back(Root& root, bool& last) {
    Root* next;
    change([&] {
        uncount(root);
        last = unlinked(root);
        fill();
        next = room() != 0 ? neediest() : nullptr;
        if (next != nullptr) count(*next);
    });
    return next;
}

void Base::take(Root& root) {
    change([&] {
        ++root.asked;
        count(root);
    });
}

void Base::put(Root& root) {
    change([&] {
        --root.asked;
        uncount(root);
    });
}

void Base::move(Root& from, std::ptrdiff_t from_delta, Root& to, std::ptrdiff_t to_delta, bool& last) {
    change([&] {
        from.asked += from_delta;
        uncount(from);
        last = unlinked(from);
        to.asked += to_delta;
        count(to);
    });
}

}  // namespace weft::hart
