// Files that are written whole or not at all.
#include "deep_accel/base/files.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "deep_accel/base/error.h"
#include "tests/temporary_folder.h"

namespace deep_accel {
namespace {

TEST(Files, WritesAndReads) {
  TemporaryFolder folder;
  auto path = folder.path() / "a" / "b" / "file";
  write_file_atomically(path, std::string("one"));
  write_file_atomically(path, std::string(100000, 'x'));
  EXPECT_EQ(read_text(path), std::string(100000, 'x'));
  EXPECT_EQ(read_file(path).size(), 100000u);
  EXPECT_EQ(folder.count(), 1);
  write_file_atomically(path, std::string());
  EXPECT_EQ(read_text(path), "");
}

TEST(Files, ReadsFilesOfUnknownSize) { EXPECT_NE(read_text("/proc/self/status").find("Name:"), std::string::npos); }

TEST(Files, ErrorsNameTheFileAndTheReason) {
  try {
    read_text("/nonexistent/file");
    FAIL();
  } catch (const IoError& error) {
    EXPECT_STREQ(error.what(), "cannot open '/nonexistent/file': No such file or directory");
  }
  EXPECT_THROW(read_text("/"), IoError);
  EXPECT_THROW(write_file_atomically("/proc/nothing/file", std::string("x")), IoError);
}

// A limit on the size of files stands for a disk that is full in the middle.
TEST(Files, AFailedWriteLeavesTheOldFileAndNothingElse) {
  TemporaryFolder folder;
  auto path = folder.path() / "file";
  write_file_atomically(path, std::string("old"));
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{5000, 5000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    bool failed = false;
    try {
      write_file_atomically(path, std::string(100000, 'x'));
    } catch (const IoError&) {
      failed = true;
    }
    ::_exit(failed ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_text(path), "old");
  EXPECT_EQ(folder.count(), 1);
}

TEST(Files, ReadersSeeWholeFilesOnly) {
  TemporaryFolder folder;
  auto path = folder.path() / "file";
  write_file_atomically(path, std::string(5000, 'a'));
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 0; i < 50; ++i) write_file_atomically(path, std::string(5000, static_cast<char>('a' + i % 26)));
    stop = true;
  });
  while (!stop) {
    std::string text = read_text(path);
    ASSERT_EQ(text.size(), 5000u);
    ASSERT_EQ(text.find_first_not_of(text[0]), std::string::npos);
  }
  writer.join();
}

TEST(Files, StaleTemporariesAreRemoved) {
  TemporaryFolder folder;
  auto stale = folder.path() / "x.deep_accel-tmp-1-0-5", fresh = folder.path() / "x.deep_accel-tmp-1-1-5";
  std::ofstream(stale) << "x";
  std::ofstream(fresh) << "x";
  std::ofstream(folder.path() / "ordinary") << "x";
  std::filesystem::last_write_time(stale, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  std::filesystem::last_write_time(folder.path() / "ordinary",
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  EXPECT_EQ(remove_stale_temporaries(folder.path(), std::chrono::hours(1)), 1);
  EXPECT_FALSE(std::filesystem::exists(stale));
  EXPECT_TRUE(std::filesystem::exists(fresh));
  EXPECT_EQ(remove_stale_temporaries("/nonexistent", std::chrono::hours(1)), 0);
}

TEST(Files, CacheDirectory) {
  ::setenv("DEEP_ACCEL_CACHE_DIR", "/some/where", 1);
  EXPECT_EQ(cache_directory(), "/some/where");
  ::unsetenv("DEEP_ACCEL_CACHE_DIR");
  ::setenv("XDG_CACHE_HOME", "/xdg", 1);
  EXPECT_EQ(cache_directory(), "/xdg/deep_accel");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  ::setenv("HOME", "/home/somebody", 1);
  EXPECT_EQ(cache_directory(), "/home/somebody/.cache/deep_accel");
  ::unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace deep_accel
