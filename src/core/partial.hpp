// Partial states, and the values that they are made of. A partial state is what an aggregate over
// some rows knows about the filter of all rows. SQL calls it a bf_partial.
//
// In general, filters of parts of a set cannot be combined into the filter of the set; this works
// only if all of them have its size. But the distinct hashes of the parts, in any order, give
// exactly the filter of the set. So a partial state is a set of hashes. Once the hashes take as
// many bytes as the requested filter's bitmap, the state is this bitmap instead. So the state is
// never larger than the bitmap.
//
// The payload is 4 bytes of its own, the header of a filter (core/format.hpp), and then the hashes
// in ascending order, or the bitmap. doc/format.md has the byte tables. The header is that of a
// filter without values for the requested capacity. If the filter will be self-sized, the header
// has kFlagSelfSized and a capacity of one value. Equal sets have equal bytes. A state of no rows
// differs from a state of rows that are all NULL, because their filters differ.
//
// What is not good about it: a self-sized state has no limit but the number of its hashes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/format.hpp"

namespace bloomfilter {

constexpr std::uint8_t kPartialVersion = 1;
constexpr std::size_t kPartialHead = 4 + kHeaderBytes;

enum class Content : std::uint8_t {
  hashes = 0,
  bitmap = 1,
  no_rows = 2, // not even rows with NULL; a self-sized state has no hashes instead
};

struct Partial {
  Header header; // of the requested filter
  Content content;
};

// The content of a state with `hashes` distinct hashes. `geometry` is that of the requested filter.
inline Content content_for(bool self_sized, const Geometry &geometry, std::uint64_t hashes) {
  const bool fewer_bytes = hashes * sizeof(std::uint64_t) < geometry.bytes();
  return self_sized || fewer_bytes ? Content::hashes : Content::bitmap;
}

// Reads and checks the head, and checks the length, in constant time.
Finding parse_partial(const std::uint8_t *payload, std::size_t length, Partial *partial);

// Like parse_partial(). Also checks that the hashes are distinct and in ascending order.
Finding validate_partial(const std::uint8_t *payload, std::size_t length, Partial *partial);

void write_partial_head(std::uint8_t *payload, const Partial &partial);

// A value as a filter sees it: its element type, and its hashes with seed 0. SQL calls this a
// bf_element.
//
// Its bytes are the same on every machine: family u8, three zero bytes, shape u32, hash u64, second
// hash u64, little-endian. Only a value of text can have two hashes. A value with one hash stores
// it twice (doc/format.md, "Families").
struct HashedValue {
  ElementType type;
  std::uint64_t hash;
  std::uint64_t second;
};

inline bool operator==(const HashedValue &a, const HashedValue &b) {
  return a.type == b.type && a.hash == b.hash && a.second == b.second;
}

constexpr std::size_t kHashedValueBytes = 24;

// Checks a value, whose element type may be any number. read_hashed_value() reads bytes from an
// untrusted source, and checks them.
Finding check_hashed_value(const HashedValue &value);
Finding read_hashed_value(const std::uint8_t *bytes, std::size_t length, HashedValue *value);

void write_hashed_value(std::uint8_t *bytes, const HashedValue &value);

} // namespace bloomfilter
