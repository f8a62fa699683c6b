// Runs one kernel that was compiled ahead of time, with no library of ours: what a device without the runtime does.
// Compiled with -DKERNEL=<name> and linked with the kernel's object file.
//
//   driver ARGUMENT...
//
// Each argument is a tensor, in:FILE:SIZES:STRIDES or inout:FILE:SIZES:STRIDES, or a scalar, scalar:BITS. SIZES and
// STRIDES are numbers (of elements) between commas, or - where there are none; the file holds the tensor's memory,
// which is read before the launch and, for inout, written back after it. The interface is
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
typedef void Phase(const KernelContext*, const int64_t* params, int64_t x, int64_t y, int64_t z);
// A kernel has as many phases as it needs, one at least.
Phase JOIN(KERNEL, _phase0);
__attribute__((weak)) Phase JOIN(KERNEL, _phase1), JOIN(KERNEL, _phase2), JOIN(KERNEL, _phase3);
extern const char deep_accel_signature[];

enum { kMaxArguments = 16, kMaxRank = 12, kMaxPhases = 4 };

typedef struct {
  const char* path;  // null for a scalar
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

// The numbers of "3,4,5" ("-" for none); returns how many.
static int numbers(const char* text, int64_t* values) {
  int count = 0;
  for (char* end; *text && *text != '-' && count < kMaxRank; text = *end ? end + 1 : end) {
    values[count++] = strtoll(text, &end, 10);
    if (end == text) die("not a number", text);
  }
  return count;
}

static void read_memory(Argument* argument) {
  FILE* file = fopen(argument->path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) die("cannot open", argument->path);
  argument->bytes = (size_t)ftell(file);
  rewind(file);
  argument->data = allocate(argument->bytes);
  if (fread(argument->data, 1, argument->bytes, file) != argument->bytes) die("cannot read", argument->path);
  fclose(file);
}

static void write_memory(const Argument* argument) {
  FILE* file = fopen(argument->path, "wb");
  if (!file || fwrite(argument->data, 1, argument->bytes, file) != argument->bytes || fclose(file) != 0) {
    die("cannot write", argument->path);
  }
}

// Appends the argument's slots to params; returns how many.
static int parse(char* text, Argument* argument, int64_t* params) {
  const char *role = strtok(text, ":"), *first = strtok(NULL, ":");
  if (!first) die("malformed argument", text);
  argument->path = NULL;
  if (strcmp(role, "scalar") == 0) {
    params[0] = strtoll(first, NULL, 10);
    return 1;
  }
  const char *sizes = strtok(NULL, ":"), *strides = strtok(NULL, ":");
  if (!strides) die("malformed argument", text);
  argument->path = first;
  argument->is_output = strcmp(role, "inout") == 0;
  read_memory(argument);
  params[0] = (int64_t)(intptr_t)argument->data;
  const int rank = numbers(sizes, params + 1);
  if (numbers(strides, params + 1 + rank) != rank) die("not as many strides as sizes", strides);
  return 1 + 2 * rank;
}

int main(int argc, char** argv) {
  Argument arguments[kMaxArguments];
  int64_t params[kMaxArguments * (1 + 2 * kMaxRank)];
  int slots = 0, count = argc - 1;
  if (count > kMaxArguments) die("too many arguments", argv[0]);
  for (int i = 0; i < count; ++i) slots += parse(argv[i + 1], &arguments[i], params + slots);

  const char* arena_bytes = strstr(deep_accel_signature, "\"arena_bytes\":");
  if (!arena_bytes) die("the signature names no arena", deep_accel_signature);
  KernelContext context = {.fail = fail, .print = print};
  context.arena = allocate((size_t)atol(arena_bytes + strlen("\"arena_bytes\":")));
  int64_t grids[3 * kMaxPhases];  // a phase writes as many axes as it has
  for (int i = 0; i < 3 * kMaxPhases; ++i) grids[i] = 1;
  context.workspace = allocate((size_t)JOIN(KERNEL, _plan)(&context, params, grids));
  Phase* const phases[kMaxPhases] = {JOIN(KERNEL, _phase0), JOIN(KERNEL, _phase1), JOIN(KERNEL, _phase2),
                                     JOIN(KERNEL, _phase3)};
  for (int phase = 0; phase < kMaxPhases && phases[phase]; ++phase) {
    const int64_t* grid = grids + 3 * phase;
    for (int64_t x = 0; x < grid[0]; ++x) {
      for (int64_t y = 0; y < grid[1]; ++y) {
        for (int64_t z = 0; z < grid[2]; ++z) phases[phase](&context, params, x, y, z);
      }
    }
  }
  for (int i = 0; i < count; ++i) {
    if (arguments[i].path && arguments[i].is_output) write_memory(&arguments[i]);
  }
  return 0;
}
