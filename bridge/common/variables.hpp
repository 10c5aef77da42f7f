// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The environment variables that the bridges read, each with its legal words. There is one table
// for the bridges themselves, for `weft info` and for the check of `weft run`, so that no two of
// them disagree about what is legal.
#pragma once

#include <strings.h>
#include <cstddef>
#include <cstring>

namespace weft_bridge {

struct Variable {
    static constexpr std::size_t most_words = 9;

    const char* name;
    const char* standard;   // what holds if it is not set: one of the words
    const char* meaning;
    const char* words[most_words];   // a null pointer ends them
    const char* remark = "";         // follows the legal words in a message
};

inline constexpr Variable guests{
    "WEFT_GUESTS", "leave", "whether the program's own threads wait for a hart, too", {"leave", "admit"}};
inline constexpr Variable omp_max_threads{"WEFT_OMP_MAX_THREADS",
                                          "full",
                                          "whether omp_get_max_threads follows the load in the program's own threads",
                                          {"full", "follow"}};
inline constexpr Variable omp_task_kind{
    "WEFT_OMP_TASK_KIND",
    "member",
    "what OpenMP's explicit tasks run on: a kind of ULT, or the context of the member that runs them",
    {"full", "lsa", "roc", "ss", "sc", "auto", "hosted", "member"},
    " (not rtc: tasks may wait, and a tasklet cannot)"};
inline constexpr Variable blas_threads{
    "WEFT_BLAS_THREADS",
    "full",
    "whether an OpenBLAS with threads of its own uses fewer of them while several threads of the process compute",
    {"full", "follow"}};
inline constexpr Variable variables[] = {guests, omp_max_threads, omp_task_kind, blas_threads};

inline constexpr int unset = -1, illegal = -2;

// The index of the word that `text` is, ignoring case and surrounding blanks; `unset`: a null
// pointer, or only blanks.
inline int word_of(const Variable& variable, const char* text) {
    constexpr const char* blank = " \t\n\r\f\v";
    if (text == nullptr) return unset;
    text += std::strspn(text, blank);
    std::size_t length = std::strlen(text);
    while (length > 0 && std::strchr(blank, text[length - 1]) != nullptr) --length;
    if (length == 0) return unset;
    for (std::size_t i = 0; i < Variable::most_words && variable.words[i] != nullptr; ++i) {
        if (std::strlen(variable.words[i]) == length && strncasecmp(text, variable.words[i], length) == 0)
            return static_cast<int>(i);
    }
    return illegal;
}

// "leave, admit", cut off at `bytes`.
inline const char* legal_words(const Variable& variable, char* text, std::size_t bytes) {
    std::size_t used = 0;
    const auto add = [&](const char* part) {
        for (; *part != '\0' && used + 1 < bytes; ++part) text[used++] = *part;
    };
    for (std::size_t i = 0; i < Variable::most_words && variable.words[i] != nullptr; ++i) {
        if (i > 0) add(", ");
        add(variable.words[i]);
    }
    add(variable.remark);
    text[used] = '\0';
    return text;
}

}   // namespace weft_bridge
