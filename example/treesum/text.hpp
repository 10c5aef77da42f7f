// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names and lines as GNU sha256sum writes and reads them. Names are bytes: nothing here checks
// whether they are UTF-8.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace treesum {

using Digest = std::array<unsigned char, 32>;

// "DIGEST NAME\n". If the name must be escaped, it is, and a backslash marks the line.
std::string checksum_line(const Digest& digest, std::string_view name);

// NAME as `sha256sum -c` prints it before ": OK": escaped only when it contains a newline.
std::string verdict_name(std::string_view name);

// NAME for a message: unchanged, or quoted for a shell when it has characters that a reader could
// misread.
std::string quoted(std::string_view name);

struct Expectation {
    Digest digest;
    std::string name;
};

// Reads the lines of a list of checksums: the usual form, the tagged form ("SHA256 (NAME) =
// DIGEST"), and the form with one blank. A list must not mix the usual form and the form with one
// blank, so that a blank that begins a name cannot be taken for a separator: the first line
// decides.
class LineReader {
public:
    // Returns nothing when the line has none of these forms.
    std::optional<Expectation> read(std::string_view line);

private:
    enum class Separator { undecided, one_blank, two };
    Separator separator_ = Separator::undecided;
};

}   // namespace treesum
