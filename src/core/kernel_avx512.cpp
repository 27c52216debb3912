// The AVX-512 kernel: a line is one register, and so are all sixteen possible bit positions.

#include "core/kernel.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

// As in kernel_avx2.cpp: only functions from here on may use the instruction set.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))),        \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" // of gcc's own header, gcc bug 105593
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl")
#endif

namespace bloomfilter {
namespace {

// Permutes the line's words into their positions' lanes and tests all bits at once.
bool test_line(const std::uint8_t *line, std::uint32_t word, int k) {
  const __mmask16 lanes = static_cast<__mmask16>((1U << k) - 1);
  const __m512i positions =
      _mm512_srli_epi32(_mm512_mullo_epi32(_mm512_set1_epi32(static_cast<int>(word)),
                                           _mm512_loadu_si512(kMultipliers.power)),
                        23);
  const __m512i words =
      _mm512_permutexvar_epi32(_mm512_srli_epi32(positions, 5), _mm512_loadu_si512(line));
  const __m512i bits =
      _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(positions, _mm512_set1_epi32(31)));
  return (_mm512_test_epi32_mask(words, bits) & lanes) == lanes;
}

// The bits of a value in a line. A shift by 64 or more gives zero, so shifting 1 by (position -
// first position of the lane) leaves a bit in the right lane only.
__m512i line_mask(std::uint32_t word, int k) {
  const __m512i first = _mm512_set_epi64(448, 384, 320, 256, 192, 128, 64, 0);
  const __m512i one = _mm512_set1_epi64(1);
  __m512i mask = _mm512_setzero_si512();
  for (int i = 0; i < k; i++) {
    const __m512i position = _mm512_set1_epi64(bit_position(word, i));
    mask = _mm512_or_si512(mask, _mm512_sllv_epi64(one, _mm512_sub_epi64(position, first)));
  }
  return mask;
}

bool set_line(std::uint8_t *line, std::uint32_t word, int k) {
  const __m512i before = _mm512_loadu_si512(line), mask = line_mask(word, k);
  _mm512_storeu_si512(line, _mm512_or_si512(before, mask));
  return _mm512_test_epi64_mask(_mm512_andnot_si512(before, mask), mask) != 0;
}

#include "core/kernel_loops.inc"

constexpr Kernel kAvx512Kernel = {"avx512", contains, add, add_many};

} // namespace
} // namespace bloomfilter

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

const bloomfilter::Kernel *bloomfilter::avx512_kernel() {
  const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return has ? &kAvx512Kernel : nullptr;
}

#else

const bloomfilter::Kernel *bloomfilter::avx512_kernel() {
  return nullptr;
}

#endif
