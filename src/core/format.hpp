// The stored value: a header of 36 bytes, then the bitmap. doc/format.md has the byte table.
//
// `payload` is everything behind PostgreSQL's length word, which is what bytea, COPY BINARY and
// the text form carry. (Offsets in doc/format.md count the length word's 4 bytes as well.) Unused
// bits are zero and anything else is rejected, so that a later version can give them a meaning.
// There is one validate(): input functions and bf_check() use all of it; every other reader uses
// parse(), its constant-time part.
#ifndef BLOOMFILTER_CORE_FORMAT_HPP
#define BLOOMFILTER_CORE_FORMAT_HPP

#include <cstddef>
#include <cstdint>

#include "core/family.hpp"
#include "core/geometry.hpp"

namespace bloomfilter {

constexpr std::uint8_t kFormatVersion = 1;
constexpr std::size_t kHeaderBytes = 36;
constexpr std::size_t kMaxPayload = kHeaderBytes + kMaxBits / 8;

constexpr std::uint8_t kFlagOwn = 0x02; // sized by what it holds, not by what was asked for
constexpr std::uint8_t kFlagIntersection = 0x08; // made of the bits that two filters had in common
constexpr std::uint8_t kKnownFlags = kFlagOwn | kFlagIntersection;

struct Header {
  Geometry geometry;
  Family family;
  std::uint8_t flags;
  std::uint32_t shape; // 24 bits; 0 unless the family is composed
  std::uint64_t seed;
  std::uint64_t expected; // distinct values it was sized for; 0 if unknown
  double rate;            // false positive rate it was sized for; 0 if unknown

  std::size_t payload_bytes() const { return kHeaderBytes + geometry.bytes(); }
};

enum class Status : std::uint8_t {
  ok,
  truncated,
  wrong_length,
  unknown_version,
  unknown_layout,
  unknown_family,
  bad_hashes,
  bad_target,
  bad_units,
  unknown_flags,
  bad_shape,
  stray_bits,
};

// What a check found: the offending number and the one that was called for, where there are such.
struct Finding {
  Status status;
  std::uint64_t found;
  std::uint64_t wanted;

  bool ok() const { return status == Status::ok; }
};

// Reads and checks the header, in constant time.
Finding parse(const std::uint8_t *payload, std::size_t length, Header *header);

// parse(), and the invariants of the bitmap.
Finding validate(const std::uint8_t *payload, std::size_t length, Header *header);

void write_header(std::uint8_t *payload, const Header &header);

} // namespace bloomfilter

#endif
