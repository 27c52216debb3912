// Element families: what type of values a filter holds.
//
// If values of two SQL types can be equal, the types share a family, so that equal values share a
// hash. The numbers of the families are stored in every filter and never change. This extension
// owns them; they have nothing to do with OIDs. A filter without values has no family yet, or a
// family that says how its values will be encoded (core/layout.hpp).
#pragma once

#include <cstdint>

namespace bloomfilter {

enum class Family : std::uint8_t {
  none = 0,
  integer = 1,  // int2, int4, int8
  floating = 2, // float4, float8
  numeric = 3,
  text = 4, // text, varchar, bpchar, name
  bytea = 5,
  uuid = 6,
  boolean = 7,
  char_ = 8, // "char"
  oid = 9,
  date = 10,
  timestamp = 11,
  timestamptz = 12,
  time = 13,
  timetz = 14,
  interval = 15,
  inet = 16, // inet, cidr
  macaddr = 17,
  macaddr8 = 18,
  jsonb = 19,
  enum_ = 20,
  array = 21,
  range = 22,
  multirange = 23,
  row = 24,
  hash = 25,   // hashes that callers computed: nobody knows of what values
  string = 26, // byte strings of Parquet and RedisBloom
  // Encodings of other systems. A filter can have these before its first value.
  int32 = 27,      // integers as 4 bytes: Guava's integer funnel, Parquet's INT32
  utf16 = 28,      // text as UTF-16: Guava's funnel of unencoded chars
  float32 = 29,    // floats as 4 bytes: Parquet's FLOAT
  open_int32 = 30, // Parquet's INT32 before the first value, which makes it int32 or date
};

constexpr Family kLastFamily = Family::open_int32;

// A set of families.
using Families = std::uint64_t;
static_assert(static_cast<int>(kLastFamily) < 63, "a bit for each");
template <typename... F> constexpr Families families(F... each) {
  return (Families{0} | ... | (Families{1} << static_cast<int>(each)));
}
constexpr bool is_in(Families set, Family family) {
  return (set >> static_cast<int>(family) & 1) != 0;
}

// Families whose values consist of other values.
constexpr Families kComposedFamilies =
    families(Family::array, Family::range, Family::multirange, Family::row);

// True if the first value still has to decide the family of the filter.
constexpr bool is_open(Family family) {
  return family == Family::none || family == Family::open_int32;
}

// The family in SQL of the values in a filter of the given family.
constexpr Family value_family(Family family) {
  switch (family) {
  case Family::int32:
    return Family::integer;
  case Family::utf16:
    return Family::text;
  case Family::float32:
    return Family::floating;
  default:
    return family;
  }
}

inline bool is_composed(Family family) {
  return is_in(kComposedFamilies, family);
}

// True if values of the family can have this shape. Composed values have a shape of 24 bits that is
// not 0. All others have the shape 0.
inline bool is_shape_of(Family family, std::uint32_t shape) {
  return is_composed(family) == (shape != 0) && shape >> 24 == 0;
}

// The element type of a filter. It is all zero before the first value, unless another system's
// encoding is known already. It is aligned, because two of them are compared for each value, and
// this way it takes one comparison.
struct alignas(8) ElementType {
  Family family;
  // For composed values, a fingerprint of 24 bits of the types in them; else 0.
  std::uint32_t shape;
};
inline bool operator==(const ElementType &a, const ElementType &b) {
  return a.family == b.family && a.shape == b.shape;
}

} // namespace bloomfilter
