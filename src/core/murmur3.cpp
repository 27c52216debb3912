// See murmur3.hpp.

#include "core/murmur3.hpp"

#include "core/bytes.hpp"

namespace bloomfilter {
namespace {

constexpr std::uint64_t kOne = 0x87C37B91114253D5ULL, kOther = 0x4CF5AD432745937FULL;
constexpr std::size_t kBlock = 16;

inline std::uint64_t rotate(std::uint64_t x, int bits) {
  return x << bits | x >> (64 - bits);
}

// Scrambles the words of a block before they are mixed into the state. Zero stays zero.
inline std::uint64_t scrambled_first(std::uint64_t word) {
  return rotate(word * kOne, 31) * kOther;
}
inline std::uint64_t scrambled_second(std::uint64_t word) {
  return rotate(word * kOther, 33) * kOne;
}

} // namespace

Murmur3 murmur3(const std::uint8_t *bytes, std::size_t length, std::uint32_t seed) {
  std::uint64_t first = seed, second = seed;
  const std::uint8_t *const tail = bytes + length / kBlock * kBlock;
  for (; bytes < tail; bytes += kBlock) {
    first ^= scrambled_first(load<std::uint64_t>(bytes));
    first = (rotate(first, 27) + second) * 5 + 0x52DCE729;
    second ^= scrambled_second(load<std::uint64_t>(bytes + 8));
    second = (rotate(second, 31) + first) * 5 + 0x38495AB5;
  }
  const std::size_t rest = length % kBlock;
  first ^= scrambled_first(load_first(tail, rest)) ^ length;
  if (rest > 8)
    second ^= scrambled_second(load_first(tail + 8, rest - 8));
  second ^= length;
  first += second;
  second += first;
  first = mix64(first);
  second = mix64(second);
  first += second;
  return {first, second + first};
}

} // namespace bloomfilter
