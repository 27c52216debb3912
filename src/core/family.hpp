// Element families: which values a filter holds.
//
// SQL types whose values can be equal share a family, so that equal values share a hash. The
// numbers are stored in every filter and never change; they are owned by this extension and have
// nothing to do with OIDs. A filter without values has no family yet.
#ifndef BLOOMFILTER_CORE_FAMILY_HPP
#define BLOOMFILTER_CORE_FAMILY_HPP

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
  hash = 25,   // fed with hashes alone: what was hashed is not known
  string = 26, // byte strings of Parquet and RedisBloom
};

constexpr Family kLastFamily = Family::string;

// Families of composed values also carry a shape, the fingerprint of what they are composed of.
inline bool is_composed(Family family) {
  return family >= Family::array && family <= Family::row;
}

} // namespace bloomfilter

#endif
