// See bitmap.hpp.

#include "core/bitmap.hpp"

#include <algorithm>
#include <cstring>

#include "core/bytes.hpp"

namespace bloomfilter {
namespace {

constexpr std::size_t kCountedLines = 512; // lines in each call of the kernel's count_bits()

// Calls use(lines, other, count) on two bitmaps of `bytes` bytes: first on all whole lines. If the
// bitmaps end within a line, calls it again on copies of this last line, padded with zeros.
template <typename Use>
void for_lines(std::uint8_t *bitmap, const std::uint8_t *other, std::size_t bytes, Use use) {
  const std::size_t whole = bytes / kLineBytes * kLineBytes, rest = bytes - whole;
  use(bitmap, other, whole / kLineBytes);
  if (rest == 0)
    return;
  std::uint8_t line[kLineBytes] = {}, other_line[kLineBytes] = {};
  std::memcpy(line, bitmap + whole, rest);
  std::memcpy(other_line, other + whole, rest);
  use(line, other_line, 1);
  std::memcpy(bitmap + whole, line, rest);
}

} // namespace

std::uint64_t count_set(const Kernel &kernel, const std::uint8_t *bitmap, std::size_t bytes) {
  std::uint16_t set[kCountedLines];
  std::uint64_t sum = 0;
  while (bytes >= kLineBytes) {
    const std::size_t count = std::min(bytes / kLineBytes, kCountedLines);
    kernel.count_bits(bitmap, count, set);
    for (std::size_t i = 0; i < count; i++)
      sum += set[i];
    bitmap += count * kLineBytes;
    bytes -= count * kLineBytes;
  }
  for (; bytes > 0; bitmap += kWordBytes, bytes -= kWordBytes)
    sum += static_cast<std::uint64_t>(__builtin_popcountll(load<std::uint64_t>(bitmap)));
  return sum;
}

void unite(const Kernel &kernel, std::uint8_t *bitmap, const std::uint8_t *other,
           std::size_t bytes) {
  for_lines(bitmap, other, bytes, kernel.unite);
}

void intersect(const Kernel &kernel, std::uint8_t *bitmap, const std::uint8_t *other,
               std::size_t bytes) {
  for_lines(bitmap, other, bytes, kernel.intersect);
}

} // namespace bloomfilter
