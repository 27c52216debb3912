// See links.hpp.

#include "core/links.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/bitmap.hpp"
#include "core/bytes.hpp"
#include "core/estimate.hpp"
#include "core/sizing.hpp"
#include "core/structure.hpp"

namespace bloomfilter {
namespace {

bool is_self_sized(const LinkView &view) {
  return (view.link.flags & kFlagSelfSized) != 0;
}

bool has_bits(const std::uint8_t *bitmap, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kWordBytes)
    if (load<std::uint64_t>(bitmap + at) != 0)
      return true;
  return false;
}

bool is_empty(const LinkView &view) {
  return !view.bitmap || !has_bits(view.bitmap, view.link.geometry.bytes());
}

// An order for links without values. It compares everything that links have, except their bits.
bool requests_less(const LinkView &a, const LinkView &b) {
  const int order = compare_geometry(a.link.geometry, b.link.geometry);
  if (order != 0)
    return order < 0;
  const Capacity &requested = a.link.capacity, &other = b.link.capacity;
  if (requested.values != other.values)
    return requested.values < other.values;
  if (requested.rate != other.rate)
    return requested.rate < other.rate;
  return a.link.flags < b.link.flags;
}

// Drops the self-sized links that have no bits. If no other links are left, the least of all links
// stays.
int drop_empty(LinkView *views, int count, CheckInterrupts check_interrupts) {
  LinkView *const end = views + count;
  const LinkView least = *std::min_element(views, end, requests_less);
  LinkView *const kept = std::remove_if(views, end, [check_interrupts](const LinkView &view) {
    check_interrupts();
    return is_self_sized(view) && is_empty(view);
  });
  if (kept > views)
    return static_cast<int>(kept - views);
  views[0] = least;
  return 1;
}

int compare_bitmaps(const LinkView &a, const LinkView &b) {
  return std::memcmp(a.bitmap, b.bitmap, a.link.geometry.bytes());
}

bool in_order(const LinkView &a, const LinkView &b, CheckInterrupts check_interrupts) {
  const int order = compare_geometry(a.link.geometry, b.link.geometry);
  if (order != 0)
    return order < 0;
  if (is_self_sized(a) != is_self_sized(b))
    return is_self_sized(a);
  check_interrupts();
  return is_self_sized(a) && compare_bitmaps(a, b) < 0;
}

// Joins the second of two adjacent links to the first, if the normal form has one link for both.
// Returns whether it did.
bool join(LinkView *first, const LinkView &second) {
  if (!(first->link.geometry == second.link.geometry) ||
      is_self_sized(*first) != is_self_sized(second))
    return false;
  if (!is_self_sized(second))
    first->other = second.bitmap;
  else if (compare_bitmaps(*first, second) != 0)
    return false;
  first->link.capacity = larger(first->link.capacity, second.link.capacity);
  first->link.flags |= second.link.flags;
  return true;
}

// True if `by` has the same geometry as `view` and all of its bits.
bool is_covered(const LinkView &view, const LinkView &by, CheckInterrupts check_interrupts) {
  if (!(view.link.geometry == by.link.geometry) || !by.bitmap)
    return false;
  check_interrupts();
  const std::size_t bytes = view.link.geometry.bytes();
  for (std::size_t at = 0; at < bytes; at += kWordBytes) {
    const auto other = by.other ? load<std::uint64_t>(by.other + at) : 0;
    if (load<std::uint64_t>(view.bitmap + at) & ~(load<std::uint64_t>(by.bitmap + at) | other))
      return false;
  }
  return true;
}

// True if the links form a series as growth makes it.
bool have_grown(const Header &header, const LinkView *views, const LinkBits *bits, int count) {
  if (!header.grows())
    return false;
  for (int i = 0; i + 1 < count; i++) {
    const Link &link = views[i].link, &after = views[i + 1].link;
    Link next;
    if (!link.capacity.is_known() || bits[i].set < full_bits(link) ||
        !next_link(header, link, &next) || !(next.geometry == after.geometry) ||
        !(next.capacity == after.capacity) || next.flags != after.flags)
      return false;
  }
  return true;
}

} // namespace

int view_links(const std::uint8_t *payload, const Header &header, LinkView *views) {
  int number = header.links();
  for_each_link(payload, header, [&](const Link &link, std::size_t offset) {
    views[--number] = {link, payload + offset, nullptr};
  });
  return header.links();
}

int normalize_links(LinkView *views, int count, CheckInterrupts check_interrupts) {
  count = drop_empty(views, count, check_interrupts);
  std::sort(views, views + count, [check_interrupts](const LinkView &a, const LinkView &b) {
    return in_order(a, b, check_interrupts);
  });

  int joined = 1;
  for (int i = 1; i < count; i++) {
    check_interrupts();
    if (!join(&views[joined - 1], views[i]))
      views[joined++] = views[i];
  }
  return drop_covered(views, joined, 0, check_interrupts);
}

int drop_covered(LinkView *views, int count, int from, CheckInterrupts check_interrupts) {
  // The covering link may be dropped, too, if a third link covers it. The third link then covers
  // both.
  LinkView *const end = views + count;
  for (LinkView *view = views; view < end; view++)
    if (is_self_sized(*view) &&
        std::any_of(views + from, end, [view, check_interrupts](const LinkView &by) {
          return &by != view && is_covered(*view, by, check_interrupts);
        }))
      view->bitmap = nullptr;
  LinkView *const kept = std::remove_if(
      views, end, [](const LinkView &view) { return is_self_sized(view) && !view.bitmap; });
  return static_cast<int>(kept - views);
}

bool links_contain(const Kernel &kernel, const std::uint8_t *payload, const Header &header,
                   const Digest &digest) {
  return any_link(payload, header, [&](const Link &link, std::size_t offset) {
    return structure_contains(kernel, link.geometry, payload + offset, digest);
  });
}

std::uint64_t full_values(const Link &link) {
  const Capacity &capacity = link.capacity;
  Geometry made;
  if (!capacity.is_known() ||
      !size_for(link.geometry.layout, capacity.values, capacity.rate, &made) ||
      made.bits() <= link.geometry.bits())
    return capacity.values;
  return std::max<std::uint64_t>(capacity.values * link.geometry.bits() / made.bits(), 1);
}

std::uint64_t full_bits(const Link &link) {
  return expected_bits(link.geometry, full_values(link));
}

void count_bits(const Kernel &kernel, const LinkView *views, int count, LinkBits *bits,
                CheckInterrupts check_interrupts) {
  std::uint8_t united[64 * kLineBytes], both[sizeof united]; // fit in the first-level cache
  const std::size_t bytes = views[0].link.geometry.bytes();
  std::fill_n(bits, count, LinkBits{0, 0});
  for (std::size_t at = 0; at < bytes; at += sizeof united) {
    check_interrupts();
    const std::size_t length = std::min(bytes - at, sizeof united);
    for (int i = 0; i < count; i++) {
      const std::uint8_t *piece = views[i].bitmap + at;
      if (views[i].other) {
        std::memcpy(both, piece, length);
        unite(kernel, both, views[i].other + at, length);
        piece = both;
      }
      bits[i].set += count_set(kernel, piece, length);
      if (i > 0)
        unite(kernel, united, piece, length);
      else if (count > 1)
        std::memcpy(united, piece, length);
    }
    if (count > 1)
      bits[0].united += count_set(kernel, united, length);
  }
  if (count == 1)
    bits[0].united = bits[0].set;
}

ValueCount estimate_values(const Header &header, const LinkView *views, const LinkBits *bits,
                           int count) {
  ValueCount result = {0.0, false};
  int with_values = 0;
  for_each_geometry(views, count, [&](int first, int number) {
    const Geometry &geometry = views[first].link.geometry;
    double sum = 0.0;
    for (int i = first; i < first + number; i++)
      sum += estimate_count(geometry, bits[i].set);
    const double united = estimate_count(geometry, bits[first].united);
    result.values += std::min(sum, united);
    result.at_most = result.at_most || (std::isinf(united) && !std::isinf(sum));
    with_values += bits[first].united > 0;
  });
  if (with_values > 1 && !have_grown(header, views, bits, count))
    result.at_most = true;
  return result;
}

double first_rate(double rate) {
  return std::max(rate / 4, kMinRate);
}

bool next_link(const Header &header, const Link &largest, Link *next) {
  next->flags = kFlagSelfSized;
  const Capacity &last = largest.capacity, &requested = header.capacity;
  if (last.is_known())
    next->capacity = {last.values * 2, std::max(last.rate * 3 / 4, kMinRate)};
  else // the first link, or after a union with a filter of unknown capacity
    next->capacity = {requested.values, first_rate(requested.rate)};
  // If twice as many values still fit into one line, the bitmap is not larger. Then double again.
  for (;; next->capacity.values *= 2) {
    if (!size_for_capacity(next->capacity.values, next->capacity.rate, &next->geometry))
      return false;
    if (next->geometry.bits() > largest.geometry.bits())
      return true;
  }
}

} // namespace bloomfilter
