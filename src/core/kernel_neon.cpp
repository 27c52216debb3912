// The NEON kernel of 64-bit ARM, where NEON is always available. A line is four registers, and one
// table lookup reads any sixteen of its bytes.

#include "core/kernel.hpp"

#if defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#include <arm_neon.h>

#include <utility>

namespace bloomfilter {
namespace {

// From entry 16 - k on, k zeros for the lanes that have a hash function, then all ones.
constexpr std::uint8_t kUnused[2 * kMaxK] = {
    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

// Narrows four registers of four numbers below 256 to sixteen bytes.
uint8x16_t narrow(uint32x4_t a, uint32x4_t b, uint32x4_t c, uint32x4_t d) {
  return vcombine_u8(vmovn_u16(vcombine_u16(vmovn_u32(a), vmovn_u32(b))),
                     vmovn_u16(vcombine_u16(vmovn_u32(c), vmovn_u32(d))));
}

[[gnu::always_inline]] inline bool test_bits(uint8x16x4_t line, std::uint32_t word, int k) {
  uint32x4_t positions[4], bytes[4], shifts[4];
  for (int i = 0; i < 4; i++) {
    positions[i] = vshrq_n_u32(vmulq_n_u32(vld1q_u32(kMultipliers.power + 4 * i), word), 23);
    bytes[i] = vshrq_n_u32(positions[i], 3);
    shifts[i] = vandq_u32(positions[i], vdupq_n_u32(7));
  }
  const uint8x16_t found = vqtbl4q_u8(line, narrow(bytes[0], bytes[1], bytes[2], bytes[3]));
  const uint8x16_t bits = vshlq_u8(
      vdupq_n_u8(1), vreinterpretq_s8_u8(narrow(shifts[0], shifts[1], shifts[2], shifts[3])));
  const uint8x16_t set = vorrq_u8(vtstq_u8(found, bits), vld1q_u8(kUnused + kMaxK - k));
  return vminvq_u8(set) == 0xff;
}

[[gnu::always_inline]] inline bool test_line(const std::uint8_t *line, std::uint32_t word, int k) {
  return test_bits(vld1q_u8_x4(line), word, k);
}

[[gnu::always_inline]] inline bool test_counter_line(const std::uint8_t *counter_line,
                                                     std::uint32_t word, int k) {
  uint8x16x4_t line = vld1q_u8_x4(counter_line);
  for (int j = 1; j < kCounterBits; j++) {
    const uint8x16x4_t other = vld1q_u8_x4(counter_line + j * kLineBytes);
    for (int i = 0; i < 4; i++)
      line.val[i] = vorrq_u8(line.val[i], other.val[i]);
  }
  return test_bits(line, word, k);
}

// Each bit goes into one 64-bit lane: the lane whose number is the upper part of the bit's
// position.
[[gnu::always_inline]] inline void set_line(std::uint8_t *line, std::uint32_t word, int k) {
  for (std::uint64_t lane = 0; lane < kLineBytes / 8; lane += 2) {
    const uint64x2_t lanes = {lane, lane + 1};
    std::uint8_t *at = line + 8 * lane;
    uint64x2_t bits = vreinterpretq_u64_u8(vld1q_u8(at));
    for (int i = 0; i < k; i++) {
      const std::uint32_t position = bit_position(word, i);
      const uint64x2_t here = vceqq_u64(lanes, vdupq_n_u64(position >> 6));
      bits = vorrq_u64(bits, vandq_u64(here, vdupq_n_u64(std::uint64_t{1} << (position & 63))));
    }
    vst1q_u8(at, vreinterpretq_u8_u64(bits));
  }
}

void unite_line(std::uint8_t *line, const std::uint8_t *other) {
  for (int i = 0; i < kLineBytes; i += 16)
    vst1q_u8(line + i, vorrq_u8(vld1q_u8(line + i), vld1q_u8(other + i)));
}

void intersect_line(std::uint8_t *line, const std::uint8_t *other) {
  for (int i = 0; i < kLineBytes; i += 16)
    vst1q_u8(line + i, vandq_u8(vld1q_u8(line + i), vld1q_u8(other + i)));
}

unsigned count_line(const std::uint8_t *line) {
  uint8x16_t bits = vdupq_n_u8(0);
  for (int i = 0; i < kLineBytes; i += 16)
    bits = vaddq_u8(bits, vcntq_u8(vld1q_u8(line + i)));
  return vaddlvq_u8(bits);
}

#include "core/kernel_loops.inc"

constexpr Kernel kNeonKernel = {"neon",   contains, contains_for, contains_many, counting_contains,
                                add_many, unite,    intersect,    count_bits};

} // namespace
} // namespace bloomfilter

const bloomfilter::Kernel *bloomfilter::neon_kernel() {
  return &kNeonKernel;
}

#else

const bloomfilter::Kernel *bloomfilter::neon_kernel() {
  return nullptr;
}

#endif
