// The AVX-512 kernel of x86-64. It runs if best_kernel() finds these instructions in the processor.
//
// A register holds a whole line, and another one all sixteen bit positions that a word can choose.
//
// What it gains: on an AMD EPYC with AVX-512, additions take 0.6 to 0.7 of the AVX2 kernel's time,
// and counting bits takes 0.4 to 0.5 (core_bench). So bf_agg(x, n) of 1000 to 200 000 values takes
// 0.85 to 0.88 of the time (script/bench sizes). Lookups gain at most a tenth, and unions nothing.

#include "core/kernel.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#include <utility>

// Functions from here to the end of the region may use AVX-512. kernel_avx2.cpp says why the
// headers above must not.
#if defined(__clang__)
#pragma clang attribute push(                                                                      \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq"))),                 \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" // in gcc's own header: gcc bug 105593
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")
#endif

namespace bloomfilter {
namespace {

// Moves the words with the bit positions into the lanes of the positions, and tests all bits at
// once. The upper 9 bits of a product are a position, and the upper 4 bits of them the number of
// the word. A rotation uses only the lower 5 bits of its count.
[[gnu::always_inline]] inline bool test_bits(__m512i line, std::uint32_t word, int k) {
  const auto lanes = static_cast<__mmask16>((1U << k) - 1);
  const __m512i products = _mm512_mullo_epi32(_mm512_set1_epi32(static_cast<int>(word)),
                                              _mm512_loadu_si512(kMultipliers.power));
  const __m512i words = _mm512_permutexvar_epi32(_mm512_srli_epi32(products, 28), line);
  const __m512i bits = _mm512_rolv_epi32(_mm512_set1_epi32(1), _mm512_srli_epi32(products, 23));
  return _mm512_mask_testn_epi32_mask(lanes, words, bits) == 0;
}

[[gnu::always_inline]] inline bool test_line(const std::uint8_t *line, std::uint32_t word, int k) {
  return test_bits(_mm512_loadu_si512(line), word, k);
}

[[gnu::always_inline]] inline bool test_counter_line(const std::uint8_t *counter_line,
                                                     std::uint32_t word, int k) {
  __m512i line = _mm512_loadu_si512(counter_line);
  for (int j = 1; j < kCounterBits; j++)
    line = _mm512_or_si512(line, _mm512_loadu_si512(counter_line + j * kLineBytes));
  return test_bits(line, word, k);
}

// A line with only the i-th bit that a word chooses. A shift by 32 or more gives zero, so shifting
// 1 by (position - first position of the lane) leaves a bit in the right lane only. The position is
// computed in a general register, because vectors of integers are multiplied at a third of the
// speed on some processors.
[[gnu::always_inline]] inline __m512i bit_of(std::uint32_t word, int i) {
  const __m512i first =
      _mm512_set_epi32(480, 448, 416, 384, 352, 320, 288, 256, 224, 192, 160, 128, 96, 64, 32, 0);
  const __m512i position = _mm512_set1_epi32(static_cast<int>(bit_position(word, i)));
  return _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_sub_epi32(position, first));
}

// Sets two bits at a time, because the OR takes three operands. If k is odd, the last bit is set
// twice.
[[gnu::always_inline]] inline void set_line(std::uint8_t *line, std::uint32_t word, int k) {
  constexpr int kOr = 0xFE;
  __m512i bits = _mm512_loadu_si512(line);
#pragma GCC unroll 8
  for (int i = 0; i < k; i += 2) {
    const __m512i bit = bit_of(word, i), next = i + 1 < k ? bit_of(word, i + 1) : bit;
    bits = _mm512_ternarylogic_epi32(bits, bit, next, kOr);
  }
  _mm512_storeu_si512(line, bits);
}

void unite_line(std::uint8_t *line, const std::uint8_t *other) {
  _mm512_storeu_si512(line, _mm512_or_si512(_mm512_loadu_si512(line), _mm512_loadu_si512(other)));
}

void intersect_line(std::uint8_t *line, const std::uint8_t *other) {
  _mm512_storeu_si512(line, _mm512_and_si512(_mm512_loadu_si512(line), _mm512_loadu_si512(other)));
}

// Counts the bits of eight words, at most 64 each, as bytes. The sum of these bytes is the sum of
// their distances from zero.
unsigned count_line(const std::uint8_t *line) {
  const __m128i counts = _mm512_cvtepi64_epi8(_mm512_popcnt_epi64(_mm512_loadu_si512(line)));
  return static_cast<unsigned>(_mm_cvtsi128_si32(_mm_sad_epu8(counts, _mm_setzero_si128())));
}

#include "core/kernel_loops.inc"

constexpr Kernel kAvx512Kernel = {"avx512",      contains,          contains_for,
                                  contains_many, counting_contains, add_many,
                                  unite,         intersect,         count_bits};

} // namespace
} // namespace bloomfilter

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

const bloomfilter::Kernel *bloomfilter::avx512_kernel() {
  const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512vpopcntdq");
  return has ? &kAvx512Kernel : nullptr;
}

#else

const bloomfilter::Kernel *bloomfilter::avx512_kernel() {
  return nullptr;
}

#endif
