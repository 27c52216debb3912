#include "pg/value/filter.hpp"

#include <cmath>

#include "core/bitmap.hpp"
#include "core/sizing.hpp"
#include "core/structure.hpp"
#include "pg/errors.hpp"
#include "pg/value/memory.hpp"

extern "C" {
#include "utils/guc.h"
}

namespace bloomfilter {

const Kernel *kernel = &kScalarKernel;

namespace {

// In steps, with a check for interrupts before each.
void combine(void (*in_step)(const Kernel &, uint8 *, const uint8 *, Size), uint8 *bitmap,
             const uint8 *other, Size bytes) {
  for (Size at = 0; at < bytes; at += kStep) {
    CHECK_FOR_INTERRUPTS();
    in_step(*kernel, bitmap + at, other + at, Min(bytes - at, kStep));
  }
}

} // namespace

uint64 bits_set(const uint8 *bitmap, const Geometry &geometry) {
  uint64 set = 0;
  for_each_part(bitmap, geometry.bytes(), [&set](const uint8 *bytes, Size, Size length) {
    set += count_set(*kernel, bytes, length);
  });
  return set;
}

Fill measure(const Filter &filter) {
  Fill fill = {0, 0, 0.0, 0.0};
  double denied = 1.0; // the share of other values that every link denies
  for_each_link(filter.payload(), filter.header, [&](const Link &link, Size offset) {
    const Geometry &geometry = link.geometry;
    Survey survey(*kernel, geometry);
    for_each_part(filter.payload() + offset, geometry.bytes(),
                  [&](const uint8 *bytes, Size, Size length) {
                    survey.read(bytes, length / geometry.unit_bytes());
                  });
    fill.bits += geometry.bits();
    fill.bits_set += survey.bits_set();
    fill.count += estimate_count(geometry, survey.bits_set());
    fill.rate += denied * survey.rate();
    denied *= 1.0 - survey.rate();
  });
  return fill;
}

Capacity capacity_of(const Filter &filter) {
  const Header &header = filter.header;
  if (!header.is_chain())
    return header.capacity;
  bool known = true;
  Capacity asked = {0, header.capacity.rate};
  for_each_link(filter.payload(), header, [&](const Link &link, Size) {
    known = known && link.capacity.is_known();
    asked.values += link.capacity.values;
    asked.rate = Max(asked.rate, link.capacity.rate);
  });
  if (!known)
    return {};
  if (header.grows())
    asked.values = header.capacity.values;
  const double together = full_rate(filter);
  if (together <= kDefaultRate)
    asked.rate = together;
  return asked;
}

double full_rate(const Filter &filter) {
  const Header &header = filter.header;
  double rate = 0.0, denied = 1.0;
  for_each_link(filter.payload(), header, [&](const Link &link, Size) {
    rate += denied * link.capacity.rate;
    denied *= 1.0 - link.capacity.rate;
  });
  if (!header.grows())
    return rate;
  // (Not counted: that the lowest rate of a link is more than its share.)
  const double asked = header.capacity.rate, last = filter.link().capacity.rate;
  return last > kMinRate ? Max(asked, rate + 3 * last) : asked;
}

bool is_countable(const Filter &filter) {
  return !any_link(filter.payload(), filter.header,
                   [](const Link &link, Size) { return (link.flags & kFlagIntersection) != 0; });
}

int compare_payloads(const struct varlena *a, const struct varlena *b) {
  const Size a_bytes = VARSIZE_ANY_EXHDR(a), b_bytes = VARSIZE_ANY_EXHDR(b);
  const int order = memcmp(VARDATA_ANY(a), VARDATA_ANY(b), Min(a_bytes, b_bytes));
  if (order != 0)
    return order < 0 ? -1 : 1; // memcmp promises no more of its result than the sign
  return a_bytes < b_bytes ? -1 : a_bytes > b_bytes;
}

void unite_bitmaps(uint8 *bitmap, const uint8 *other, Size bytes) {
  combine(unite, bitmap, other, bytes);
}

void intersect_bitmaps(uint8 *bitmap, const uint8 *other, Size bytes) {
  combine(intersect, bitmap, other, bytes);
}

void unite_counters(uint8 *counters, const uint8 *other, Size bytes) {
  combine([](const Kernel &, uint8 *to, const uint8 *from,
             Size length) { counting_unite(to, from, length); },
          counters, other, bytes);
}

OwnFilter as_bloom(const Filter &counting, uint64 *saturated) {
  Header header = counting.header;
  header.geometry = plain_geometry(header.geometry);
  OwnFilter filter = make_filter(header);
  uint64 full = 0;
  for_each_part(counting.bitmap(), counting.header.geometry.bytes(),
                [&](const uint8 *bytes, Size offset, Size length) {
                  full += counting_bits(bytes, length, filter.bitmap() + offset / kCounterBits);
                });
  if (saturated)
    *saturated = full;
  return filter;
}

namespace {

constexpr uint64 kBitsOfKb = 8 * 1024;
constexpr int kLargestKb = kMaxBits / kBitsOfKb;
int max_size = kLargestKb;

} // namespace

uint64 bits_of(const LinkView *views, int count) {
  uint64 bits = 0;
  for (int i = 0; i < count; i++)
    bits += views[i].link.geometry.bits();
  return bits;
}

void define_max_size() {
  DefineCustomIntVariable(
      "bloomfilter.max_size", "The largest bloom filter that can be made.",
      "It applies to filters of all types, and counts their bits without the header. What is "
      "larger and stored already, or restored, can be asked and changed, but not made larger.",
      &max_size, kLargestKb, 1, kLargestKb, PGC_SUSET, GUC_UNIT_KB, nullptr, nullptr, nullptr);
}

void check_size(Kind kind, uint64 bits) {
  if (bits > max_size * kBitsOfKb)
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("%s of " UINT64_FORMAT " kB exceeds the limit of %d kB", noun_of(kind),
                           (bits + kBitsOfKb - 1) / kBitsOfKb, max_size),
                    errhint("The limit is \"bloomfilter.max_size\", which superusers can raise. "
                            "bf_shard() distributes values over several filters.")));
}

void check_size(const LinkView *views, int count) {
  const uint64 bits = bits_of(views, count);
  if (bits > kMaxBits)
    raise_links_too_large(count);
  check_size(Kind::bloom, bits);
}

Header empty_header(const Geometry &geometry, const Capacity &capacity, uint64 seed) {
  check_size(kind_of(geometry.layout), geometry.bits());
  Header header = {};
  header.geometry = geometry;
  header.seed = seed;
  header.capacity = capacity;
  return header;
}

Capacity checked_capacity(double expected, double rate) {
  if (!(expected >= 1 && expected <= kMaxExpected)) // NaN is out of range, too
    raise_bad_expected(expected);
  if (!rate_in_range(rate))
    raise_bad_rate(rate);
  return {static_cast<uint64>(std::rint(expected)), rate};
}

Geometry geometry_for(Layout layout, const Capacity &capacity) {
  Geometry geometry;
  if (!size_for(layout, capacity.values, capacity.rate, &geometry))
    raise_too_large(layout, capacity, ERRCODE_INVALID_PARAMETER_VALUE);
  return geometry;
}

namespace {

OwnFilter empty_filter(const Header &header, void *memory) {
  const Size size = VARHDRSZ + header.payload_bytes();
  auto *value = static_cast<struct varlena *>(memory);
  clear_memory(value, size);
  SET_VARSIZE(value, size);
  OwnFilter filter = {{value, header}};
  filter.write_back();
  return filter;
}

} // namespace

OwnFilter make_filter(const Header &header) {
  return empty_filter(header, palloc(VARHDRSZ + header.payload_bytes()));
}

OwnFilter make_filter_to_fill(const Header &header, void **chunk) {
  return empty_filter(header,
                      allocate_aligned(CurrentMemoryContext, VARHDRSZ + header.payload_bytes(),
                                       VARHDRSZ + kHeaderBytes, chunk));
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

OwnFilter normalized(const OwnFilter &filter) {
  LinkView views[kMaxLinks];
  const int count = view_links(filter.payload(), filter.header, views);
  const int kept = drop_covered(views, count, count - 1, check_for_interrupts);
  return kept == count ? filter : make_filter(filter.header, views, kept);
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

Filter open_filter(const struct varlena *value) {
  Filter filter;
  filter.value = value;
  const Size length = VARSIZE(value) - VARHDRSZ;
  const Finding finding = parse(filter.payload(), length, &filter.header);
  if (!finding.ok())
    raise_damaged(finding, stated_kind(filter.payload(), length));
  return filter;
}

Filter any_filter_arg(FunctionCallInfo fcinfo, int argument) {
  return open_filter(PG_GETARG_VARLENA_P(argument));
}

void check_kind_of(const Header &header, Kind kind) {
  const Finding finding = check_kind(header, kind);
  if (!finding.ok())
    raise_damaged(finding, kind);
}

Filter filter_arg(FunctionCallInfo fcinfo, int argument, Kind kind) {
  const Filter filter = any_filter_arg(fcinfo, argument);
  check_kind_of(filter.header, kind);
  return filter;
}

OwnFilter copy_filter(const Filter &filter) {
  void *value = palloc(VARSIZE(filter.value));
  move_memory(value, filter.value, VARSIZE(filter.value));
  return {{static_cast<const struct varlena *>(value), filter.header}};
}

OwnFilter state_to_change(const Filter &state) {
  return {state};
}

} // namespace bloomfilter
