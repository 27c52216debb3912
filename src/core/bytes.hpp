// Reads and writes numbers in stored bytes. These are little-endian on every machine, and can have
// any alignment.
#pragma once

#if !defined __SIZEOF_INT128__ || __SIZEOF_POINTER__ < 8
#error "bloomfilter requires a 64-bit machine"
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bloomfilter {

// Converts a number from the machine's byte order to little-endian, or back.
template <typename T> inline T little_endian(T value) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8, "a number");
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  if constexpr (sizeof(T) == 8)
    return static_cast<T>(__builtin_bswap64(static_cast<std::uint64_t>(value)));
  else if constexpr (sizeof(T) == 4)
    return static_cast<T>(__builtin_bswap32(static_cast<std::uint32_t>(value)));
  else if constexpr (sizeof(T) == 2)
    return static_cast<T>(__builtin_bswap16(static_cast<std::uint16_t>(value)));
#endif
  return value;
}

template <typename T> inline T load(const void *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return little_endian(value);
}

template <typename T> inline void store(void *to, T value) {
  value = little_endian(value);
  std::memcpy(to, &value, sizeof value);
}

// The first `count` bytes, but at most 8, as a little-endian number. Missing bytes are zeros. Loads
// that overlap replace a memcpy of variable length, which would be a function call.
inline std::uint64_t load_first(const std::uint8_t *from, std::size_t count) {
  const auto at = [=](std::size_t i) { return std::uint64_t{from[i]} << 8 * i; };
  if (count >= 8)
    return load<std::uint64_t>(from);
  if (count >= 4) {
    const std::size_t i = count - 4;
    return load<std::uint32_t>(from) | std::uint64_t{load<std::uint32_t>(from + i)} << 8 * i;
  }
  return count == 0 ? 0 : at(0) | at(count / 2) | at(count - 1);
}

// The bits of an IEEE 754 double. bits_double() converts them back.
inline std::uint64_t double_bits(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline double bits_double(std::uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

} // namespace bloomfilter
