// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file on disk, mapped for reading.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstddef>
#include <cstring>

namespace weft_command {

class MappedFile {
public:
    // Empty if the path is no regular file that can be read and mapped.
    explicit MappedFile(const char* path) {
        const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
        struct stat status;
        if (descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
            const auto size = static_cast<std::size_t>(status.st_size);
            void* const memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
            if (memory != MAP_FAILED) bytes_ = static_cast<const char*>(memory), size_ = size;
        }
        if (descriptor >= 0) close(descriptor);
    }
    ~MappedFile() {
        if (bytes_ != nullptr) munmap(const_cast<char*>(bytes_), size_);
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    // The `count` objects at `offset`; null: they do not lie in the file.
    template <class T>
    const T* at(std::size_t offset, std::size_t count = 1) const {
        const bool inside = bytes_ != nullptr && offset <= size_ && count <= (size_ - offset) / sizeof(T);
        return inside ? reinterpret_cast<const T*>(bytes_ + offset) : nullptr;
    }

    // Whether the file contains these bytes.
    [[nodiscard]] bool contains(const char* text) const {
        return bytes_ != nullptr && memmem(bytes_, size_, text, std::strlen(text)) != nullptr;
    }

private:
    const char* bytes_ = nullptr;
    std::size_t size_ = 0;
};

}   // namespace weft_command
