// Runs one kernel that was compiled ahead of time, with no library of ours: what a device without the runtime does.
// Compiled with -DKERNEL=<name> and linked with the kernel's object file.
//
//   driver ARGUMENT...
//
// Each argument is in:FILE:BYTES:SIZE,SIZE,... or out:FILE:BYTES:SIZE,SIZE,...: a row-major array with elements of
// BYTES bytes, read from or written to a file of nothing but its elements. The interface is
// deep_accel/runtime/kernel.h's.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct KernelContext {
  char* arena;
  char* workspace;
  void (*fail)(const struct KernelContext*, const char* message);
  void (*print)(const struct KernelContext*, const char* text, int64_t count, const double* values);
  void* user;
  int64_t worker;
} KernelContext;

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
int64_t JOIN(KERNEL, _plan)(const KernelContext*, const int64_t* params, int64_t* grids);
void JOIN(KERNEL, _phase0)(const KernelContext*, const int64_t* params, int64_t x, int64_t y, int64_t z);
extern const char deep_accel_signature[];

enum { kMaxArguments = 16, kMaxRank = 12 };

typedef struct {
  const char* path;
  char* data;
  size_t bytes;
  int is_output;
} Argument;

static void die(const char* message, const char* what) {
  fprintf(stderr, "driver: %s: %s\n", message, what);
  exit(1);
}

static void fail(const KernelContext* context, const char* message) {
  (void)context;
  die("the kernel failed", message);
}

static void print(const KernelContext* context, const char* text, int64_t count, const double* values) {
  (void)context;
  printf("%s", text);
  for (int64_t i = 0; i < count; ++i) printf(" %g", values[i]);
  printf("\n");
}

static void* allocate(size_t bytes) {
  void* data = aligned_alloc(64, (bytes + 127) / 64 * 64);
  if (!data) die("out of memory", "");
  memset(data, 0xff, bytes);  // kernels must not rely on what is there
  return data;
}

// Appends the argument's slots to params; returns how many.
static int parse(char* text, Argument* argument, int64_t* params) {
  char* role = strtok(text, ":");
  argument->path = strtok(NULL, ":");
  char *element = strtok(NULL, ":"), *sizes = strtok(NULL, ":");
  if (!sizes) die("malformed argument", text);
  argument->is_output = strcmp(role, "out") == 0;
  int64_t shape[kMaxRank];
  int rank = 0;
  argument->bytes = (size_t)atol(element);
  for (char* size = strtok(sizes, ","); size && rank < kMaxRank; size = strtok(NULL, ",")) {
    shape[rank] = atol(size);
    argument->bytes *= (size_t)shape[rank++];
  }
  argument->data = allocate(argument->bytes);
  params[0] = (int64_t)(intptr_t)argument->data;
  int64_t stride = 1;
  for (int axis = rank; axis-- > 0; stride *= shape[axis]) {
    params[1 + axis] = shape[axis];
    params[1 + rank + axis] = stride;
  }
  return 1 + 2 * rank;
}

static void transfer(const Argument* argument) {
  FILE* file = fopen(argument->path, argument->is_output ? "wb" : "rb");
  if (!file) die("cannot open", argument->path);
  size_t moved = argument->is_output ? fwrite(argument->data, 1, argument->bytes, file)
                                     : fread(argument->data, 1, argument->bytes, file);
  if (fclose(file) != 0 || moved != argument->bytes) die("cannot transfer", argument->path);
}

int main(int argc, char** argv) {
  Argument arguments[kMaxArguments];
  int64_t params[kMaxArguments * (1 + 2 * kMaxRank)];
  int slots = 0, count = argc - 1;
  if (count > kMaxArguments) die("too many arguments", argv[0]);
  for (int i = 0; i < count; ++i) {
    slots += parse(argv[i + 1], &arguments[i], params + slots);
    if (!arguments[i].is_output) transfer(&arguments[i]);
  }

  const char* arena_bytes = strstr(deep_accel_signature, "\"arena_bytes\":");
  if (!arena_bytes) die("the signature names no arena", deep_accel_signature);
  KernelContext context = {.fail = fail, .print = print};
  context.arena = allocate((size_t)atol(arena_bytes + strlen("\"arena_bytes\":")));
  int64_t grid[3];
  context.workspace = allocate((size_t)JOIN(KERNEL, _plan)(&context, params, grid));
  for (int64_t x = 0; x < grid[0]; ++x) {
    for (int64_t y = 0; y < grid[1]; ++y) {
      for (int64_t z = 0; z < grid[2]; ++z) JOIN(KERNEL, _phase0)(&context, params, x, y, z);
    }
  }
  for (int i = 0; i < count; ++i) {
    if (arguments[i].is_output) transfer(&arguments[i]);
  }
  return 0;
}
