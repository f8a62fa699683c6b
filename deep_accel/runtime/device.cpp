// hwloc knows the caches and cores; the name and the features come from /proc/cpuinfo, where each architecture has
// words of its own for them.
#include "deep_accel/runtime/device.h"

#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "deep_accel/base/hash.h"
#include "deep_accel/base/log.h"
#include "deep_accel/runtime/workers.h"

namespace deep_accel {
namespace {

// The first value of each key.
std::map<std::string, std::string> read_cpuinfo() {
  std::map<std::string, std::string> values;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    size_t start = line.find_first_not_of(" \t", colon + 1);
    values.emplace(key, start == std::string::npos ? "" : line.substr(start));
  }
  return values;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, separator);) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

void read_names(CpuInfo& cpu) {
  std::map<std::string, std::string> info = read_cpuinfo();
  for (const char* key : {"model name", "Model Name", "cpu model", "uarch", "Model"}) {
    if (cpu.name.empty() && info.contains(key)) cpu.name = info[key];
  }
  if (cpu.name.empty() && info.contains("CPU part")) {  // Arm names its chips by numbers
    cpu.name = "Arm implementer " + info["CPU implementer"] + " part " + info["CPU part"];
  }
  if (cpu.name.empty()) cpu.name = "unknown " + cpu.architecture;
  for (const char* key : {"flags", "Features", "features"}) {
    if (cpu.features.empty() && info.contains(key)) cpu.features = split(info[key], ' ');
  }
  if (cpu.features.empty() && info.contains("isa")) cpu.features = split(info["isa"], '_');  // RISC-V
  std::sort(cpu.features.begin(), cpu.features.end());
  cpu.features.erase(std::unique(cpu.features.begin(), cpu.features.end()), cpu.features.end());
}

int cores_below(hwloc_topology_t topology, hwloc_obj_t object) {
  return std::max(1, hwloc_get_nbobjs_inside_cpuset_by_type(topology, object->cpuset, HWLOC_OBJ_CORE));
}

void read_topology(CpuInfo& cpu) {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return;
  hwloc_topology_set_icache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc_topology_load(topology) == 0) {
    cpu.cores = std::max(0, hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE));
    auto cache = [&](hwloc_obj_type_t type) { return hwloc_get_obj_by_type(topology, type, 0); };
    if (hwloc_obj_t l1 = cache(HWLOC_OBJ_L1CACHE)) {
      cpu.l1d_bytes = static_cast<int64_t>(l1->attr->cache.size);
      if (l1->attr->cache.linesize) cpu.line_bytes = l1->attr->cache.linesize;
    }
    if (hwloc_obj_t l1i = cache(HWLOC_OBJ_L1ICACHE)) cpu.l1i_bytes = static_cast<int64_t>(l1i->attr->cache.size);
    if (hwloc_obj_t l2 = cache(HWLOC_OBJ_L2CACHE)) {
      cpu.l2_bytes = static_cast<int64_t>(l2->attr->cache.size);
      cpu.l2_shared_by = cores_below(topology, l2);
    }
    if (hwloc_obj_t l3 = cache(HWLOC_OBJ_L3CACHE)) {
      cpu.l3_bytes = static_cast<int64_t>(l3->attr->cache.size);
      cpu.l3_shared_by = cores_below(topology, l3);
    }
  } else {
    log_info("hwloc could not read the machine's topology");
  }
  hwloc_topology_destroy(topology);
}

// What the C library knows, where sysfs is hidden (some containers).
void fill_gaps(CpuInfo& cpu) {
  auto fill = [](int64_t& value, int name) {
    if (value <= 0) value = std::max<int64_t>(0, ::sysconf(name));
  };
  fill(cpu.l1d_bytes, _SC_LEVEL1_DCACHE_SIZE);
  fill(cpu.l1i_bytes, _SC_LEVEL1_ICACHE_SIZE);
  fill(cpu.l2_bytes, _SC_LEVEL2_CACHE_SIZE);
  fill(cpu.l3_bytes, _SC_LEVEL3_CACHE_SIZE);
  if (cpu.cores <= 0) cpu.cores = cpu.processors;
  if (cpu.l2_bytes && !cpu.l2_shared_by) cpu.l2_shared_by = 1;
  if (cpu.l3_bytes && !cpu.l3_shared_by) cpu.l3_shared_by = cpu.cores;
}

}  // namespace

bool CpuInfo::has(const std::string& feature) const {
  return std::binary_search(features.begin(), features.end(), feature);
}

std::string CpuInfo::fingerprint() const {
  std::string all = architecture + "\n" + name;
  for (const std::string& feature : features) all += "\n" + feature;
  return to_hex(sha256(all)).substr(0, 16);
}

const CpuInfo& host_cpu() {
  static const CpuInfo found = [] {
    CpuInfo cpu;
#if defined(__x86_64__)
    cpu.architecture = "x86-64";
#elif defined(__aarch64__)
    cpu.architecture = "aarch64";
#elif defined(__riscv)
    cpu.architecture = "riscv64";
#elif defined(__loongarch__)
    cpu.architecture = "loongarch64";
#endif
    cpu.processors = available_processors();
    cpu.memory_bytes = static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
    read_names(cpu);
    read_topology(cpu);
    fill_gaps(cpu);
    cpu.cores = std::min(cpu.cores, cpu.processors);
    return cpu;
  }();
  return found;
}

}  // namespace deep_accel
