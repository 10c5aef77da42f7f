// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be observed of a running program: counters that add up, and every live unit with what it
// waits for.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "test/behaviour/several.hpp"

using namespace weft_test;

namespace {

template <class Print>
std::string printed(Print print) {
    char* text = nullptr;
    std::size_t bytes = 0;
    std::FILE* file = open_memstream(&text, &bytes);
    EXPECT_NE(file, nullptr);
    EXPECT_EQ(print(file), WEFT_OK);
    std::fclose(file);
    std::string result(text, bytes);
    std::free(text);
    return result;
}

// The printed counters in a map by name; each name occurs once.
std::map<std::string, std::uint64_t> all_counters() {
    std::istringstream lines(printed(weft_counters_print));
    std::map<std::string, std::uint64_t> all;
    std::string line;
    while (std::getline(lines, line)) {
        const std::size_t tab = line.find('\t');
        EXPECT_NE(tab, std::string::npos) << line;
        EXPECT_TRUE(all.emplace(line.substr(0, tab), std::stoull(line.substr(tab + 1))).second) << line;
    }
    return all;
}

// The line of weft_units_print about the unit.
std::string line_of(const weft_unit* unit) {
    std::istringstream lines(printed(weft_units_print));
    const std::string start = std::to_string(value_of(weft_unit_id_get, unit)) + "\t";
    std::string line, found;
    while (std::getline(lines, line)) {
        if (line.rfind(start, 0) != 0) continue;
        EXPECT_EQ(found, "") << "twice";
        found = line;
    }
    return found;
}

std::string address(const void* pointer) {
    char text[32];
    std::snprintf(text, sizeof text, "%p", pointer);
    return text;
}

}   // namespace

TEST(Counters, WhatWasCreatedHasFinishedOrLives) {
    Runtime runtime;
    Stream stream;
    Bed beds[5];
    std::vector<std::unique_ptr<Ult>> units;
    for (int i = 0; i < 40; ++i) {
        weft_pool* pool = i % 2 == 0 ? pool_of(0) : stream.pool();
        units.push_back(std::make_unique<Ult>(
            [&, i] {
                weft_unit_yield();
                if (i % 8 == 1) beds[i / 8].sleep();
            },
            nullptr, pool));
    }
    std::thread([&] { units.push_back(std::make_unique<Ult>([] {}, nullptr, stream.pool())); }).join();
    until([&] {
        std::size_t ended = 0;
        for (auto& unit : units) ended += unit->state() == WEFT_UNIT_DONE;
        return ended == 36;
    });
    until([&] {
        return beds[0].occupied() && beds[1].occupied() && beds[2].occupied() && beds[3].occupied() &&
               beds[4].occupied();
    });
    std::size_t alive = 0;
    weft_unit_each(
        [](const weft_unit_info* info, void* count) {
            if (info->state != WEFT_UNIT_DONE && info->unit != weft_unit_self()) ++*static_cast<std::size_t*>(count);
        },
        &alive);
    EXPECT_EQ(alive, 5u);
    EXPECT_EQ(counter("/units/count/created"), 41u);
    EXPECT_EQ(counter("/units/count/created"), counter("/units/count/finished") + alive);
    for (Bed& bed : beds) EXPECT_EQ(bed.wake(), WEFT_OK);
    units.clear();
    EXPECT_EQ(counter("/units/count/created"), counter("/units/count/finished"));
}

TEST(Counters, TheStreamsSumsEqualTheTotals) {
    Runtime runtime;
    std::map<std::string, std::uint64_t> all;
    {
        Stream first, second;
        for (int i = 0; i < 30; ++i) {
            Ult a([] { Ult inner([] { weft_unit_yield(); }); }, nullptr, first.pool());
            Ult b([] { weft_unit_yield(); }, nullptr, second.pool());
            weft_unit* tasklet = nullptr;
            ASSERT_EQ(weft_tasklet_spawn(
                          second.pool(), [](void*) {}, nullptr, nullptr, &tasklet),
                      WEFT_OK);
            EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
        }
        until_others_rest();
        all = all_counters();
        EXPECT_EQ(all["/streams/count/live"], 3u);
        EXPECT_EQ(all["/units{stream#0}/count/created"], 90u);
        EXPECT_EQ(all["/units{stream#1}/count/created"], 30u);
        EXPECT_EQ(all["/units{stream#1}/count/finished"], 60u);
        EXPECT_EQ(all["/units{stream#2}/count/finished"], 60u);
        for (const auto& [name, value] : all) {
            const std::size_t mark = name.find("{stream#0}");
            if (mark == std::string::npos) continue;
            std::string total = name;
            total.erase(mark, 10);
            std::uint64_t sum = 0;
            for (int rank = 0; rank < 3; ++rank) {
                std::string of_one = name;
                of_one[mark + 8] = static_cast<char>('0' + rank);
                ASSERT_TRUE(all.count(of_one)) << of_one;
                sum += all[of_one];
            }
            EXPECT_EQ(all.count(total), 1u) << total;
            EXPECT_EQ(sum, all[total]) << total;
        }
        std::uint64_t value = 0;
        EXPECT_EQ(weft_counter_read("/units{stream#1}/count/created", &value), WEFT_OK);
        EXPECT_EQ(value, 30u);
    }
    EXPECT_EQ(counter("/units/count/created"), all["/units/count/created"]) << "what ended streams counted stays";
    EXPECT_EQ(counter("/units/count/finished"), all["/units/count/finished"]);
    EXPECT_EQ(counter("/streams/count/live"), 1u);
}

TEST(Counters, UnitsOnAStackOfTheProgramsAreAmongThoseThatHaveFinished) {
    Runtime runtime;
    alignas(64) static char stack[64 << 10];
    weft_unit_options chosen = options();
    chosen.stack = stack;
    chosen.stack_bytes = sizeof stack;
    weft_unit* unit = nullptr;
    ASSERT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, &chosen, &unit),
              WEFT_OK);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
    EXPECT_EQ(counter("/units/count/finished"), counter("/units/count/created"));
}

TEST(Counters, SuspensionsResumptionsAndYieldsAreCounted) {
    Runtime runtime;
    Bed bed;
    Ult sleeper([&] { bed.sleep(); });
    weft_unit_yield();
    const std::uint64_t suspended = counter("/units/count/suspended"), resumed = counter("/units/count/resumed");
    EXPECT_EQ(suspended, 1u);
    EXPECT_EQ(bed.wake(), WEFT_OK);
    EXPECT_EQ(counter("/units/count/resumed"), resumed + 1);
    const std::uint64_t yielded = counter("/units/count/yielded");
    weft_unit_yield();
    EXPECT_EQ(counter("/units/count/yielded"), yielded + 1);
    EXPECT_EQ(sleeper.state(), WEFT_UNIT_DONE);
    weft_unit_yield();
    EXPECT_EQ(counter("/units/count/yielded"), yielded + 1) << "there was nobody to yield to";
}

TEST(Counters, StacksThatLiveAreCounted) {
    Runtime runtime;
    const std::uint64_t before = counter("/stacks/count/live");
    Bed beds[10];
    std::vector<std::unique_ptr<Ult>> units;
    for (Bed& bed : beds) units.push_back(std::make_unique<Ult>([&bed] { bed.sleep(); }));
    EXPECT_EQ(counter("/stacks/count/live"), before) << "lazily allocated: none has started";
    weft_unit_yield();
    EXPECT_GE(counter("/stacks/count/live"), before + 10);
    EXPECT_GE(counter("/stacks/count/created"), 10u);
    for (Bed& bed : beds) EXPECT_EQ(bed.wake(), WEFT_OK);
}

TEST(Counters, CanBeReadWhileAnOsThreadIsStartedForAHart) {
    const Runtime runtime;
    atomic<bool> over{false};
    std::thread reader([&] {
        do {
            std::uint64_t carriers = 0;
            EXPECT_EQ(weft_counter_read("/harts/count/carriers", &carriers), WEFT_OK);
            std::this_thread::yield();
        } while (!over.load());
    });
    atomic<int> members{0};
    EXPECT_EQ(weft_spmd(
                  3, [](void* count) { ++*static_cast<atomic<int>*>(count); }, &members),
              WEFT_OK);
    EXPECT_EQ(members.load(), 3);
    over = true;
    reader.join();
}

TEST(Counters, AnUnknownNameIsToldThoseThatAreNear) {
    std::uint64_t value = 0;
    EXPECT_EQ(weft_counter_read("/units/count/created", &value), WEFT_NOT_INITIALIZED);
    EXPECT_EQ(weft_counters_print(stderr), WEFT_NOT_INITIALIZED);
    EXPECT_EQ(weft_units_print(stderr), WEFT_NOT_INITIALIZED);
    Runtime runtime;
    value = 77;
    EXPECT_EQ(weft_counter_read("/units/count/creatd", &value), WEFT_INVALID);
    std::string text = weft_error_text();
    EXPECT_NE(text.find("'/units/count/creatd'"), std::string::npos) << text;
    EXPECT_NE(text.find("/units/count/created"), std::string::npos) << text;
    EXPECT_EQ(text.find("/stacks"), std::string::npos) << "those are not near: " << text;
    EXPECT_EQ(weft_counter_read("nonsense", &value), WEFT_INVALID);
    text = weft_error_text();
    EXPECT_NE(text.find("/stacks/count/live"), std::string::npos) << "none is near, so all are listed: " << text;
    for (const char* bad :
         {"/units{stream#7}/count/created", "/units{stream#}/count/created", "/units{stream#0/count/created",
          "/units{stream#x}/count/created", "", "/stacks{stream#0}/count/live"}) {
        EXPECT_EQ(weft_counter_read(bad, &value), WEFT_INVALID) << bad;
    }
    EXPECT_EQ(value, 77u) << "nothing is written when it fails";
    EXPECT_EQ(weft_counter_read(nullptr, &value), WEFT_INVALID);
    EXPECT_EQ(weft_counter_read("/units/count/created", nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_counters_print(nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_units_print(nullptr), WEFT_INVALID);
}

TEST(Counters, EveryPrintedNameCanBeRead) {
    Runtime runtime(2);
    const auto all = all_counters();
    EXPECT_GT(all.size(), 30u);
    for (const auto& [name, value] : all) {
        std::uint64_t read = 0;
        EXPECT_EQ(weft_counter_read(name.c_str(), &read), WEFT_OK) << weft_error_text();
    }
}

TEST(Counters, TimesAreKeptWhenAsked) {
    for (bool timing : {false, true}) {
        weft_settings settings = with_streams(1);
        settings.timing = timing;
        Runtime runtime(settings);
        Stream stream;
        Ult unit(
            [] {
                for (int i = 0; i < 1000; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
                weft_unit_yield();
            },
            nullptr, stream.pool());
        EXPECT_EQ(unit.join(), WEFT_OK);
        until_others_rest();   // with timing on as well, the stream sleeps
        if (timing) {
            EXPECT_GT(counter("/streams{stream#1}/time/units"), 0u);
            EXPECT_GT(counter("/streams{stream#1}/time/scheduling"), 0u);
        } else {
            EXPECT_EQ(counter("/streams/time/units"), 0u);
            EXPECT_EQ(counter("/streams/time/scheduling"), 0u);
        }
        Ult wakes([] {}, nullptr, stream.pool());
        EXPECT_EQ(wakes.join(), WEFT_OK);
        until([&] { return counter("/streams{stream#1}/time/idle") > 0; });
    }
}

TEST(Counters, OfALibraryAreReadAndPrintedLikeOurs) {
    static std::uint64_t mine = 41;
    const auto read = [](void* argument) { return *static_cast<std::uint64_t*>(argument); };
    std::uint64_t value = 0;
    EXPECT_NE(weft_counter_read("/mine/count/tested", &value), WEFT_OK);
    ASSERT_EQ(weft_counter_register("/mine/count/tested", read, &mine), WEFT_OK) << weft_error_text();
    EXPECT_EQ(weft_counter_read("/mine/count/tested", &value), WEFT_OK)
        << "no runtime is needed: " << weft_error_text();
    EXPECT_EQ(value, 41u);
    EXPECT_EQ(weft_counter_register("/mine/count/tested", read, &mine), WEFT_INVALID);
    EXPECT_EQ(weft_counter_register("/units/count/created", read, &mine), WEFT_INVALID);
    EXPECT_EQ(weft_counter_register("mine", read, &mine), WEFT_INVALID);
    EXPECT_EQ(weft_counter_register("/mi\tne", read, &mine), WEFT_INVALID);
    EXPECT_EQ(weft_counter_register(nullptr, read, &mine), WEFT_INVALID);
    EXPECT_EQ(weft_counter_register("/mine/count/other", nullptr, &mine), WEFT_INVALID);
    ASSERT_EQ(weft_init(nullptr), WEFT_OK);
    mine = 42;
    EXPECT_EQ(all_counters().at("/mine/count/tested"), 42u);
    EXPECT_EQ(weft_counter_read("/mine/count/nothing", &value), WEFT_INVALID);
    EXPECT_NE(std::string(weft_error_text()).find("/mine/count/tested"), std::string::npos) << weft_error_text();
    EXPECT_EQ(weft_finalize(), WEFT_OK);
}

TEST(Units, EachLiveOneIsPrintedWithWhatItWaitsForAndItsSpawnSite) {
    Runtime runtime;
    auto chosen = options();
    chosen.name = "sleeper";
    Bed bed;
    Ult sleeper([&] { bed.sleep(); }, &chosen);
    chosen.name = "joiner";
    chosen.kind = WEFT_KIND_FULL;
    Ult joiner([&] { EXPECT_EQ(sleeper.join(), WEFT_OK); }, &chosen);
    Ult ready([] {});
    weft_unit* tasklet = nullptr;
    ASSERT_EQ(weft_tasklet_spawn(
                  nullptr, [](void*) {}, nullptr, nullptr, &tasklet),
              WEFT_OK);
    EXPECT_EQ(line_of(tasklet).find("ready\ttasklet\t''") != std::string::npos, true) << line_of(tasklet);
    weft_unit_yield();
    std::string line = line_of(sleeper.handle());
    EXPECT_NE(line.find("\tsuspended\tlsa\t'sleeper'\twaits for suspend " + address(&bed)), std::string::npos) << line;
    EXPECT_NE(line.find("\tspawned at 0x"), std::string::npos) << line;
    line = line_of(joiner.handle());
    EXPECT_NE(line.find("\tsuspended\tfull\t'joiner'\twaits for join "), std::string::npos) << line;
    line = line_of(ready.handle());
    EXPECT_NE(line.find("\tdone\t"), std::string::npos) << line;
    line = line_of(weft_unit_self());
    EXPECT_NE(line.find("\trunning\t"), std::string::npos) << line;
    EXPECT_EQ(weft_unit_join_free(tasklet), WEFT_OK);
    EXPECT_EQ(bed.wake(), WEFT_OK);
}

TEST(Units, TheSpawnSiteLiesInTheFunctionThatSpawned) {
    Runtime runtime;
    struct Site {
        const weft_unit* unit;
        const void* site;
    } seen{nullptr, nullptr};
    weft_unit* unit = nullptr;
    const void* here = __builtin_return_address(0);
    ASSERT_EQ(weft_ult_spawn(
                  nullptr, [](void*) {}, nullptr, nullptr, &unit),
              WEFT_OK);
    seen.unit = unit;
    weft_unit_each(
        [](const weft_unit_info* info, void* raw) {
            auto* to = static_cast<Site*>(raw);
            if (info->unit == to->unit) to->site = info->spawn_site;
        },
        &seen);
    EXPECT_NE(seen.site, nullptr);
    EXPECT_NE(seen.site, here);
    EXPECT_EQ(weft_unit_each(nullptr, nullptr), WEFT_INVALID);
    EXPECT_EQ(weft_unit_join_free(unit), WEFT_OK);
}
