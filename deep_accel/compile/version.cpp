// Two builds of the same version may compile differently: the build is told apart by the linker's build id of the file
// that this code is in, or, where it has none, by that file's size and time.
#include "deep_accel/compile/version.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <cstring>
#include <span>

#include "deep_accel/base/hash.h"
#include "llvm/Config/llvm-config.h"

namespace deep_accel::compile {
namespace {

struct Search {
  uintptr_t address;
  std::string build_id;
  std::string path;
};

std::string build_id_in(const char* notes, size_t size) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof note);
    const size_t name = (note.n_namesz + 3u) & ~3u, content = (note.n_descsz + 3u) & ~3u;
    if (sizeof note + name + content > size) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes + sizeof note, "GNU", 4) == 0) {
      return to_hex({reinterpret_cast<const uint8_t*>(notes) + sizeof note + name, note.n_descsz});
    }
    notes += sizeof note + name + content;
    size -= sizeof note + name + content;
  }
  return "";
}

int look_at(dl_phdr_info* info, size_t, void* opaque) {
  Search& search = *static_cast<Search*>(opaque);
  const std::span headers(info->dlpi_phdr, info->dlpi_phnum);
  auto holds_us = [&](const ElfW(Phdr) & header) {
    uintptr_t start = info->dlpi_addr + header.p_vaddr;
    return header.p_type == PT_LOAD && search.address >= start && search.address < start + header.p_memsz;
  };
  bool ours = false;
  for (const ElfW(Phdr) & header : headers) ours |= holds_us(header);
  if (!ours) return 0;
  for (const ElfW(Phdr) & header : headers) {
    if (header.p_type == PT_NOTE && search.build_id.empty()) {
      search.build_id = build_id_in(reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr), header.p_memsz);
    }
  }
  search.path = info->dlpi_name && *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
  return 1;
}

std::string build() {
  Search search{.address = reinterpret_cast<uintptr_t>(&look_at), .build_id = "", .path = ""};
  ::dl_iterate_phdr(look_at, &search);
  if (!search.build_id.empty()) return search.build_id;
  struct stat facts{};
  if (::stat(search.path.c_str(), &facts) != 0) return "unknown";
  return std::to_string(facts.st_size) + "-" + std::to_string(facts.st_mtim.tv_sec) + "." +
         std::to_string(facts.st_mtim.tv_nsec);
}

}  // namespace

const std::string& version() {
  static const std::string text = "deep_accel " DEEP_ACCEL_VERSION " LLVM " LLVM_VERSION_STRING " " + build();
  return text;
}

}  // namespace deep_accel::compile
