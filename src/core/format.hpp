// The stored value: a header of 36 bytes, then the bitmap; or, of a chain, the header, an entry of
// 24 bytes for each link, and the links' bitmaps. doc/format.md has the byte tables.
//
// A link is a filter with a geometry, a capacity and a rate of its own; family and seed are the
// chain's. Links stand in one order, the largest last, so that equal sets of links are equal bytes.
// A plain value has no entries, and is read as if it had one link. A chain of one link is a filter
// that grows.
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
#include "core/pause.hpp"
#include "core/sizing.hpp"

namespace bloomfilter {

constexpr std::uint8_t kFormatVersion = 1;
constexpr int kMaxLinks = 64;
constexpr std::size_t kHeaderBytes = 36;
constexpr std::size_t kLinkBytes = 24;
constexpr std::size_t kMaxHeadBytes = kHeaderBytes + kMaxLinks * kLinkBytes;
constexpr std::size_t kMaxPayload = kMaxHeadBytes + kMaxBits / 8;

constexpr std::uint8_t kFlagChain = 0x01;
// Sized by what it holds, not by what was asked for; without values: made by an aggregate.
constexpr std::uint8_t kFlagOwn = 0x02;
constexpr std::uint8_t kFlagGrow = 0x04;         // of a chain: when it is full it gets another link
constexpr std::uint8_t kFlagIntersection = 0x08; // made of the bits that two filters had in common
constexpr std::uint8_t kLinkFlags = kFlagOwn | kFlagIntersection;

struct Link {
  Geometry geometry;
  std::uint8_t flags; // of kLinkFlags
  Capacity capacity;  // that it was sized for
};

struct Header {
  Geometry geometry; // of a chain its profile alone, without k and units
  ElementType element;
  std::uint64_t seed;
  Capacity capacity; // that was asked for; unknown of a chain that does not grow
  std::uint8_t flags = 0;
  std::uint32_t link_count = 1; // stored, of a chain, where other values have their units
  std::size_t links_bytes = 0;  // of a chain: entries and bitmaps

  bool is_chain() const { return (flags & kFlagChain) != 0; }
  bool grows() const { return (flags & kFlagGrow) != 0; }
  int links() const { return static_cast<int>(link_count); }
  std::size_t head_bytes() const {
    return kHeaderBytes + (is_chain() ? link_count * kLinkBytes : 0);
  }
  std::size_t payload_bytes() const {
    return kHeaderBytes + (is_chain() ? links_bytes : geometry.bytes());
  }
};

// A link of a parsed value, 0 ... links() - 1. Reads the head only.
Link read_link(const std::uint8_t *payload, const Header &header, int number);

// Calls test(link, offset) for a parsed value's links, the last and largest first, until it returns
// true; tells whether it did. `offset` is where the link's bitmap begins in the payload, of which
// only the head is read.
template <typename Test>
bool any_link(const std::uint8_t *payload, const Header &header, Test test) {
  std::size_t offset = header.payload_bytes();
  for (int number = header.links(); number-- > 0;) {
    const Link link = read_link(payload, header, number);
    offset -= link.geometry.bytes();
    if (test(link, offset))
      return true;
  }
  return false;
}

// The same for all links.
template <typename Use>
void for_each_link(const std::uint8_t *payload, const Header &header, Use use) {
  any_link(payload, header, [&use](const Link &link, std::size_t offset) {
    use(link, offset);
    return false;
  });
}

enum class Status : std::uint8_t {
  ok,
  truncated,
  wrong_length,
  unknown_version,
  unknown_layout,
  unknown_family,
  bad_k,
  bad_capacity,
  bad_units,
  unknown_flags,
  bad_shape,
  bad_family,
  bad_seed,
  bad_links,
  bad_order,
  reserved_bits,
  stray_bits,
  bad_buckets,
  other_kind, // `found` and `wanted` are numbers of Kind
  // Of partial states and hashed values.
  unknown_content,
  too_many_hashes, // for a bitmap of `wanted` bytes
  stray_hashes,
  bad_hashes,
  bad_second,
};

// What a check found: the offending number and the one that was called for, where there are such.
struct Finding {
  Status status;
  std::uint64_t found;
  std::uint64_t wanted;

  bool ok() const { return status == Status::ok; }
};

// Reads and checks the head, in constant time. `length` is that of the whole payload, of which no
// more than the first kMaxHeadBytes need be there.
Finding parse(const std::uint8_t *payload, std::size_t length, Header *header);

// The same of a head that has something else than its bitmaps behind it.
Finding parse_head(const std::uint8_t *payload, std::size_t length, Header *header);

// The kind that a payload's layout byte states, be the payload sound or not; bloom if the byte is
// unknown.
Kind stated_kind(const std::uint8_t *payload, std::size_t length);

// Is a parsed value of this kind? validate() accepts every kind.
Finding check_kind(const Header &header, Kind kind);

// parse(), and the invariants of the bitmaps.
Finding validate(const std::uint8_t *payload, std::size_t length, Header *header,
                 Pause pause = no_pause);

// Of a chain, write_header() writes the header alone; each link's entry is for write_link().
void write_header(std::uint8_t *payload, const Header &header);
void write_link(std::uint8_t *payload, int number, const Link &link);

} // namespace bloomfilter

#endif
