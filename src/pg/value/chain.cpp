// See chain.hpp. core/links.hpp has the rules of the normal form and of growth; this file allocates
// the values and copies or ORs their bitmaps.

#include "pg/value/chain.hpp"

#include "pg/errors.hpp"
#include "pg/value/memory.hpp"
#include "pg/value/new_filter.hpp"

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

// The header of a filter with the given links. If there is one link that does not grow, it is a
// plain header. Otherwise it is the header of a chain.
Header header_of(Header header, const LinkView *views, int count) {
  if (count == 1 && !header.grows()) {
    const Link &link = views[0].link;
    header.geometry = link.geometry;
    header.flags = link.flags;
    header.capacity = link.capacity;
    header.link_count = 1;
    return header;
  }
  if (count > kMaxLinks)
    raise_too_many_links(count);
  header.geometry = {profile_of(views[0].link.geometry.layout), 0, 0};
  header.flags = kFlagChain | (header.flags & kFlagGrow);
  header.link_count = static_cast<uint32>(count);
  header.links_bytes = count * kLinkBytes + bits_of(views, count) / 8;
  return header;
}

void write_head(NewFilter *filter, const LinkView *views) {
  filter->write_back();
  if (filter->header.is_chain())
    for (int i = 0; i < filter->header.links(); i++)
      write_link(filter->payload(), i, views[i].link);
}

// True if the filter already has one bitmap of each link, `bitmap` or `other`, in the right place.
// `header` is that of the new filter, from which the offsets follow.
bool has_place_of_each(const Filter &filter, const Header &header, const LinkView *views) {
  if (filter.header.payload_bytes() != header.payload_bytes())
    return false;
  const uint8 *place = filter.payload() + header.head_bytes();
  for (int i = 0; i < header.links(); i++) {
    if (views[i].bitmap != place && views[i].other != place)
      return false;
    place += views[i].link.geometry.bytes();
  }
  return true;
}

} // namespace

NewFilter make_of_links(Header header, const LinkView *views, int count) {
  header = header_of(header, views, count);
  NewFilter filter = {{new_value(header.payload_bytes()), header}};
  write_head(&filter, views);
  uint8 *place = filter.payload() + header.head_bytes();
  for (int i = 0; i < count; i++) {
    const LinkView &view = views[i];
    const Size bytes = view.link.geometry.bytes();
    if (view.bitmap)
      move_memory(place, view.bitmap, bytes);
    else
      clear_memory(place, bytes);
    if (view.other)
      unite_bitmaps(place, view.other, bytes);
    place += bytes;
  }
  return filter;
}

bool unite_links_into(NewFilter *filter, Header header, const LinkView *views, int count) {
  header = header_of(header, views, count);
  if (!has_place_of_each(*filter, header, views))
    return false;
  filter->header = header;
  write_head(filter, views);
  uint8 *place = filter->payload() + header.head_bytes();
  for (int i = 0; i < count; i++) {
    const LinkView &view = views[i];
    const uint8 *more = view.bitmap == place ? view.other : view.bitmap;
    if (more)
      unite_bitmaps(place, more, view.link.geometry.bytes());
    place += view.link.geometry.bytes();
  }
  return true;
}

NewFilter make_growing(Header header, uint8 flags) {
  LinkView first = {};
  const Link none = {{header.geometry.layout, 0, 0}, 0, {}};
  if (!next_link(header, none, &first.link))
    raise_too_large(header.geometry.layout, static_cast<double>(first.link.capacity.values),
                    first.link.capacity.rate, ERRCODE_INVALID_PARAMETER_VALUE);
  check_size(&first, 1);
  header.flags = kFlagGrow;
  NewFilter filter = make_of_links(header, &first, 1);
  filter.header.flags |= flags;
  filter.write_back();
  return filter;
}

NewFilter grown(const Filter &filter) {
  LinkView views[kMaxLinks + 1];
  const int count = view_links(filter.payload(), filter.header, views);
  LinkView *next = &views[count];
  *next = {{}, nullptr, nullptr};
  if (!next_link(filter.header, views[count - 1].link, &next->link))
    raise_links_too_large(count + 1);
  check_size(views, count + 1);
  return make_of_links(filter.header, views, count + 1);
}

NewFilter normalized(const NewFilter &filter) {
  LinkView views[kMaxLinks];
  const int count = view_links(filter.payload(), filter.header, views);
  const int kept = drop_covered(views, count, count - 1, check_for_interrupts);
  return kept == count ? filter : make_of_links(filter.header, views, kept);
}

} // namespace bloomfilter
