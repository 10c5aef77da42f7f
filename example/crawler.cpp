// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A crawler: a task for each page, found by following links from the first page. A semaphore limits
// how many pages are fetched at once, a mutex protects the set of pages that were seen, and a
// deadline ends the crawl. The web is in memory, and answers after a millisecond, in which other
// tasks run.
//
// Prints the result of a crawl that has time enough, and of one that has not.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <weft/weft.hpp>

namespace {

using steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

// The links of each page.
using web = std::map<std::string, std::vector<std::string>>;

web make_web() {
    web pages;
    const auto url = [](int i) { return "/page/" + std::to_string(i); };
    for (int i = 0; i < 200; ++i) {
        std::vector<std::string>& links = pages[url(i)];
        links.push_back(url(11 * i % 210));   // beyond 199: there is no such page
        for (const int child : {2 * i + 1, 2 * i + 2}) {
            if (child < 200) links.push_back(url(child));
        }
    }
    return pages;
}

class crawler {
public:
    static constexpr int most_at_once = 16;

    crawler(const web& pages, steady::time_point deadline) : pages_(pages), deadline_(deadline) {}

    // Returns whether all pages that can be reached were visited before the deadline.
    bool crawl(const std::string& first) {
        add(first);
        return tasks_.wait();
    }
    std::size_t found() const { return found_; }
    std::size_t missing() const { return missing_; }

private:
    // A task for the page, unless the page has one. Tasks call this, too.
    void add(const std::string& url) {
        {
            const std::lock_guard guard(mutex_);
            if (!seen_.insert(url).second) return;
        }
        tasks_.run([this, url] { visit(url); });
    }

    void visit(const std::string& url) {
        if (!fetch()) return static_cast<void>(tasks_.cancel());   // tasks that have not begun never do
        const auto page = pages_.find(url);
        {
            const std::lock_guard guard(mutex_);
            ++(page != pages_.end() ? found_ : missing_);
        }
        if (page == pages_.end()) return;
        for (const std::string& link : page->second) add(link);
    }

    // Waits for a slot, and for the answer. False: the deadline came first.
    bool fetch() {
        if (!slots_.try_acquire_until(deadline_)) return false;
        const auto answer = steady::now() + 1ms;
        weft::this_thread::sleep_until(std::min(answer, deadline_));
        slots_.release();
        return answer <= deadline_;
    }

    const web& pages_;
    const steady::time_point deadline_;
    weft::counting_semaphore<> slots_{most_at_once};
    weft::mutex mutex_;
    std::set<std::string> seen_;   // under the mutex, as the two numbers
    std::size_t found_ = 0;
    std::size_t missing_ = 0;
    weft::task_group tasks_;   // the last member: its destructor waits for the tasks
};

}   // namespace

int main() try {
    const weft::runtime runtime;
    const web pages = make_web();

    crawler patient(pages, steady::now() + 30s);
    const bool all = patient.crawl("/page/0");
    std::printf("%zu pages, %zu broken links, %s\n", patient.found(), patient.missing(),
                all ? "complete" : "incomplete");

    // All pages need more than 10 ms, at 1 ms for 16 of them.
    crawler hasty(pages, steady::now() + 5ms);
    std::printf("within 5 ms: %s\n", hasty.crawl("/page/0") ? "complete" : "incomplete");
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
