/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Affinity formats: every field by its letter and its name, sizes and justification, buffers that
   are too short, and what is displayed on request and under OMP_DISPLAY_AFFINITY. messages.c tests
   faulty formats. */
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { text_bytes = 1024 };

static int captured(const char* format, const char* expected) {
    char text[text_bytes];
    const size_t length = omp_capture_affinity(text, sizeof text, format);
    if (length == strlen(expected) && strcmp(text, expected) == 0) return 1;
    fprintf(stderr, "\"%s\" gives %zu \"%s\", not \"%s\"\n", format, length, text, expected);
    return 0;
}

/* ---- fields ---- */

static int gives(const char* letter, const char* name, long number) {
    char expected[64], padded[64];
    snprintf(expected, sizeof expected, "%ld", number);
    snprintf(padded, sizeof padded, "%05ld|%5ld|%-5ld|", number, number, number);
    char format[128];
    snprintf(format, sizeof format, "%%0.5%s|%%.5%s|%%5%s|", letter, letter, letter);
    char named[128];
    snprintf(named, sizeof named, "%%0.5%s|%%.5%s|%%5%s|", name, name, name);
    char plain[8], plain_name[32];
    snprintf(plain, sizeof plain, "%%%s", letter);
    snprintf(plain_name, sizeof plain_name, "%%%s", name);
    const int right = captured(plain, expected) && captured(plain_name, expected);
    return right && captured(format, padded) && captured(named, padded);
}

/* Each number is the one that the routine returns. */
static void numbers(void) {
    CHECK(gives("t", "{team_num}", omp_get_team_num()));
    CHECK(gives("T", "{num_teams}", omp_get_num_teams()));
    CHECK(gives("L", "{nesting_level}", omp_get_level()));
    CHECK(gives("n", "{thread_num}", omp_get_thread_num()));
    CHECK(gives("N", "{num_threads}", omp_get_num_threads()));
    CHECK(gives("a", "{ancestor_tnum}", omp_get_ancestor_thread_num(omp_get_level() - 1)));
    CHECK(gives("P", "{process_id}", getpid()));
}

/* CPUs as ranges, in order. */
static void cpus_of_this_thread(char* text) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CHECK(sched_getaffinity(0, sizeof cpus, &cpus) == 0);
    text[0] = '\0';
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &cpus)) continue;
        int last = cpu;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &cpus)) ++last;
        const size_t length = strlen(text);
        if (last == cpu) snprintf(text + length, text_bytes - length, "%s%d", length == 0 ? "" : ",", cpu);
        else snprintf(text + length, text_bytes - length, "%s%d-%d", length == 0 ? "" : ",", cpu, last);
        cpu = last;
    }
}

static void words(void) {
    char host[256] = "", expected[text_bytes], text[2 * text_bytes], again[text_bytes];
    CHECK(gethostname(host, sizeof host - 1) == 0);
    CHECK(captured("%H", host) && captured("%{host}", host));
    cpus_of_this_thread(expected);
    CHECK(captured("%A", expected) && captured("%{thread_affinity}", expected));
    snprintf(text, sizeof text, "%300s|%-300s|", host, expected);
    CHECK(captured("%.300H|%300A|", text));
    CHECK(omp_capture_affinity(text, sizeof text, "%i") > 0);
    CHECK(omp_capture_affinity(again, sizeof again, "%{native_thread_id}") > 0);
    CHECK(strcmp(text, again) == 0);
}

/* Each thread has a system number of its own, and keeps it. */
static void thread_ids(int threads) {
    char(*const ids)[64] = calloc((size_t)threads, sizeof *ids);
    int changed = 0;
    for (int round = 0; round < 3; ++round) {
#pragma omp parallel num_threads(threads) reduction(+ : changed)
        {
            char id[64];
            omp_capture_affinity(id, sizeof id, "%i");
            char* const known = ids[omp_get_thread_num()];
            if (round == 0) memcpy(known, id, sizeof id);
            changed += strcmp(known, id) != 0;
        }
    }
    EQUAL(changed, 0);
    int alike = 0;
    for (int i = 0; i < threads; ++i) {
        for (int j = 0; j < i; ++j) alike += strcmp(ids[i], ids[j]) == 0;
    }
    EQUAL(alike, 0);
    free(ids);
}

static void in_regions(int threads) {
#pragma omp parallel num_threads(threads)
    {
        numbers();
        words();
#pragma omp parallel num_threads(2)
        {
            numbers();
            words();
#pragma omp task
            numbers();
        }
        numbers();
#pragma omp single
#pragma omp task
        numbers();
    }
}

/* For a league's initial threads, by a routine that they call. */
static void in_teams(void) {
    int seen = 0;
#pragma omp teams num_teams(3) reduction(+ : seen)
    {
        numbers();
        seen++;
    }
    CHECK(seen >= 1 && seen <= 3);
#pragma omp target
    numbers();
}

/* ---- forms ---- */

static void forms(void) {
    static const struct {
        const char *format, *expected;
    } forms[] = {
        {"plain", "plain"},
        {"%%", "%"},
        {"%%n", "%n"},
        {"100%% of %n", "100% of 0"},
        {"%n%n", "00"},
        {"%nn", "0n"},
        {"%n%%%N", "0%1"},
        {" %n ", " 0 "},
        {"\t%n\n%N", "\t0\n1"},
        {"%1n", "0"},
        {"%12n|", "0           |"},
        {"%.12n|", "           0|"},
        {"%0.12n|", "000000000000|"},
        {"%0.1n", "0"},
        {"%10{num_threads}|", "1         |"},
        {"%.10{num_threads}|", "         1|"},
        {"%0.10{num_threads}|", "0000000001|"},
        {"%3N%.3L%0.3t", "1    0000"},
        /* The zeros stand after the sign. */
        {"%a", "-1"},
        {"%5a|", "-1   |"},
        {"%.5a|", "   -1|"},
        {"%0.5a|", "-0001|"},
        {"%0.3a", "-01"},
        {"%0.2a", "-1"},
        {"%0.1a", "-1"},
        {"%0.5{ancestor_tnum}", "-0001"},
        {"%.4{ancestor_tnum}|", "  -1|"},
        {"}%n{", "}0{"},
        {"{thread_num}", "{thread_num}"},
        {"\\%n\\n", "\\0\\n"},
        {"%n.5", "0.5"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i) CHECK(captured(forms[i].format, forms[i].expected));
}

/* A buffer gets as much as it has room for, and a null after it; the length returned is that of the
 * whole text. */
static void buffers(void) {
    char buffer[12];
    omp_set_affinity_format("ab%n%Ncdef");
    CHECK(omp_capture_affinity(NULL, 0, "ab%ncdef") == 7 && omp_get_affinity_format(NULL, 0) == 10);
    for (size_t bytes = 0; bytes <= 11; ++bytes) {
        for (int of_variable = 0; of_variable < 3; ++of_variable) {
            const char* const whole = of_variable == 0 ? "ab0cdef" : of_variable == 1 ? "ab%n%Ncdef" : "ab01cdef";
            memset(buffer, '#', sizeof buffer);
            const size_t told = of_variable == 0   ? omp_capture_affinity(buffer, bytes, "ab%ncdef")
                                : of_variable == 1 ? omp_get_affinity_format(buffer, bytes)
                                                   : omp_capture_affinity(buffer, bytes, bytes % 2 == 0 ? NULL : "");
            EQUAL(told, strlen(whole));
            const size_t kept = bytes == 0 ? 0 : told < bytes ? told : bytes - 1;
            CHECK(strncmp(buffer, whole, kept) == 0 && (bytes == 0 || buffer[kept] == '\0') && buffer[bytes] == '#');
        }
    }
}

/* One format holds for the process, whichever thread sets it. */
static void settings(void) {
    char text[text_bytes];
    EQUAL(omp_get_affinity_format(text, sizeof text), 30);
    CHECK(strcmp(text, "level %L thread %i affinity %A") == 0);
    omp_set_affinity_format("");
    EQUAL(omp_get_affinity_format(text, sizeof text), 0);
    CHECK(captured("", "") && captured(NULL, ""));
#pragma omp parallel num_threads(2)
    {
#pragma omp single
        omp_set_affinity_format("%n/%N");
        char expected[16];
        snprintf(expected, sizeof expected, "%d/2", omp_get_thread_num());
        CHECK(captured("", expected) && captured(NULL, expected));
    }
    CHECK(captured("", "0/1"));
}

/* ---- display ---- */

static int file = -1; /* where standard error goes while something is displayed: nothing else is printed there */

static void expect(int holds) {
    if (!holds) __atomic_add_fetch(&wrong_count, 1, __ATOMIC_RELAXED);
}

static void begin_display(void) {
    CHECK(ftruncate(file, 0) == 0);
    lseek(2, 0, SEEK_SET);
}

/* Checks that so many lines have been displayed, this one once; null: none. Errors are printed
 * elsewhere, since the file takes standard error. */
static void displayed(const char* line, int lines) {
    static char text[65536];
    const ssize_t length = pread(file, text, sizeof text - 1, 0);
    CHECK(length >= 0);
    text[length < 0 ? 0 : length] = '\0';
    int found = 0, ends = 0;
    const size_t bytes = line == NULL ? 0 : strlen(line);
    for (const char* at = text; *at != '\0'; ++at) {
        ends += *at == '\n';
        found += bytes != 0 && strncmp(at, line, bytes) == 0 && at[bytes] == '\n' && (at == text || at[-1] == '\n');
    }
    if (ends == lines && found == (line != NULL)) return;
    printf("%d lines, not %d, or not once \"%s\":\n%s\n", ends, lines, line == NULL ? "" : line, text);
    wrong_count++;
}

/* What is displayed on request is what would be captured, and a line feed. */
static void on_request(void) {
    begin_display();
    omp_display_affinity("%n of %N");
    displayed("0 of 1", 1);
    for (int null = 0; null < 2; ++null) {
        begin_display();
        omp_display_affinity(null ? NULL : "");
        displayed("  <0 0/1 -001> ", 1);
    }
    begin_display();
}

static void region(int threads, const char* format) {
    begin_display();
#pragma omp parallel num_threads(threads)
    {
        expect(omp_get_num_threads() == threads);
        if (format != NULL) omp_display_affinity(format);
    }
}

/* Each thread displays a line at its first region, and when the team's size has changed; otherwise
 * nothing. */
static void of_regions(void) {
    char line[64];
    region(3, NULL);
    for (int i = 0; i < 3; ++i) {
        snprintf(line, sizeof line, "  <1 %d/3 0000> ", i);
        displayed(line, 3);
    }
    region(3, NULL);
    displayed(NULL, 0);
    region(3, "%n of %N");
    displayed("2 of 3", 3);
    region(2, NULL);
    displayed("  <1 1/2 0000> ", 2);
    region(2, NULL);
    displayed(NULL, 0);
    begin_display();
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
    expect(omp_get_level() == 2);
    for (int i = 0; i < 4; ++i) {
        snprintf(line, sizeof line, "  <2 %d/2 %04d> ", i % 2, i / 2);
        displayed(line, 4);
    }
}

/* All threads of a region display a line when one of them has come to another place. */
static void of_places(void) {
    begin_display();
#pragma omp parallel num_threads(2) proc_bind(close)
    expect(omp_get_num_threads() == 2);
    displayed("  <1 1/2 0000> ", 2);
    for (int round = 0; round < 4; ++round) {
        begin_display();
        if (round < 2) {
#pragma omp parallel num_threads(2) proc_bind(primary)
            expect(omp_get_place_num() == 0);
        } else {
#pragma omp parallel num_threads(2) proc_bind(close)
            expect(omp_get_place_num() == omp_get_thread_num());
        }
        displayed(round % 2 == 0 ? "  <1 0/2 0000> " : NULL, round % 2 == 0 ? 2 : 0);
    }
}

static int display(void) {
    char name[] = "/tmp/affinity-XXXXXX", format[64];
    file = mkstemp(name);
    unlink(name);
    const int error = dup(2);
    dup2(file, 2);
    CHECK(omp_get_affinity_format(format, sizeof format) == 19 && strcmp(format, "  <%L %n/%N %0.4a> ") == 0);
    omp_set_max_active_levels(2);
    if (omp_get_num_places() >= 2) {
        of_places();
    } else {
        on_request();
        of_regions();
    }
    dup2(error, 2);
    return verdict();
}

int main(int count, char** arguments) {
    if (count > 1) {
        const int wrong = display();
        if (wrong || getenv("OMP_PLACES") != NULL) return wrong;
        setenv("OMP_PLACES", "threads", 1); /* there may be only one: then the second run is like the first */
        execv("/proc/self/exe", arguments);
    }
    omp_set_max_active_levels(2);
    numbers();
    words();
    forms();
    EACH_SIZE(size) {
        in_regions(size);
        thread_ids(size);
    }
    in_teams();
    settings();
    buffers();
    if (verdict() != 0) return 1;
    setenv("OMP_DISPLAY_AFFINITY", "true", 1);
    setenv("OMP_AFFINITY_FORMAT", "  <%L %n/%N %0.4a> ", 1);
    execl("/proc/self/exe", arguments[0], "display", NULL);
    perror("execl");
    return 1;
}
