// The kernel cache: its three levels, damage, limits, disks that cannot be written, many threads and processes.
#include "deep_accel/runtime/kernel_cache.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <thread>

#include "deep_accel/base/error.h"
#include "deep_accel/base/files.h"
#include "tests/runtime/compile_c.h"
#include "tests/temporary_folder.h"

namespace deep_accel {
namespace {

namespace fs = std::filesystem;
constexpr int64_t kLimit = int64_t{1} << 30;

const std::vector<std::byte>& image() {
  static const std::vector<std::byte> compiled = compile_c(R"(
SIGNATURE({'name': 'seven', 'args': [{'name': 'y', 'kind': 'tensor', 'dtype': 'i32', 'role': 'out', 'dims': [1]}],
  'phases': [{'axes': 1}]})END
int64_t seven_plan(const KernelContext* c, const int64_t* p, int64_t* g) { return 0; }
void seven_phase0(const KernelContext* c, const int64_t* p, int64_t x, int64_t y, int64_t z) { *(int32_t*)p[0] = 7; }
)");
  return compiled;
}

KernelKey key(const std::string& ir) { return {ir, "O3", "compiler 1", "avx2"}; }

struct Counting {
  std::atomic<int> compiled{0};
  KernelCache::Compile compile = [this] {
    ++compiled;
    return image();
  };
};

bool works(const Kernel& kernel) {
  Tensor y = Tensor::zeros(DType::i32, {1});
  launch(kernel, {y});
  return y.at({0}) == 7;
}

std::string only_file(const TemporaryFolder& folder) {
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    if (entry.is_regular_file()) return entry.path().string();
  }
  return "";
}

TEST(KernelKey, EveryPartCounts) {
  KernelKey base{"ir", "options", "compiler", "features"};
  EXPECT_EQ(base.digest(), (KernelKey{"ir", "options", "compiler", "features"}.digest()));
  EXPECT_NE(base.digest(), (KernelKey{"ir2", "options", "compiler", "features"}.digest()));
  EXPECT_NE(base.digest(), (KernelKey{"ir", "options2", "compiler", "features"}.digest()));
  EXPECT_NE(base.digest(), (KernelKey{"ir", "options", "compiler2", "features"}.digest()));
  EXPECT_NE(base.digest(), (KernelKey{"ir", "options", "compiler", "features2"}.digest()));
  EXPECT_NE(base.digest(), (KernelKey{"iro", "ptions", "compiler", "features"}.digest()));
}

TEST(KernelCache, MemoryThenDiskThenCompile) {
  TemporaryFolder folder;
  Counting counting;
  KernelCache cache(folder.path() / "new", kLimit);
  auto kernel = cache.get(key("a"), counting.compile);
  EXPECT_TRUE(works(*kernel));
  EXPECT_EQ(cache.get(key("a"), counting.compile), kernel);
  EXPECT_EQ(counting.compiled, 1);
  cache.clear_memory();
  EXPECT_TRUE(works(*cache.get(key("a"), counting.compile)));
  KernelCache other(folder.path() / "new", kLimit);
  EXPECT_TRUE(works(*other.get(key("a"), counting.compile)));
  EXPECT_EQ(counting.compiled, 1);
  KernelCacheStatistics statistics = cache.statistics();
  EXPECT_EQ(statistics.memory_hits, 1);
  EXPECT_EQ(statistics.disk_hits, 1);
  EXPECT_EQ(statistics.compiled, 1);
  EXPECT_EQ(statistics.in_memory, 1);
  EXPECT_EQ(statistics.disk_entries, 1);
  EXPECT_GT(statistics.disk_bytes, static_cast<int64_t>(image().size()));
  ASSERT_EQ(cache.list().size(), 1u);
  EXPECT_EQ(cache.list()[0].name, "seven");
  EXPECT_EQ(cache.list()[0].key, to_hex(key("a").digest()));
  EXPECT_EQ(cache.clear(), 1);
  EXPECT_EQ(folder.count(), 0);
  EXPECT_TRUE(works(*kernel));  // who holds a kernel keeps it
}

TEST(KernelCache, MemoryAlone) {
  Counting counting;
  KernelCache cache({}, kLimit);
  cache.get(key("a"), counting.compile);
  cache.get(key("a"), counting.compile);
  EXPECT_EQ(counting.compiled, 1);
  TemporaryFolder folder;
  KernelCache limited(folder.path(), 0);
  limited.get(key("a"), counting.compile);
  EXPECT_EQ(folder.count(), 0);
}

// Each byte that is cut off or changed is noticed.
TEST(KernelCache, DamageIsNoticedAndRepaired) {
  TemporaryFolder folder;
  Counting counting;
  KernelCache(folder.path(), kLimit).get(key("a"), counting.compile);
  std::string path = only_file(folder);
  const std::string whole = read_text(path);
  std::vector<std::string> damaged = {"", whole.substr(0, 10), whole.substr(0, 152), whole.substr(0, whole.size() - 1),
                                      whole + "x"};
  for (size_t at :
       {size_t{0}, size_t{9}, size_t{17}, size_t{30}, size_t{60}, size_t{200}, whole.size() / 2, whole.size() - 1}) {
    damaged.push_back(whole);
    damaged.back()[at] = static_cast<char>(damaged.back()[at] ^ 0x10);
  }
  for (size_t i = 0; i < damaged.size(); ++i) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged[i];
    counting.compiled = 0;
    KernelCache cache(folder.path(), kLimit);
    testing::internal::CaptureStderr();
    EXPECT_TRUE(works(*cache.get(key("a"), counting.compile)));
    std::string log = testing::internal::GetCapturedStderr();
    EXPECT_NE(log.find("warning"), std::string::npos) << i;
    EXPECT_NE(log.find("is damaged and is compiled again"), std::string::npos) << log;
    EXPECT_EQ(counting.compiled, 1) << i;
    EXPECT_EQ(cache.statistics().damaged, 1);
    EXPECT_EQ(read_text(path), whole);
  }
}

TEST(KernelCache, AnEntryThatDoesNotLoadIsCompiledAgain) {
  TemporaryFolder folder;
  Counting counting;
  // Whole by its SHA-256, but not a kernel.
  KernelStore(folder.path(), kLimit).write(key("a").digest(), "no", std::vector<std::byte>(100));
  testing::internal::CaptureStderr();
  EXPECT_TRUE(works(*KernelCache(folder.path(), kLimit).get(key("a"), counting.compile)));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("not an ELF file"), std::string::npos);
  EXPECT_EQ(counting.compiled, 1);
}

TEST(KernelCache, FailuresOfTheCompilerReachTheCallerAndAreNotKept) {
  TemporaryFolder folder;
  KernelCache cache(folder.path(), kLimit);
  EXPECT_THROW(cache.get(key("a"), []() -> std::vector<std::byte> { throw UnsupportedError("no such target"); }),
               UnsupportedError);
  EXPECT_THROW(cache.get(key("a"), [] { return std::vector<std::byte>(10); }), ValueError);
  EXPECT_EQ(folder.count(), 0);
  Counting counting;
  EXPECT_TRUE(works(*cache.get(key("a"), counting.compile)));
}

TEST(KernelCache, TheLeastRecentlyUsedGoFirst) {
  TemporaryFolder folder;
  Counting counting;
  auto entry = static_cast<int64_t>(image().size()) + 152;
  KernelCache cache(folder.path(), entry * 4 + 10);
  for (const char* name : {"a", "b", "c", "d"}) {
    cache.get(key(name), counting.compile);
    auto path = folder.path() / (to_hex(key(name).digest()) + ".kernel");
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(10 - (name[0] - 'a')));
  }
  cache.clear_memory();
  cache.get(key("a"), counting.compile);  // used: now the newest
  cache.get(key("e"), counting.compile);
  EXPECT_EQ(counting.compiled, 5);
  auto there = [&](const char* name) { return fs::exists(folder.path() / (to_hex(key(name).digest()) + ".kernel")); };
  EXPECT_TRUE(there("a"));
  EXPECT_FALSE(there("b"));
  EXPECT_TRUE(there("e"));
  EXPECT_LE(cache.statistics().disk_bytes, cache.statistics().disk_limit);
  EXPECT_GE(cache.statistics().evicted, 1);
  // Larger than the limit by itself: not kept, and nothing else is thrown out for it.
  TemporaryFolder small;
  KernelCache tiny(small.path(), 100);
  EXPECT_TRUE(works(*tiny.get(key("a"), counting.compile)));
  EXPECT_EQ(small.count(), 0);
}

int run_in_child(const std::function<bool()>& body) {
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    bool good = false;
    try {
      good = body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

// Warnings that a child printed are counted through a file.
TEST(KernelCache, AReadOnlyFolderDegradesToMemory) {
  TemporaryFolder folder;
  image();
  fs::permissions(folder.path(),
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  EXPECT_EQ(run_in_child([&] {
              if (::geteuid() == 0 && ::setuid(65534) != 0) return false;  // root may write everywhere
              Counting counting;
              KernelCache cache(folder.path(), kLimit);
              testing::internal::CaptureStderr();
              bool good =
                  works(*cache.get(key("a"), counting.compile)) && works(*cache.get(key("b"), counting.compile));
              cache.get(key("a"), counting.compile);
              std::string log = testing::internal::GetCapturedStderr();
              size_t first = log.find("kernels are cached in memory only");
              bool once = first != std::string::npos && log.find("in memory only", first + 40) == std::string::npos;
              return good && once && counting.compiled == 2;
            }),
            0);
  fs::permissions(folder.path(), fs::perms::owner_all);
  EXPECT_EQ(folder.count(), 0);
}

TEST(KernelCache, AFolderThatCannotBeDegradesToMemory) {
  Counting counting;
  KernelCache cache("/proc/version/kernels", kLimit);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(works(*cache.get(key("a"), counting.compile)));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("in memory only"), std::string::npos);
  EXPECT_EQ(cache.clear(), 0);
}

// A limit on the size of files stands for a full disk.
TEST(KernelCache, AFullDiskDegradesToMemory) {
  TemporaryFolder folder;
  image();
  EXPECT_EQ(run_in_child([&] {
              ::signal(SIGXFSZ, SIG_IGN);
              // Loading writes to memory files, which the limit hits too: load first, then the disk is full.
              KernelStore store(folder.path(), kLimit);
              rlimit limit{4096, 4096};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              store.write(key("a").digest(), "seven", image());
              store.write(key("b").digest(), "seven", image());
              return !store.read(key("a").digest()).has_value();
            }),
            0);
  EXPECT_EQ(folder.count(), 0);
}

TEST(KernelCache, ThreadsThatAskForOneKernelCompileItOnce) {
  TemporaryFolder folder;
  KernelCache cache(folder.path(), kLimit);
  std::atomic<int> compiled{0};
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<const Kernel>> kernels(8);
  for (size_t t = 0; t < kernels.size(); ++t) {
    threads.emplace_back([&, t] {
      kernels[t] = cache.get(key("a"), [&] {
        ++compiled;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return image();
      });
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(compiled, 1);
  for (const auto& kernel : kernels) EXPECT_EQ(kernel, kernels[0]);
}

TEST(KernelCache, SixteenProcessesFillOneCache) {
  TemporaryFolder folder;
  image();
  std::vector<pid_t> children;
  for (int p = 0; p < 16; ++p) {
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(100);
      bool good = true;
      try {
        Counting counting;
        KernelCache cache(folder.path() / "kernels", kLimit);
        for (int i = 0; i < 12; ++i) good &= works(*cache.get(key(std::to_string((i + p) % 12)), counting.compile));
        good &= cache.statistics().damaged == 0;
      } catch (const std::exception& error) {
        std::fprintf(stderr, "child %d: %s\n", p, error.what());
        good = false;
      }
      ::_exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(folder.count(), 12);
  EXPECT_EQ(folder.count(".kernel"), 12);
  EXPECT_EQ(folder.count("tmp"), 0);
  Counting counting;
  KernelCache cache(folder.path() / "kernels", kLimit);
  for (int i = 0; i < 12; ++i) EXPECT_TRUE(works(*cache.get(key(std::to_string(i)), counting.compile)));
  EXPECT_EQ(counting.compiled, 0);
}

// Processes that also throw each other's entries out.
TEST(KernelCache, ProcessesEvictUnderEachOther) {
  TemporaryFolder folder;
  auto entry = static_cast<int64_t>(image().size()) + 152;
  std::vector<pid_t> children;
  for (int p = 0; p < 6; ++p) {
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(100);
      bool good = true;
      try {
        Counting counting;
        KernelCache cache(folder.path(), entry * 3);
        for (int i = 0; i < 20; ++i) {
          good &= works(*cache.get(key(std::to_string((i * (p + 1)) % 10)), counting.compile));
          cache.clear_memory();
        }
      } catch (const std::exception& error) {
        std::fprintf(stderr, "child %d: %s\n", p, error.what());
        good = false;
      }
      ::_exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_LE(folder.count(), 3);
  EXPECT_EQ(folder.count("tmp"), 0);
}

// Others clear the folder, and cut its files short, at whatever moment.
TEST(KernelCache, ClearedAndTruncatedWhileOthersUseIt) {
  TemporaryFolder folder;
  image();
  std::vector<pid_t> users, vandals;
  for (int p = 0; p < 8; ++p) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child != 0) {
      (p < 6 ? users : vandals).push_back(child);
      continue;
    }
    ::alarm(200);
    // Warnings about damage are as it should be here.
    ::setenv("DEEP_ACCEL_LOG", "error", 1);
    if (p == 7) {
      for (int round = 0; true; ++round) {
        for (int i = 0; i < 5; ++i) {
          const auto path = folder.path() / (to_hex(key(std::to_string(i)).digest()) + ".kernel");
          [[maybe_unused]] const int ignored = ::truncate(path.c_str(), (round * 977 + i * 131) % 4000);
          ::usleep(200);
        }
      }
    }
    if (p == 6) {
      for (;;) {
        KernelCache(folder.path(), kLimit).clear();
        ::usleep(500);
      }
    }
    bool good = true;
    try {
      Counting counting;
      for (int i = 0; i < 150; ++i) {
        KernelCache cache(folder.path(), kLimit);
        good &= works(*cache.get(key(std::to_string((i * (p + 1)) % 5)), counting.compile));
        cache.list();
        cache.statistics();
      }
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child %d: %s\n", p, error.what());
      good = false;
    }
    ::_exit(good ? 0 : 1);
  }
  for (pid_t child : users) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  for (pid_t child : vandals) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  EXPECT_EQ(folder.count("tmp"), 0);
  KernelCache(folder.path(), kLimit).clear();
  EXPECT_EQ(folder.count(), 0);
}

TEST(KernelCache, WhatKilledProcessesLeftIsCleanedUp) {
  TemporaryFolder folder;
  auto left = folder.path() / "x.kernel.deep_accel-tmp-1-0-1";
  std::ofstream(left) << "half";
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(2));
  Counting counting;
  KernelCache cache(folder.path(), kLimit);
  cache.get(key("a"), counting.compile);
  EXPECT_FALSE(fs::exists(left));
  EXPECT_EQ(folder.count(), 1);
}

TEST(KernelCache, ForkWhileAnotherThreadCompiles) {
  TemporaryFolder folder;
  image();
  KernelCache cache(folder.path(), kLimit);
  std::atomic<bool> compiling{false}, release{false};
  std::thread other([&] {
    cache.get(key("a"), [&] {
      compiling = true;
      while (!release) std::this_thread::yield();
      return image();
    });
  });
  while (!compiling) std::this_thread::yield();
  // In the child nobody would ever finish the other thread's compilation.
  EXPECT_EQ(run_in_child([&] {
              Counting counting;
              return works(*cache.get(key("a"), counting.compile)) && counting.compiled == 1;
            }),
            0);
  release = true;
  other.join();
}

}  // namespace
}  // namespace deep_accel
