// Numbers in stored bytes: little-endian and at any alignment, on every machine.
#ifndef BLOOMFILTER_CORE_BYTES_HPP
#define BLOOMFILTER_CORE_BYTES_HPP

#include <cstdint>
#include <cstring>

namespace bloomfilter {

// T in the byte order of the format; the same call turns it back.
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

// An IEEE 754 double as its bits and back.
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

#endif
