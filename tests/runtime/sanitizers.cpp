// ThreadSanitizer would end a child that starts threads after a fork of a threaded parent, which is what we test.
extern "C" __attribute__((visibility("default"), used)) const char* __tsan_default_options() {
  return "die_after_fork=0";
}
