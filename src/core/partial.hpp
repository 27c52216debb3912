// What an aggregate of some rows knows of a filter of all rows: a bf_partial.
//
// The filter of a set is no sum of filters of its parts, unless all of them have its size. Their
// distinct hashes are: of any parts, in any order, they make the very filter of all. So a partial
// state is the set of hashes; once these take as many bytes as the bitmap of the filter that was
// asked for, it is that bitmap, and no larger than it in any case.
//
// Its payload is 4 bytes of its own, the header of a filter (core/format.hpp), and behind it the
// hashes, ascending, or the bitmap; doc/format.md has the byte tables. The header is that of the
// filter without values: for the capacity that was asked for; or, of one that is to be sized by all
// values, own and for one value. Equal sets are equal bytes. A state of no rows
// differs from one of rows that are all NULL, because their filters differ.
#ifndef BLOOMFILTER_CORE_PARTIAL_HPP
#define BLOOMFILTER_CORE_PARTIAL_HPP

#include <cstddef>
#include <cstdint>

#include "core/format.hpp"

namespace bloomfilter {

constexpr std::uint8_t kPartialVersion = 1;
constexpr std::size_t kPartialHead = 4 + kHeaderBytes;

enum class Content : std::uint8_t {
  hashes = 0,
  bitmap = 1,
  no_rows = 2, // not even of NULL, where a capacity was asked for; else that is no hashes
};

struct Partial {
  Header header; // of the filter to be
  Content content;

  bool self_sized() const { return (header.flags & kFlagOwn) != 0; }
};

// Has a set of so many hashes, in a state that is to be of a given size, this content?
inline Content content_for(bool self_sized, const Geometry &geometry, std::uint64_t hashes) {
  const bool fewer_bytes = hashes * sizeof(std::uint64_t) < geometry.bytes();
  return self_sized || fewer_bytes ? Content::hashes : Content::bitmap;
}

// Reads and checks the head, and the length, in constant time.
Finding parse_partial(const std::uint8_t *payload, std::size_t length, Partial *partial);

// The same, and that hashes are in order, each there once.
Finding validate_partial(const std::uint8_t *payload, std::size_t length, Partial *partial);

void write_partial_head(std::uint8_t *payload, const Partial &partial);

} // namespace bloomfilter

#endif
