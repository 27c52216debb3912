// The AVX2 kernel of x86-64. It runs if best_kernel() finds AVX2 in the processor.
//
// A register holds eight bit positions, and a line is two registers. A test computes k positions at
// once. It moves the 32-bit words with these positions into the lanes of the positions and
// compares. An insertion shifts each bit into its lane.

#include "core/kernel.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#include <utility>

// Functions from here to the end of the region may use AVX2. The headers included above must not
// use it: the linker could choose this file's copy of an inline function for the whole library.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

namespace bloomfilter {
namespace {

constexpr int kLanes = 8;

__m256i load_lanes(const void *from) {
  return _mm256_loadu_si256(static_cast<const __m256i *>(from));
}

void store_lanes(void *to, __m256i lanes) {
  _mm256_storeu_si256(static_cast<__m256i *>(to), lanes);
}

// From entry 8 - k on, k ones for the lanes that have a hash function, then zeros.
alignas(32) constexpr std::uint32_t kOnes[2 * kLanes] = {1, 1, 1, 1, 1, 1, 1, 1};

struct Bits {
  __m256i word; // index, 0 ... 15, of each lane's 32-bit word in the line
  __m256i mask; // the lane's bit in this word; 0 in lanes without a hash function
};

// The bits of hash functions `from` ... `from` + 7. Only the first `count` of these exist.
Bits bits_of(std::uint32_t word, int from, int count) {
  const __m256i multipliers = load_lanes(kMultipliers.power + from);
  const __m256i ones = load_lanes(kOnes + (count < kLanes ? kLanes - count : 0));
  const __m256i positions = _mm256_srli_epi32(
      _mm256_mullo_epi32(_mm256_set1_epi32(static_cast<int>(word)), multipliers), 23);
  return {_mm256_srli_epi32(positions, 5),
          _mm256_sllv_epi32(ones, _mm256_and_si256(positions, _mm256_set1_epi32(31)))};
}

bool lanes_set(__m256i low, __m256i high, const Bits &bits) {
  const __m256i from_low = _mm256_permutevar8x32_epi32(low, bits.word);
  const __m256i from_high = _mm256_permutevar8x32_epi32(high, bits.word);
  const __m256i in_high = _mm256_slli_epi32(bits.word, 28); // bit 3 becomes the sign
  const __m256i words = _mm256_castps_si256(_mm256_blendv_ps(
      _mm256_castsi256_ps(from_low), _mm256_castsi256_ps(from_high), _mm256_castsi256_ps(in_high)));
  return _mm256_testc_si256(words, bits.mask);
}

[[gnu::always_inline]] inline bool test_bits(__m256i low, __m256i high, std::uint32_t word, int k) {
  bool all = lanes_set(low, high, bits_of(word, 0, k));
  if (k > kLanes)
    all &= lanes_set(low, high, bits_of(word, kLanes, k - kLanes));
  return all;
}

[[gnu::always_inline]] inline bool test_line(const std::uint8_t *line, std::uint32_t word, int k) {
  return test_bits(load_lanes(line), load_lanes(line + 32), word, k);
}

[[gnu::always_inline]] inline bool test_counter_line(const std::uint8_t *counter_line,
                                                     std::uint32_t word, int k) {
  __m256i low = load_lanes(counter_line), high = load_lanes(counter_line + 32);
  for (int j = 1; j < kCounterBits; j++) {
    low = _mm256_or_si256(low, load_lanes(counter_line + j * kLineBytes));
    high = _mm256_or_si256(high, load_lanes(counter_line + j * kLineBytes + 32));
  }
  return test_bits(low, high, word, k);
}

// A shift by 32 or more gives zero. So shifting 1 by (position - first position of the lane) sets a
// bit only in the right lane.
[[gnu::always_inline]] inline void set_line(std::uint8_t *line, std::uint32_t word, int k) {
  const __m256i first_low = _mm256_set_epi32(224, 192, 160, 128, 96, 64, 32, 0);
  const __m256i first_high = _mm256_set_epi32(480, 448, 416, 384, 352, 320, 288, 256);
  const __m256i words = _mm256_set1_epi32(static_cast<int>(word)), one = _mm256_set1_epi32(1);
  __m256i low = load_lanes(line), high = load_lanes(line + 32);
#pragma GCC unroll 8 // unrolling more would not fit into the registers
  for (int i = 0; i < k; i++) {
    const __m256i multiplier = _mm256_set1_epi32(static_cast<int>(kMultipliers.power[i]));
    const __m256i position = _mm256_srli_epi32(_mm256_mullo_epi32(words, multiplier), 23);
    low = _mm256_or_si256(low, _mm256_sllv_epi32(one, _mm256_sub_epi32(position, first_low)));
    high = _mm256_or_si256(high, _mm256_sllv_epi32(one, _mm256_sub_epi32(position, first_high)));
  }
  store_lanes(line, low);
  store_lanes(line + 32, high);
}

void unite_line(std::uint8_t *line, const std::uint8_t *other) {
  for (int i = 0; i < kLineBytes; i += 32)
    store_lanes(line + i, _mm256_or_si256(load_lanes(line + i), load_lanes(other + i)));
}

void intersect_line(std::uint8_t *line, const std::uint8_t *other) {
  for (int i = 0; i < kLineBytes; i += 32)
    store_lanes(line + i, _mm256_and_si256(load_lanes(line + i), load_lanes(other + i)));
}

// The number of set bits of each byte, from a table for the 16 values of half a byte (W. Mula, N.
// Kurz, D. Lemire, "Faster population counts using AVX2 instructions", The Computer Journal 61,
// 2018).
__m256i count_bytes(__m256i bytes) {
  const __m256i counts = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                          2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i half = _mm256_set1_epi8(0x0F);
  const __m256i low = _mm256_and_si256(bytes, half);
  const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half);
  return _mm256_add_epi8(_mm256_shuffle_epi8(counts, low), _mm256_shuffle_epi8(counts, high));
}

unsigned count_line(const std::uint8_t *line) {
  const __m256i bytes =
      _mm256_add_epi8(count_bytes(load_lanes(line)), count_bytes(load_lanes(line + 32)));
  const __m256i sums = _mm256_sad_epu8(bytes, _mm256_setzero_si256());
  const __m128i halves =
      _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
  return static_cast<unsigned>(_mm_cvtsi128_si32(halves) + _mm_extract_epi16(halves, 4));
}

#include "core/kernel_loops.inc"

constexpr Kernel kAvx2Kernel = {"avx2",   contains, contains_for, contains_many, counting_contains,
                                add_many, unite,    intersect,    count_bits};

} // namespace
} // namespace bloomfilter

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

const bloomfilter::Kernel *bloomfilter::avx2_kernel() {
  return __builtin_cpu_supports("avx2") ? &kAvx2Kernel : nullptr;
}

#else

const bloomfilter::Kernel *bloomfilter::avx2_kernel() {
  return nullptr;
}

#endif
