#include "objects.hpp"

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft_report {

namespace {

bool begins(const char* text, const char* with) { return std::strncmp(text, with, std::strlen(with)) == 0; }

// One loaded object. Pointers into its own memory.
struct Object {
    std::string path;
    std::uintptr_t base = 0, first = 0, end = 0;   // where it lies
    const ElfW(Dyn)* dynamic = nullptr;
    const char* strings = nullptr;
    const ElfW(Sym)* symbols = nullptr;
    std::string soname;
    bool on_weft = false;                          // needs libweft.so

    bool holds(std::uintptr_t address) const { return address >= first && address < end; }
    // What an entry of its dynamic section points to; the loader has added the base to most.
    std::uintptr_t pointer(ElfW(Addr) value) const { return value < base ? base + value : value; }
};

int add_object(dl_phdr_info* info, std::size_t, void* raw) {
    Object object;
    object.base = info->dlpi_addr;
    object.path = info->dlpi_name;
    object.first = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = info->dlpi_phdr[i];
        if (segment.p_type == PT_DYNAMIC) object.dynamic = reinterpret_cast<const ElfW(Dyn)*>(object.base + segment.p_vaddr);
        if (segment.p_type != PT_LOAD) continue;
        object.first = std::min<std::uintptr_t>(object.first, object.base + segment.p_vaddr);
        object.end = std::max<std::uintptr_t>(object.end, object.base + segment.p_vaddr + segment.p_memsz);
    }
    if (object.path.empty()) {   // the program, or the kernel's own
        char path[4096];
        const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
        if (static_cast<std::vector<Object>*>(raw)->empty() && length > 0) object.path.assign(path, static_cast<std::size_t>(length));
    }
    if (object.dynamic != nullptr && !object.path.empty() && object.path[0] == '/') static_cast<std::vector<Object>*>(raw)->push_back(std::move(object));
    return 0;
}

std::vector<Object> loaded_objects() {
    std::vector<Object> objects;
    dl_iterate_phdr(add_object, &objects);
    for (Object& object : objects) {
        for (const ElfW(Dyn)* entry = object.dynamic; entry->d_tag != DT_NULL; ++entry) {
            if (entry->d_tag == DT_STRTAB) object.strings = reinterpret_cast<const char*>(object.pointer(entry->d_un.d_ptr));
            if (entry->d_tag == DT_SYMTAB) object.symbols = reinterpret_cast<const ElfW(Sym)*>(object.pointer(entry->d_un.d_ptr));
        }
        if (object.strings == nullptr) continue;
        for (const ElfW(Dyn)* entry = object.dynamic; entry->d_tag != DT_NULL; ++entry) {
            if (entry->d_tag == DT_SONAME) object.soname = object.strings + entry->d_un.d_val;
            if (entry->d_tag == DT_NEEDED && begins(object.strings + entry->d_un.d_val, "libweft.so")) object.on_weft = true;
        }
    }
    return objects;
}

// Calls slot(name of a symbol that others define, what the loader has put there).
template <class Slot>
void each_slot(const Object& object, Slot slot) {
    std::uintptr_t tables[2] = {};
    std::size_t bytes[2] = {};
    for (const ElfW(Dyn)* entry = object.dynamic; entry->d_tag != DT_NULL; ++entry) {
        switch (entry->d_tag) {
        case DT_JMPREL: tables[0] = object.pointer(entry->d_un.d_ptr); break;
        case DT_PLTRELSZ: bytes[0] = entry->d_un.d_val; break;
        case DT_RELA: tables[1] = object.pointer(entry->d_un.d_ptr); break;
        case DT_RELASZ: bytes[1] = entry->d_un.d_val; break;
        default: break;
        }
    }
    for (int table = 0; table < 2; ++table) {
        const auto* const relocations = reinterpret_cast<const ElfW(Rela)*>(tables[table]);
        for (std::size_t i = 0; relocations != nullptr && i < bytes[table] / sizeof *relocations; ++i) {
            const ElfW(Sym)& symbol = object.symbols[ELF64_R_SYM(relocations[i].r_info)];
            if (ELF64_R_SYM(relocations[i].r_info) == 0 || symbol.st_shndx != SHN_UNDEF) continue;
            std::uintptr_t value;
            std::memcpy(&value, reinterpret_cast<const void*>(object.base + relocations[i].r_offset), sizeof value);
            slot(object.strings + symbol.st_name, value);
        }
    }
}

// A file, mapped; empty if it cannot be.
class File {
public:
    explicit File(const std::string& path) {
        const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat status;
        if (descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_size > 0) {
            void* const at = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0);
            if (at != MAP_FAILED) bytes_ = static_cast<const char*>(at), size_ = static_cast<std::size_t>(status.st_size);
        }
        if (descriptor >= 0) close(descriptor);
    }
    ~File() {
        if (bytes_ != nullptr) munmap(const_cast<char*>(bytes_), size_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    // `count` of them at `offset`; null: they do not lie in it.
    template <class T>
    const T* at(std::size_t offset, std::size_t count = 1) const {
        return bytes_ != nullptr && offset <= size_ && count <= (size_ - offset) / sizeof(T) ? reinterpret_cast<const T*>(bytes_ + offset) : nullptr;
    }
    bool contains(const char* text) const { return bytes_ != nullptr && memmem(bytes_, size_, text, std::strlen(text)) != nullptr; }

private:
    const char* bytes_ = nullptr;
    std::size_t size_ = 0;
};

// Whether libgomp was linked into this file: by its symbols, or, where they were stripped, by the words that begin its messages.
bool holds_libgomp(const std::string& path) {
    const File file(path);
    const auto* const header = file.at<ElfW(Ehdr)>(0);
    if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return false;
    const auto* const sections = file.at<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
    for (unsigned i = 0; sections != nullptr && i < header->e_shnum; ++i) {
        const ElfW(Shdr)& section = sections[i];
        if ((section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) || section.sh_link >= header->e_shnum) continue;
        const std::size_t count = section.sh_size / sizeof(ElfW(Sym));
        const auto* const symbols = file.at<ElfW(Sym)>(section.sh_offset, count);
        const ElfW(Shdr)& names = sections[section.sh_link];
        const auto* const strings = file.at<char>(names.sh_offset, names.sh_size);
        for (std::size_t j = 0; symbols != nullptr && strings != nullptr && j < count; ++j) {
            if (symbols[j].st_shndx == SHN_UNDEF || symbols[j].st_name + sizeof "GOMP_parallel" > names.sh_size) continue;
            if (std::strcmp(strings + symbols[j].st_name, "GOMP_parallel") == 0) return true;
        }
    }
    return file.contains("\nlibgomp: ");
}

}  // namespace

std::vector<Finding> look_at_objects() {
    const std::vector<Object> objects = loaded_objects();
    const Object* ours = nullptr;
    bool guarded = false;
    for (const Object& object : objects) {
        if (object.on_weft && object.soname == "libgomp.so.1") ours = &object;
        guarded = guarded || begins(object.soname.c_str(), "libweft_openblas");
    }
    std::vector<Finding> found;
    std::vector<const Object*> called;   // other libgomps that somebody calls
    for (const Object& object : objects) {
        if (object.on_weft || object.symbols == nullptr || begins(object.soname.c_str(), "libweft_")) continue;
        unsigned gnu = 0, to_ours = 0, llvm = 0, threads = 0;
        const Object* other = nullptr;
        each_slot(object, [&](const char* name, std::uintptr_t value) {
            if (begins(name, "__kmpc_")) ++llvm;
            if (std::strcmp(name, "pthread_create") == 0) ++threads;
            if (!begins(name, "GOMP_") && !begins(name, "omp_")) return;
            ++gnu;
            if (ours != nullptr && ours->holds(value)) ++to_ours;
            if (ours != nullptr && ours->holds(value)) return;
            for (const Object& target : objects) {   // a slot that points into its own object waits for the first call
                if (&target != &object && target.holds(value)) other = &target;
            }
        });
        const bool is_libgomp = begins(object.soname.c_str(), "libgomp");
        const bool is_openblas = object.path.find("openblas") != std::string::npos;
        if (llvm != 0) {
            found.push_back({Verdict::left_alone, object.path, "OpenMP of LLVM's ABI, whose entry points are not on Weft"});
        } else if (other != nullptr && !is_libgomp) {
            called.push_back(other);
            found.push_back({Verdict::left_alone, object.path, "its OpenMP is " + other->path +
                                 (ours == nullptr ? ": --openmp=native" : ", by RTLD_DEEPBIND or a handle of dlopen")});
        } else if (gnu != 0 && !is_libgomp) {
            found.push_back({Verdict::taken_over, object.path, to_ours != 0 ? "OpenMP of the GNU ABI, by " + ours->path : "OpenMP of the GNU ABI, of which nothing was called"});
            if (is_openblas && guarded) found.push_back({Verdict::limited, object.path, "one call at a time computes, and others wait without spinning"});
        } else if (!is_libgomp && holds_libgomp(object.path)) {
            found.push_back({Verdict::left_alone, object.path, "libgomp was linked into it statically"});
        } else if (begins(object.soname.c_str(), "libtbb.so")) {
            found.push_back({Verdict::left_alone, object.path, "TBB has threads of its own"});
        } else if (is_openblas && threads != 0) {
            found.push_back({Verdict::left_alone, object.path, "OpenBLAS with threads of its own"});
        }
    }
    // Copies under names of their own, as wheels of Python bring them. libgomp.so.1 itself is not loaded where ours is.
    for (const Object& object : objects) {
        if (object.on_weft || !begins(object.soname.c_str(), "libgomp") || ours == nullptr) continue;
        bool is_called = false;
        for (const Object* one : called) is_called = is_called || one == &object;
        if (!is_called) found.push_back({Verdict::taken_over, object.path, "a copy of libgomp whose callers go to " + ours->path});
    }
    return found;
}

}  // namespace weft_report
