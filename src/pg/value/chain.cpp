#include "pg/value/chain.hpp"

#include "pg/errors.hpp"
#include "pg/value/make.hpp"
#include "pg/value/memory.hpp"

namespace bloomfilter {

uint64 bits_of(const LinkView *views, int count) {
  uint64 bits = 0;
  for (int i = 0; i < count; i++)
    bits += views[i].link.geometry.bits();
  return bits;
}

void check_size(const LinkView *views, int count) {
  const uint64 bits = bits_of(views, count);
  if (bits > kMaxBits)
    raise_links_too_large(count);
  check_size(Kind::bloom, bits);
}

namespace {

// Has the filter a bitmap of each link, `bitmap` or `other`, where the new value would have it?
bool stands_in(const Filter &filter, const Header &header, const LinkView *views, int count) {
  if (filter.header.payload_bytes() != header.payload_bytes())
    return false;
  const uint8 *bitmap = filter.payload() + header.head_bytes();
  for (int i = 0; i < count; i++) {
    if (views[i].bitmap != bitmap && views[i].other != bitmap)
      return false;
    bitmap += views[i].link.geometry.bytes();
  }
  return true;
}

} // namespace

OwnFilter make_filter(Header header, const LinkView *views, int count, OwnFilter *state) {
  if (count == 1 && !header.grows()) {
    const Link &link = views[0].link;
    header.geometry = link.geometry;
    header.flags = link.flags;
    header.capacity = link.capacity;
    header.link_count = 1;
  } else {
    if (count > kMaxLinks)
      raise_too_many_links(count);
    header.geometry = {profile_of(views[0].link.geometry.layout), 0, 0};
    header.flags = kFlagChain | (header.flags & kFlagGrow);
    header.link_count = static_cast<uint32>(count);
    header.links_bytes = count * kLinkBytes + bits_of(views, count) / 8;
  }

  const Size size = VARHDRSZ + header.payload_bytes();
  const bool in_place = state && stands_in(*state, header, views, count);
  OwnFilter filter;
  if (in_place) {
    filter = *state;
  } else {
    auto *value = static_cast<struct varlena *>(palloc(size));
    SET_VARSIZE(value, size);
    filter.value = value;
  }
  filter.header = header;
  filter.write_back();
  uint8 *bitmap = filter.payload() + header.head_bytes();
  for (int i = 0; i < count; i++) {
    const LinkView &view = views[i];
    const Size bytes = view.link.geometry.bytes();
    if (header.is_chain())
      write_link(filter.payload(), i, view.link);
    const uint8 *more = view.other;
    if (in_place)
      more = view.bitmap == bitmap ? view.other : view.bitmap;
    else if (view.bitmap)
      move_memory(bitmap, view.bitmap, bytes);
    else
      clear_memory(bitmap, bytes);
    if (more)
      unite_bitmaps(bitmap, more, bytes);
    bitmap += bytes;
  }
  return filter;
}

OwnFilter make_growing(Header header, uint8 flags) {
  const Layout layout = header.geometry.layout;
  const Capacity first = {header.capacity.values, first_rate(header.capacity.rate)};
  const LinkView link = {{geometry_for(layout, first), kFlagOwn, first}, nullptr, nullptr};
  check_size(&link, 1);
  header.flags = kFlagGrow;
  OwnFilter filter = make_filter(header, &link, 1);
  filter.header.flags |= flags;
  filter.write_back();
  return filter;
}

OwnFilter grown(const Filter &filter) {
  LinkView views[kMaxLinks + 1];
  const int count = view_links(filter.payload(), filter.header, views);
  LinkView *next = &views[count];
  *next = {{}, nullptr, nullptr};
  if (!next_link(filter.header, views[count - 1].link, &next->link))
    raise_links_too_large(count + 1);
  check_size(views, count + 1);
  return make_filter(filter.header, views, count + 1);
}

OwnFilter normalized(const OwnFilter &filter) {
  LinkView views[kMaxLinks];
  const int count = view_links(filter.payload(), filter.header, views);
  const int kept = drop_covered(views, count, count - 1, check_for_interrupts);
  return kept == count ? filter : make_filter(filter.header, views, kept);
}

} // namespace bloomfilter
