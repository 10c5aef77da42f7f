// Names and lines as GNU sha256sum writes and reads them. Names are bytes: nothing here asks
// whether they are UTF-8.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace treesum {

using Digest = std::array<unsigned char, 32>;

// "DIGEST  NAME\n", the name escaped, and the line marked by a backslash, when it has to be.
std::string checksum_line(const Digest& digest, std::string_view name);

// NAME as `sha256sum -c` prints it before ": OK": escaped only when it contains a newline.
std::string verdict_name(std::string_view name);

// NAME for a message: as it is, or quoted for a shell when it has characters that a reader could
// mistake.
std::string quoted(std::string_view name);

struct Expectation {
    Digest digest;
    std::string name;
};

// Reads the lines of a list of checksums: the usual form, the tagged form ("SHA256 (NAME) =
// DIGEST"), and the form with one blank. The last two are not mixed with the first, so that a blank
// that begins a name cannot be taken for a separator: the first line decides.
class LineReader {
public:
    // Nothing when the line is not of any form.
    std::optional<Expectation> read(std::string_view line);

private:
    enum class Separator { undecided, one_blank, two };
    Separator separator_ = Separator::undecided;
};

}   // namespace treesum
