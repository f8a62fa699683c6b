// Loading a kernel's image into the process.
#include "deep_accel/runtime/kernel.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "deep_accel/base/error.h"
#include "deep_accel/base/fork.h"

namespace deep_accel {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr uint16_t kMachine = EM_RISCV;
#elif defined(__loongarch__)
constexpr uint16_t kMachine = 258;  // EM_LOONGARCH, which older elf.h lack
#else
#error "name this machine's ELF number here"
#endif

[[noreturn]] void refuse(const std::string& why) {
  throw ValueError("cannot load a kernel: " + why + "; compile it again for this machine");
}

// The loader trusts what it is given: a truncated image kills the process. So everything that it reads before any code
// runs must lie within the image.
void check_image(std::span<const std::byte> image) {
  Elf64_Ehdr header;
  if (image.size() < sizeof header) refuse("the image of " + std::to_string(image.size()) + " bytes is too short");
  std::memcpy(&header, image.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) refuse("the image is not an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    refuse("the image is not a 64-bit little-endian ELF file");
  }
  if (header.e_type != ET_DYN) refuse("the image is not a shared library");
  if (header.e_machine != kMachine) {
    refuse("the image is for machine " + std::to_string(header.e_machine) + ", this one is " +
           std::to_string(kMachine) + " (numbers of ELF's e_machine)");
  }
  auto within = [&](uint64_t offset, uint64_t bytes) {
    return offset <= image.size() && bytes <= image.size() - offset;
  };
  if (header.e_phentsize != sizeof(Elf64_Phdr) ||
      !within(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr))) {
    refuse("the image's program headers are damaged");
  }
  bool dynamic = false, loads = false;
  for (size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, image.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type != PT_LOAD && segment.p_type != PT_DYNAMIC) continue;
    bool sound = within(segment.p_offset, segment.p_filesz) && segment.p_filesz <= segment.p_memsz &&
                 segment.p_memsz < (uint64_t{1} << 40);
    if (!sound) refuse("the image is truncated or damaged");
    dynamic |= segment.p_type == PT_DYNAMIC;
    loads |= segment.p_type == PT_LOAD;
  }
  if (!dynamic || !loads) refuse("the image is not a shared library that can be loaded");
}

void write_image(int descriptor, std::span<const std::byte> image) {
  while (!image.empty()) {
    ssize_t written = ::write(descriptor, image.data(), image.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw IoError(std::string("cannot write a kernel's image for loading: ") + std::strerror(errno));
    image = image.subspan(static_cast<size_t>(written));
  }
}

struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

void* open_library(const std::string& path) {
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* reason = ::dlerror();
    refuse(reason ? reason : "the system's loader gave no reason");
  }
  return handle;
}

// A name that the loader has not seen: it takes two libraries of the same path for one, and descriptors' numbers come
// again. The serial number's bits are written as "/." and "//", which do not change where the path leads.
std::string unique_descriptor_path(int descriptor) {
  static std::atomic<uint32_t> serial{0};
  uint32_t number = serial.fetch_add(1);
  std::string path = "/proc/self/fd";
  for (int bit = 0; bit < 32; ++bit) path += (number >> bit) & 1 ? "/." : "//";
  return path + "/" + std::to_string(descriptor);
}

// Through anonymous memory; where the system has none, or forbids code from it, through a temporary file.
void* open_image(std::span<const std::byte> image) {
  Descriptor memory{::memfd_create("deep_accel-kernel", MFD_CLOEXEC)};
  if (memory.value >= 0) {
    write_image(memory.value, image);
    std::string path = unique_descriptor_path(memory.value);
    if (void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    ::dlerror();
  }
  const char* folder = std::getenv("TMPDIR");
  std::string path = std::string(folder && *folder ? folder : "/tmp") + "/deep_accel-kernel-XXXXXX";
  Descriptor file{::mkstemp(path.data())};
  if (file.value < 0) throw IoError("cannot create '" + path + "' to load a kernel: " + std::strerror(errno));
  try {
    write_image(file.value, image);
    void* handle = open_library(path);
    ::unlink(path.c_str());
    return handle;
  } catch (...) {
    ::unlink(path.c_str());
    throw;
  }
}

struct Externs {
  ForkSafeMutex mutex;
  std::map<std::string, void*> addresses;
};

Externs& externs() {
  static Externs& instance = *new Externs;
  return instance;
}

void* require_symbol(void* handle, const std::string& name) {
  void* address = ::dlsym(handle, name.c_str());
  if (!address) refuse("the image does not export '" + name + "'");
  return address;
}

}  // namespace

void register_extern(const std::string& name, void* address) {
  if (!address) throw ValueError("extern '" + name + "' cannot be registered with a null address");
  Externs& known = externs();
  std::lock_guard lock(known.mutex);
  known.addresses[name] = address;
}

void* find_extern(const std::string& name) {
  Externs& known = externs();
  {
    std::lock_guard lock(known.mutex);
    if (auto found = known.addresses.find(name); found != known.addresses.end()) return found->second;
  }
  return ::dlsym(RTLD_DEFAULT, name.c_str());
}

std::shared_ptr<const Kernel> Kernel::load(std::span<const std::byte> image) {
  check_image(image);
  std::shared_ptr<Kernel> kernel(new Kernel);
  kernel->handle_ = open_image(image);
  kernel->image_bytes_ = static_cast<int64_t>(image.size());
  kernel->signature_ =
      KernelSignature::parse(static_cast<const char*>(require_symbol(kernel->handle_, "deep_accel_signature")));
  const KernelSignature& signature = kernel->signature_;
  kernel->plan_ = reinterpret_cast<PlanFunction>(require_symbol(kernel->handle_, signature.name + "_plan"));
  for (size_t i = 0; i < signature.phases.size(); ++i) {
    std::string symbol = signature.name + "_phase" + std::to_string(i);
    kernel->phases_.push_back(reinterpret_cast<PhaseFunction>(require_symbol(kernel->handle_, symbol)));
  }
  for (const std::string& import : signature.imports) {
    void* address = find_extern(import);
    if (!address) {
      throw ValueError("kernel '" + signature.name + "' needs the external function '" + import +
                       "', which is neither registered nor in the process; call register_extern(\"" + import +
                       "\", address)");
    }
    *static_cast<void**>(require_symbol(kernel->handle_, "deep_accel_import_" + import)) = address;
  }
  return kernel;
}

Kernel::~Kernel() {
  if (handle_) ::dlclose(handle_);
}

}  // namespace deep_accel
