// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "program.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace weft_command {

namespace {

// The platform that this file was compiled for. The programs that it starts must be for the same
// one, since the libraries are.
struct Self {
    unsigned char elf_class;
    unsigned short machine;
    const char* loader;   // of glibc: others lack symbol versions, and functions that the libraries need
};
constexpr Self self{sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32, WEFT_ELF_MACHINE, WEFT_LOADER};

const char* name_of(unsigned short machine) {
    switch (machine) {
    case EM_386: return "x86";
    case EM_X86_64: return "x86-64";
    case EM_AARCH64: return "AArch64";
    case EM_ARM: return "ARM";
    case EM_RISCV: return "RISC-V";
    case EM_PPC64: return "POWER";
    case EM_S390: return "S/390";
    default: return "another processor";
    }
}

class File {
public:
    explicit File(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    ~File() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    explicit operator bool() const { return descriptor_ >= 0; }
    // Reads at most `size` bytes from `offset` on; returns how many there were.
    std::size_t read(void* to, std::size_t size, off_t offset) const {
        const ssize_t got = pread(descriptor_, to, size, offset);
        return got < 0 ? 0 : static_cast<std::size_t>(got);
    }

private:
    int descriptor_;
};

// Returns 0 for a file that execve would run. ENOENT: no such file; EACCES: not executable; EISDIR:
// a folder.
int runnable(const std::string& path) {
    struct stat status;
    if (stat(path.c_str(), &status) != 0) return errno;
    if (S_ISDIR(status.st_mode)) return EISDIR;
    return access(path.c_str(), X_OK) == 0 ? 0 : EACCES;
}

void search(const char* name, Program& program) {
    if (*name == '\0') {
        program.error = ENOENT;
        return;
    }
    if (std::strchr(name, '/') != nullptr) {
        program.error = runnable(name);
        program.path = name;
        return;
    }
    const char* list = std::getenv("PATH");
    if (list == nullptr) list = "/bin:/usr/bin";   // as execvp
    program.error = ENOENT;
    for (std::string rest = list;;) {
        const std::size_t colon = rest.find(':');
        const std::string folder = rest.substr(0, colon);
        const std::string path = folder.empty() ? name : folder + "/" + name;
        const int error = runnable(path);
        if (error == 0) {
            program.error = 0;
            program.path = path;
            return;
        }
        if (error == EACCES) program.error = EACCES;   // reported if no better match follows
        if (colon == std::string::npos) return;
        rest.erase(0, colon + 1);
    }
}

// Whether the program starts in secure mode (ld.so(8)), in which the loader ignores libraries that
// are preloaded by a path.
bool secure(const std::string& path, std::string& why) {
    struct stat status;
    if (stat(path.c_str(), &status) != 0) return false;
    if ((status.st_mode & S_ISUID) != 0 && status.st_uid != getuid()) {
        why = "it is set-user-id: the loader ignores what is preloaded";
        return true;
    }
    if ((status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0 && status.st_gid != getgid()) {
        why = "it is set-group-id: the loader ignores what is preloaded";
        return true;
    }
    char value[64];
    if (getuid() != 0 && getxattr(path.c_str(), "security.capability", value, sizeof value) > 0) {
        why = "its file has capabilities: the loader ignores what is preloaded";
        return true;
    }
    return false;
}

void leave(Program& program, Reach reach, std::string why) {
    program.reach = reach;
    program.why = std::move(why);
}

// Both classes of ELF files begin alike; program headers are read of our own class only.
void look_at_elf(const File& file, const unsigned char* identity, Program& program) {
    Elf64_Ehdr header{};
    const std::size_t got = file.read(&header, sizeof header, 0);
    if (identity[EI_CLASS] != self.elf_class || header.e_machine != self.machine) {
        // A loader for x86 complains on standard error about each library for x86-64.
        return leave(program, Reach::none,
                     std::string("it is for another architecture (") + name_of(header.e_machine) +
                         (identity[EI_CLASS] == ELFCLASS32 ? ", 32 bits)" : ")"));
    }
    if (got < sizeof header || header.e_phentsize != sizeof(Elf64_Phdr)) return;
    std::vector<Elf64_Phdr> segments(header.e_phnum);
    if (file.read(segments.data(), segments.size() * sizeof segments[0], static_cast<off_t>(header.e_phoff)) !=
        segments.size() * sizeof segments[0])
        return;
    for (const Elf64_Phdr& segment : segments) {
        if (segment.p_type != PT_INTERP) continue;
        char loader[PATH_MAX] = {};
        if (segment.p_filesz >= sizeof loader) return;
        file.read(loader, segment.p_filesz, static_cast<off_t>(segment.p_offset));
        const char* const slash = std::strrchr(loader, '/');
        if (std::strcmp(slash == nullptr ? loader : slash + 1, self.loader) != 0) {
            leave(program, Reach::none, std::string("its loader is ") + loader + ", of another C library");
        }
        return;
    }
    leave(program, Reach::children, "it is linked statically: no loader runs");
}

}   // namespace

Program look_at(const char* name) {
    Program program;
    search(name, program);
    if (program.error != 0) return program;
    std::string path = program.path;
    for (int depth = 0; depth < 6; ++depth) {
        const bool script = depth > 0;
        const File file(path);
        if (!file) return program;   // it may be executed but not read: nothing is known
        char begin[PATH_MAX] = {};
        const std::size_t got = file.read(begin, sizeof begin - 1, 0);
        if (got >= EI_NIDENT && std::memcmp(begin, ELFMAG, SELFMAG) == 0) {
            program.elf = !script;
            program.image = path;
            look_at_elf(file, reinterpret_cast<const unsigned char*>(begin), program);
            std::string why;   // the kernel checks the bits of the file that it loads, not those of scripts
            if (program.reach == Reach::full && secure(path, why)) leave(program, Reach::children, why);
            if (script && program.reach != Reach::full) program.why = "its interpreter " + path + ": " + program.why;
            return program;
        }
        if (got < 2 || begin[0] != '#' || begin[1] != '!') {
            path = "/bin/sh";   // as execvp does with a file that the kernel cannot execute
            continue;
        }
        char* word = begin + 2;
        word += std::strspn(word, " \t");
        const std::size_t length = std::strcspn(word, " \t\n");
        if (!script && (word[length] == ' ' || word[length] == '\t')) {
            const char* rest = word + length;
            rest += std::strspn(rest, " \t");
            program.argument.assign(rest, std::strcspn(rest, "\n"));
        }
        word[length] = '\0';
        path = word;
    }
    return program;
}

}   // namespace weft_command
