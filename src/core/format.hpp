// A stored filter: a header of 36 bytes, then the bitmap. A chain, which is a filter of several
// links, has an entry of 24 bytes for each link after the header, and then the bitmaps of the
// links. doc/format.md has the byte tables.
//
// A link is a filter with its own geometry, capacity and rate. All links of a chain share its
// family and seed. Links are in a fixed order, the largest last, so that equal sets of links have
// equal bytes. A filter that is no chain has no entries; it is read as if it had one link. A chain
// of one link is a filter that grows.
//
// `payload` is everything after PostgreSQL's length word: the bytes that bytea, COPY BINARY and the
// text form carry. Unused bits are zero. A filter with an unused bit set is rejected, so that a
// later version can give that bit a meaning. Input functions and bf_check() use validate(). Every
// other reader uses parse(), the part of validate() that takes constant time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/family.hpp"
#include "core/geometry.hpp"
#include "core/interrupts.hpp"
#include "core/sizing.hpp"

namespace bloomfilter {

constexpr std::uint8_t kFormatVersion = 1;
constexpr int kMaxLinks = 64;
constexpr std::size_t kHeaderBytes = 36;
constexpr std::size_t kLinkBytes = 24;
constexpr std::size_t kMaxHeadBytes = kHeaderBytes + kMaxLinks * kLinkBytes;

constexpr std::uint8_t kFlagChain = 0x01;
// The filter or link was sized by the values that it held, not by a request. If it has no values,
// an aggregate made it.
constexpr std::uint8_t kFlagSelfSized = 0x02;
// Only in a chain: when the chain is full, it gets another link.
constexpr std::uint8_t kFlagGrow = 0x04;
constexpr std::uint8_t kFlagIntersection = 0x08; // has the bits that two filters had in common
// 0x10 is kFlagUncounted, one of kOtherFlags. Only a filter that is no chain has it.
constexpr std::uint8_t kLinkFlags = kFlagSelfSized | kFlagIntersection;

struct Link {
  Geometry geometry;
  std::uint8_t flags; // a subset of kLinkFlags
  Capacity capacity;  // what the link was sized for
};

struct Header {
  Geometry geometry; // in a chain: its profile alone, with k and units 0
  ElementType element_type;
  std::uint64_t seed;
  Capacity capacity; // what was requested; unknown in a chain that does not grow
  std::uint8_t flags = 0;
  std::uint32_t link_count = 1; // a chain stores it in the place of `units`
  std::size_t links_bytes = 0;  // in a chain: the length of its entries and bitmaps; else 0

  bool is_chain() const { return (flags & kFlagChain) != 0; }
  bool is_self_sized() const { return (flags & kFlagSelfSized) != 0; }
  bool grows() const { return (flags & kFlagGrow) != 0; }
  int links() const { return static_cast<int>(link_count); }
  std::size_t head_bytes() const {
    return kHeaderBytes + (is_chain() ? link_count * kLinkBytes : 0);
  }
  std::size_t payload_bytes() const {
    return kHeaderBytes + (is_chain() ? links_bytes : geometry.bytes());
  }
};

// Link `number`, 0 ... links() - 1, of a parsed filter. Reads only the head.
Link read_link(const std::uint8_t *payload, const Header &header, int number);

// Calls test(link, offset) for the links of a parsed filter, from the last and largest to the
// first, until a call returns true. Returns whether one did. `offset` is the start of the link's
// bitmap in the payload. Reads only the payload's head.
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

// Calls use(link, offset) for all links, from the last and largest to the first.
template <typename Use>
void for_each_link(const std::uint8_t *payload, const Header &header, Use use) {
  any_link(payload, header, [&use](const Link &link, std::size_t offset) {
    use(link, offset);
    return false;
  });
}

// What can be wrong with bytes: the texts of findings. finding_text() of pg/errors.hpp puts the
// number found and the number wanted into them.
struct Fault {
  static constexpr char truncated[] = "value of %s is shorter than a header of %llu bytes";
  static constexpr char wrong_length[] = "value has %s, but its header describes %llu";
  static constexpr char unknown_version[] =
      "format version is %llu, but only version %llu is known";
  static constexpr char unknown_layout[] = "layout %llu is unknown";
  static constexpr char unknown_family[] = "element type %llu is unknown";
  static constexpr char bad_k[] = "number of hash functions %llu is not possible in this layout";
  static constexpr char bad_capacity[] =
      "capacity %llu and false positive rate are not possible together";
  static constexpr char bad_units[] = "number of bitmap units %llu is out of range";
  static constexpr char unknown_flags[] = "flags 0x%02llx are unknown";
  static constexpr char bad_shape[] = "shape fingerprint %llu does not fit the element type";
  static constexpr char bad_family[] = "element type %llu is not possible in this layout";
  static constexpr char bad_seed[] = "seed %lld is not possible in this layout";
  static constexpr char bad_links[] = "number of links %llu is out of range";
  static constexpr char bad_order[] = "%llu links are not in order";
  static constexpr char reserved_bits[] = "reserved bytes are 0x%04llx, not zero";
  static constexpr char stray_bits[] = "%llu bits are set, but the filter has no element type";
  static constexpr char bad_buckets[] =
      "fingerprints in %llu buckets are not in order, or bits after them are set";
  static constexpr char other_kind[] = "value is of type %s, not %s"; // both are Kinds
  // Only partial states and hashed values have the faults below.
  static constexpr char unknown_content[] = "content %llu is not possible";
  static constexpr char too_many_hashes[] = "%llu hashes take as much as the bitmap of %llu bytes";
  static constexpr char stray_hashes[] = "%llu bytes of hashes have no element type";
  static constexpr char bad_hashes[] = "hash %llu is not less than the one after it";
  static constexpr char bad_second[] = "element type %llu has no second hashes";
};

// The result of a check of bytes: what is wrong, the number found, and the number expected. The
// text is a Fault, or that of a reader of another system's files; NULL if nothing is wrong. A
// number is 0 if the text has none.
struct Finding {
  const char *text;
  std::uint64_t found;
  std::uint64_t wanted = 0;

  bool ok() const { return !text; }
};
constexpr Finding kSound = {nullptr, 0};

// Reads and checks the head in constant time. `length` is the length of the whole payload, but
// parse() reads only its first kMaxHeadBytes bytes.
Finding parse(const std::uint8_t *payload, std::size_t length, Header *header);

// Like parse(), but for a head that is followed by something other than its bitmaps. Does not check
// the length of what follows.
Finding parse_head(const std::uint8_t *payload, std::size_t length, Header *header);

// The kind that a payload's layout byte states, even if the payload is not valid. Kind::bloom if
// the byte is no known layout.
Kind stated_kind(const std::uint8_t *payload, std::size_t length);

// Checks that a parsed filter is of the given kind. validate() itself accepts every kind.
Finding check_kind(const Header &header, Kind kind);

// Checks what parse() checks, and also the invariants of the bitmaps.
Finding validate(const std::uint8_t *payload, std::size_t length, Header *header,
                 CheckInterrupts check_interrupts = check_nothing);

// For a chain, write_header() writes only the header. write_link() writes the entry of one link.
void write_header(std::uint8_t *payload, const Header &header);
void write_link(std::uint8_t *payload, int number, const Link &link);

} // namespace bloomfilter
