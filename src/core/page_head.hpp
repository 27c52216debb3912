// The head that every page of our indexes has: what kind of page it is, and where it belongs.
//
// Two kinds of indexes have such pages: filter indexes, of the access method `bloomfilter`, which
// are indexes over stored filters (core/filter_index_pages.hpp), and bloompages indexes, which hold
// a filter of the values in each range of heap pages (core/bloompages_pages.hpp).
//
// Numbers are in the machine's byte order, as in all pages of the server. A release may change the
// meaning of these bytes; the index then needs a REINDEX.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bloomfilter {

// A page has the server's header of 24 bytes, our head of 40, and then its content.
constexpr std::size_t kIndexPageBytes = 8192;
constexpr std::size_t kServerHeadBytes = 24;
constexpr std::size_t kContentAt = 64; // so lines lie on lines of the processor's cache
constexpr std::size_t kContentBytes = kIndexPageBytes - kContentAt;

constexpr std::uint32_t kIndexMagic = 0xB10F1D8E;
constexpr std::uint8_t kIndexVersion = 1;
constexpr std::uint32_t kNoBlock = 0xFFFFFFFF;

enum class PageKind : std::uint8_t {
  meta = 1, // of a filter index, like the next three
  list = 2,
  directory = 3,
  lines = 4,
  range_meta = 5, // of a bloompages index, like the next two
  range_directory = 6,
  range_lines = 7,
};

struct IndexPageHead {
  std::uint32_t magic;
  std::uint8_t version;
  PageKind kind;
  std::uint16_t count; // of a list: the number of its entries; else 0
  std::uint32_t next;  // of a list or directory: the block of the next page, or kNoBlock
  std::uint32_t group; // of lines: the number of the group
  std::uint32_t place; // the page's place in its group, in the list or in the directory
  std::uint8_t unused[20];
};
static_assert(kServerHeadBytes + sizeof(IndexPageHead) == kContentAt, "the head ends there");

inline const IndexPageHead *head_of(const std::uint8_t *page) {
  return reinterpret_cast<const IndexPageHead *>(page + kServerHeadBytes);
}
template <typename Content> const Content *content_of(const std::uint8_t *page) {
  return reinterpret_cast<const Content *>(page + kContentAt);
}
// True if a page has the head of one of this kind. `page` has kIndexPageBytes bytes.
inline bool has_head(const std::uint8_t *page, PageKind kind) {
  const IndexPageHead *head = head_of(page);
  return head->magic == kIndexMagic && head->version == kIndexVersion && head->kind == kind;
}

} // namespace bloomfilter
