// Partial states: what an aggregate over some rows knows of the filter of all rows. SQL calls a
// partial state a bf_partial.
//
// Filters of the parts of a set cannot be added up to the filter of the set, unless all of them
// have its size. The distinct hashes of the parts can: from any parts, in any order, they make
// exactly the filter of the set. So a partial state is a set of hashes. Once these take as many
// bytes as the bitmap of the filter that was asked for, the state is that bitmap instead, so that
// it is never larger.
//
// Its payload is 4 bytes of its own, the header of a filter (core/format.hpp), and after it the
// hashes, ascending, or the bitmap; doc/format.md has the byte tables. The header is that of the
// filter without values, for the capacity that was asked for. If all values are to size the filter,
// its header has kFlagSelfSized and a capacity of one value. Equal sets are equal bytes. A state of
// no rows differs from one of rows that are all NULL, because their filters differ.
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
  no_rows = 2, // not even with NULL; a state that is to size itself has no hashes instead
};

struct Partial {
  Header header; // of the filter that the state is for
  Content content;

  bool self_sized() const { return (header.flags & kFlagSelfSized) != 0; }
};

// What a state with so many distinct hashes contains. `geometry` is that of the filter that was
// asked for.
inline Content content_for(bool self_sized, const Geometry &geometry, std::uint64_t hashes) {
  const bool fewer_bytes = hashes * sizeof(std::uint64_t) < geometry.bytes();
  return self_sized || fewer_bytes ? Content::hashes : Content::bitmap;
}

// Reads the head and checks it and the length, in constant time.
Finding parse_partial(const std::uint8_t *payload, std::size_t length, Partial *partial);

// Like parse_partial(), and checks that the hashes are in ascending order, each of them once.
Finding validate_partial(const std::uint8_t *payload, std::size_t length, Partial *partial);

void write_partial_head(std::uint8_t *payload, const Partial &partial);

} // namespace bloomfilter

#endif
