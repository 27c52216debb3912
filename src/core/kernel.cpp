#include "core/kernel.hpp"

#include <cstring>

#include "core/bytes.hpp"

namespace bloomfilter {
namespace {

bool test_line(const std::uint8_t *line, std::uint32_t word, int k) {
  unsigned all = 1;
  for (int i = 0; i < k; i++) {
    const std::uint32_t position = bit_position(word, i);
    all &= line[position >> 3] >> (position & 7);
  }
  return all & 1;
}

bool set_line(std::uint8_t *line, std::uint32_t word, int k) {
  unsigned all = 1;
  for (int i = 0; i < k; i++) {
    const std::uint32_t position = bit_position(word, i);
    std::uint8_t *byte = line + (position >> 3);
    all &= *byte >> (position & 7);
    *byte = static_cast<std::uint8_t>(*byte | 1U << (position & 7));
  }
  return !(all & 1);
}

#include "core/kernel_loops.inc"

} // namespace

const Kernel kScalarKernel = {"scalar", contains, add, add_many};

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

std::uint64_t count_bits(const std::uint8_t *bytes, std::size_t length) {
  std::uint64_t bits = 0;
  std::size_t i = 0;
  for (; i + 8 <= length; i += 8)
    bits += static_cast<unsigned>(__builtin_popcountll(load<std::uint64_t>(bytes + i)));
  for (; i < length; i++)
    bits += static_cast<unsigned>(__builtin_popcount(bytes[i]));
  return bits;
}

void unite_bits(std::uint8_t *bytes, const std::uint8_t *other, std::size_t length) {
  for (std::size_t i = 0; i < length; i++)
    bytes[i] = static_cast<std::uint8_t>(bytes[i] | other[i]);
}

} // namespace bloomfilter
