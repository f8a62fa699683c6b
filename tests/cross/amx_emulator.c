// Linked into a program, runs AMX's instructions on processors without them: each raises SIGILL, and the handler does
// what Intel's manual (volume 2, chapters LDTILECFG to TILEZERO) says. What is no AMX instruction, or multiplies tiles
// whose shapes do not fit, ends the program.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

typedef struct {
  int rows, bytes;  // the shape that LDTILECFG gave it
  uint8_t data[16][64];
} Tile;

static Tile tiles[8];

static void die(const char* message) {
  if (write(2, message, strlen(message)) < 0) _exit(98);
  _exit(99);
}

static int64_t read_register(const ucontext_t* context, int number) {
  static const int order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return context->uc_mcontext.gregs[order[number]];
}

typedef struct {
  int prefix, opcode, mod, reg, rm, third;  // VEX.pp, the opcode, ModRM, VEX.vvvv
  uint8_t* address;                         // of the memory operand
  int64_t stride;                           // what its index register holds, scaled
  int length;
} Instruction;

static Instruction decode(const ucontext_t* context) {
  const uint8_t* code = (const uint8_t*)context->uc_mcontext.gregs[REG_RIP];
  if (code[0] != 0xc4 || (code[1] & 31) != 2 || (code[2] & 0x84) != 0) die("amx_emulator: no AMX instruction\n");
  Instruction result = {.prefix = code[2] & 3,
                        .opcode = code[3],
                        .mod = code[4] >> 6,
                        .reg = code[4] >> 3 & 7,
                        .rm = code[4] & 7,
                        .third = ~(code[2] >> 3) & 7,
                        .length = 5};
  if (result.mod == 3) return result;
  const int extend_index = code[1] & 0x40 ? 0 : 8, extend_base = code[1] & 0x20 ? 0 : 8;
  int base = result.rm + extend_base, has_base = 1;
  if (result.rm == 4) {
    const uint8_t sib = code[result.length++];
    const int index = (sib >> 3 & 7) + extend_index;
    base = (sib & 7) + extend_base;
    if (index != 4) result.stride = read_register(context, index) << (sib >> 6);
    if ((sib & 7) == 5 && result.mod == 0) has_base = 0;
  } else if (result.rm == 5 && result.mod == 0) {
    die("amx_emulator: an address relative to the instruction\n");
  }
  int64_t displacement = 0;
  if (result.mod == 1) {
    displacement = (int8_t)code[result.length++];
  } else if (result.mod == 2 || !has_base) {
    int32_t wide;
    memcpy(&wide, code + result.length, sizeof wide);
    displacement = wide;
    result.length += 4;
  }
  result.address = (uint8_t*)((has_base ? read_register(context, base) : 0) + displacement);
  return result;
}

static void configure(const uint8_t* from) {
  if (from[0] != 1) die("amx_emulator: no palette 1\n");
  for (int i = 0; i < 8; ++i) {
    uint16_t bytes;
    memcpy(&bytes, from + 16 + 2 * i, sizeof bytes);
    memset(&tiles[i], 0, sizeof tiles[i]);
    tiles[i].bytes = bytes;
    tiles[i].rows = from[48 + i];
    if (bytes > 64 || tiles[i].rows > 16) die("amx_emulator: a tile that is too large\n");
  }
}

static float from_bf16(const uint8_t* bytes) {
  const uint32_t bits = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 24;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static int32_t from_byte(uint8_t byte, int is_signed) { return is_signed ? (int8_t)byte : byte; }

static void multiply(const Instruction* op) {
  Tile* sums = &tiles[op->reg];
  const Tile *a = &tiles[op->rm], *b = &tiles[op->third];
  if (a->rows != sums->rows || b->bytes != sums->bytes || a->bytes != 4 * b->rows || sums->rows == 0) {
    die("amx_emulator: shapes of tiles do not fit\n");
  }
  const int is_bf16 = op->opcode == 0x5c;
  // 66: unsigned by signed, F3: signed by unsigned, F2: both signed.
  const int a_signed = op->prefix >= 2, b_signed = op->prefix == 1 || op->prefix == 3;
  for (int m = 0; m < sums->rows; ++m) {
    for (int k = 0; k < b->rows; ++k) {
      for (int n = 0; n < sums->bytes / 4; ++n) {
        const uint8_t *x = a->data[m] + 4 * k, *y = b->data[k] + 4 * n;
        uint8_t* at = sums->data[m] + 4 * n;
        if (is_bf16) {
          float sum;
          memcpy(&sum, at, sizeof sum);
          for (int i = 0; i < 4; i += 2) sum += from_bf16(x + i) * from_bf16(y + i);
          memcpy(at, &sum, sizeof sum);
        } else {
          uint32_t sum;
          memcpy(&sum, at, sizeof sum);
          for (int i = 0; i < 4; ++i) sum += (uint32_t)(from_byte(x[i], a_signed) * from_byte(y[i], b_signed));
          memcpy(at, &sum, sizeof sum);
        }
      }
    }
  }
}

static void run(int signal, siginfo_t* info, void* opaque) {
  (void)signal;
  (void)info;
  ucontext_t* context = opaque;
  const Instruction op = decode(context);
  Tile* tile = &tiles[op.reg];
  switch (op.opcode) {
    case 0x49:
      if (op.prefix == 3 && op.mod == 3) {  // TILEZERO
        memset(tile->data, 0, sizeof tile->data);
      } else if (op.prefix == 0 && op.mod == 3) {  // TILERELEASE
        memset(tiles, 0, sizeof tiles);
      } else if (op.prefix == 0) {  // LDTILECFG
        configure(op.address);
      } else {
        die("amx_emulator: STTILECFG\n");
      }
      break;
    case 0x4b:
      if (op.prefix == 2) {  // TILESTORED
        for (int row = 0; row < tile->rows; ++row) {
          memcpy(op.address + row * op.stride, tile->data[row], (size_t)tile->bytes);
        }
      } else {  // TILELOADD, TILELOADDT1
        memset(tile->data, 0, sizeof tile->data);
        for (int row = 0; row < tile->rows; ++row) {
          memcpy(tile->data[row], op.address + row * op.stride, (size_t)tile->bytes);
        }
      }
      break;
    case 0x5c:
    case 0x5e:
      multiply(&op);
      break;
    default:
      die("amx_emulator: no AMX instruction\n");
  }
  context->uc_mcontext.gregs[REG_RIP] += op.length;
}

__attribute__((constructor)) static void install(void) {
  struct sigaction action = {.sa_flags = SA_SIGINFO};
  action.sa_sigaction = run;
  sigaction(SIGILL, &action, NULL);
}
