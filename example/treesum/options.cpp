// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <charconv>
#include <stdexcept>
#include <string_view>

namespace treesum {
namespace {

constexpr std::size_t most_streams = 1024;

std::size_t read_streams(const std::string& value) {
    if (value == "all") return weft::all_harts;
    std::size_t streams = 0;
    const char* const end = value.data() + value.size();
    const auto [rest, problem] = std::from_chars(value.data(), end, streams);
    if (problem != std::errc() || rest != end || streams < 1 || streams > most_streams) {
        throw std::invalid_argument("--streams '" + value + "' is not a number of streams: give 1 to " +
                                    std::to_string(most_streams) + ", or 'all' for as many as there are harts");
    }
    return streams;
}

// Iterates over the arguments; accepts both spellings of a value, "--name VALUE" and
// "--name=VALUE".
class Arguments {
public:
    Arguments(int count, char** arguments) : rest_(arguments + 1, arguments + count) {}

    bool next() {
        if (at_ == rest_.size()) return false;
        word_ = rest_[at_++];
        return true;
    }

    const std::string& word() const { return word_; }

    bool is(std::string_view name) const { return word_ == name || word_.starts_with(std::string(name) + "="); }

    std::string value(std::string_view name) {
        if (word_.size() > name.size()) return word_.substr(name.size() + 1);
        if (at_ == rest_.size()) {
            throw std::invalid_argument(word_ + " lacks its value; see treesum --help");
        }
        return rest_[at_++];
    }

private:
    std::vector<std::string> rest_;
    std::size_t at_ = 0;
    std::string word_;
};

}   // namespace

const char* const help_text =
    "Usage: treesum [OPTION]... DIR...\n"
    "  or:  treesum [OPTION]... --verify FILE\n"
    "Prints the SHA-256 of every regular file in the trees, as sha256sum does, in any order.\n"
    "Symbolic links are not followed. A DIR may also be a file.\n"
    "\n"
    "  --streams N    use N streams (OS threads); default: all, one for each hart\n"
    "  --verify FILE  check the files listed in FILE, which sha256sum or treesum wrote; -: standard input\n"
    "  --help         print this and exit\n"
    "\n"
    "Exit status: 0 all is well; 1 a file could not be read, or does not match; 2 the command line is wrong.\n";

Options read_options(int count, char** words) {
    Options options;
    Arguments arguments(count, words);
    bool only_names = false;
    while (arguments.next()) {
        const std::string& word = arguments.word();
        if (only_names || word == "-" || !word.starts_with('-')) {
            options.roots.push_back(word);
        } else if (word == "--") {
            only_names = true;
        } else if (word == "--help") {
            options.help = true;
        } else if (arguments.is("--streams")) {
            options.streams = read_streams(arguments.value("--streams"));
        } else if (arguments.is("--verify")) {
            options.list = arguments.value("--verify");
        } else {
            throw std::invalid_argument("there is no option '" + word +
                                        "'; see treesum --help, and write -- before a DIR that begins with -");
        }
    }
    if (options.help) return options;
    if (options.list && !options.roots.empty()) {
        throw std::invalid_argument("'" + options.roots.front() +
                                    "' is one too many: with --verify the list names the files; leave DIR out");
    }
    if (!options.list && options.roots.empty()) {
        throw std::invalid_argument("no DIR is named: give one or more, '.' for instance; see treesum --help");
    }
    return options;
}

}   // namespace treesum
