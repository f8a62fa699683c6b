// Threads, memory, the machine, and the cache of kernels.
#include "deep_accel/runtime/device.h"
#include "deep_accel/runtime/kernel_cache.h"
#include "deep_accel/runtime/memory.h"
#include "deep_accel/runtime/workers.h"
#include "python/native/native.h"

namespace deep_accel::python {

void bind_runtime(nb::module_& m) {
  m.def("num_threads", &num_threads, "How many threads kernels run on by default.");
  m.def("set_num_threads", &set_num_threads, nb::arg("count"), "Set it. Raises ValueError below 1.");
  m.def(
      "memory_stats",
      [] {
        const MemoryStatistics s = MemoryPool::instance().statistics();
        nb::dict d;
        d["in_use"] = s.in_use, d["peak"] = s.peak, d["reserved"] = s.reserved, d["cached"] = s.cached;
        d["requests"] = s.requests, d["reused"] = s.reused, d["limit"] = s.limit;
        return d;
      },
      "Bytes of tensors in use, at their peak, reserved and cached; requests, and how many reused memory.");
  m.def("reset_peak_memory", [] { MemoryPool::instance().reset_peak(); }, "Count the peak from now on.");
  m.def(
      "release_cached_memory", [] { return MemoryPool::instance().release_cached(); },
      "Give cached memory back to the system; returns the bytes.");
  m.def(
      "device_info",
      [] {
        const CpuInfo& c = host_cpu();
        nb::dict d;
        d["name"] = c.name, d["architecture"] = c.architecture, d["features"] = c.features, d["cores"] = c.cores;
        d["processors"] = c.processors, d["l1d_bytes"] = c.l1d_bytes, d["l2_bytes"] = c.l2_bytes;
        d["l3_bytes"] = c.l3_bytes, d["line_bytes"] = c.line_bytes, d["memory_bytes"] = c.memory_bytes;
        return d;
      },
      "Facts about the machine: name, features, cores, caches, memory.");
  m.def(
      "kernel_cache_stats",
      [] {
        const KernelCacheStatistics s = KernelCache::instance().statistics();
        nb::dict d;
        d["memory_hits"] = s.memory_hits, d["disk_hits"] = s.disk_hits, d["compiled"] = s.compiled;
        d["damaged"] = s.damaged, d["evicted"] = s.evicted, d["in_memory"] = s.in_memory;
        d["disk_entries"] = s.disk_entries, d["disk_bytes"] = s.disk_bytes, d["disk_limit"] = s.disk_limit;
        d["folder"] = KernelCache::instance().folder().string();
        return d;
      },
      "Counts of the cache of compiled kernels, and where it is.");
  m.def(
      "clear_kernel_cache", [] { return KernelCache::instance().clear(); },
      "Forget all compiled kernels, in memory and on disk; returns how many the disk had.");
}

}  // namespace deep_accel::python
