// See kernel.hpp. This file has the scalar kernel and chooses the kernel.

#include "core/kernel.hpp"

#include <cstring>
#include <utility>

#include "core/bytes.hpp"

namespace bloomfilter {
namespace {

[[gnu::always_inline]] inline bool test_line(const std::uint8_t *line, std::uint32_t word, int k) {
  unsigned all = 1;
  for (int i = 0; i < k; i++) {
    const std::uint32_t position = bit_position(word, i);
    all &= line[position >> 3] >> (position & 7);
  }
  return all & 1;
}

[[gnu::always_inline]] inline bool test_counter_line(const std::uint8_t *counter_line,
                                                     std::uint32_t word, int k) {
  unsigned all = 1;
  for (int i = 0; i < k; i++) {
    const std::uint32_t position = bit_position(word, i);
    const std::uint8_t *line = counter_line + (position >> 3);
    unsigned used = 0;
    for (int j = 0; j < kCounterBits; j++)
      used |= line[j * kLineBytes];
    all &= used >> (position & 7);
  }
  return all & 1;
}

[[gnu::always_inline]] inline void set_line(std::uint8_t *line, std::uint32_t word, int k) {
#pragma GCC unroll 16
  for (int i = 0; i < k; i++) {
    const std::uint32_t position = bit_position(word, i);
    line[position >> 3] = static_cast<std::uint8_t>(line[position >> 3] | 1U << (position & 7));
  }
}

void unite_line(std::uint8_t *line, const std::uint8_t *other) {
  for (int i = 0; i < kLineBytes; i += 8)
    store(line + i, load<std::uint64_t>(line + i) | load<std::uint64_t>(other + i));
}

void intersect_line(std::uint8_t *line, const std::uint8_t *other) {
  for (int i = 0; i < kLineBytes; i += 8)
    store(line + i, load<std::uint64_t>(line + i) & load<std::uint64_t>(other + i));
}

unsigned count_line(const std::uint8_t *line) {
  unsigned set = 0;
  for (int i = 0; i < kLineBytes; i += 8)
    set += static_cast<unsigned>(__builtin_popcountll(load<std::uint64_t>(line + i)));
  return set;
}

#include "core/kernel_loops.inc"

} // namespace

const Kernel kScalarKernel = {"scalar", contains, contains_for, contains_many, counting_contains,
                              add_many, unite,    intersect,    count_bits};

const Kernel *find_kernel(const char *name) {
  const Kernel *const fastest_first[] = {avx512_kernel(), avx2_kernel(), neon_kernel(),
                                         &kScalarKernel};
  for (const Kernel *kernel : fastest_first)
    if (kernel && (!name || std::strcmp(kernel->name, name) == 0))
      return kernel;
  return nullptr;
}

const Kernel &best_kernel() {
  return *find_kernel(nullptr);
}

} // namespace bloomfilter
