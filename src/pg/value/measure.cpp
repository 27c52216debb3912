// See measure.hpp. These functions run for bf_info() and the like, and to find out whether a filter
// is overfilled. Most of them read every bit, so they take as long as reading the filter from
// memory. The formulas are in core/estimate.hpp and core/links.hpp.

#include "pg/value/measure.hpp"

#include "core/estimate.hpp"
#include "core/sizing.hpp"

namespace bloomfilter {
namespace {

// Reads all bits of the links, and writes the number of set bits of each. Returns the false
// positive rate of all links together.
double survey_links(const LinkView *views, int count, LinkBits *bits) {
  double rate = 0.0, denied = 1.0; // share of values that all links so far deny
  for (int i = count; i-- > 0;) {
    const Geometry &geometry = views[i].link.geometry;
    Survey survey(*kernel, geometry);
    for_each_part(views[i].bitmap, geometry.bytes(), [&](const uint8 *bytes, Size, Size length) {
      survey.read(bytes, length / geometry.unit_bytes());
    });
    bits[i] = {survey.bits_set(), survey.bits_set()};
    rate += denied * survey.rate();
    denied *= 1.0 - survey.rate();
  }
  return rate;
}

} // namespace

Fill measure(const Filter &filter) {
  LinkView views[kMaxLinks];
  LinkBits bits[kMaxLinks];
  const int count = view_links(filter.payload(), filter.header, views);
  Fill fill = {0, 0, {}, survey_links(views, count, bits)};
  for_each_geometry(views, count, [&](int first, int number) {
    for (int i = first; i < first + number; i++) {
      fill.bits += views[i].link.geometry.bits();
      fill.bits_set += bits[i].set;
    }
    if (number > 1) // the bits of their OR were not counted
      count_bits(*kernel, views + first, number, bits + first, check_for_interrupts);
  });
  fill.count = estimate_values(filter.header, views, bits, count);
  return fill;
}

double rate_now(const Filter &filter) {
  LinkView views[kMaxLinks];
  LinkBits bits[kMaxLinks];
  return survey_links(views, view_links(filter.payload(), filter.header, views), bits);
}

ValueCount count_values(const Filter &filter) {
  LinkView views[kMaxLinks];
  const int count = view_links(filter.payload(), filter.header, views);
  return count_values(filter.header, views, count);
}

ValueCount count_values(const Header &header, const LinkView *views, int count) {
  LinkBits bits[2 * kMaxLinks];
  for_each_geometry(views, count, [&](int first, int number) {
    count_bits(*kernel, views + first, number, bits + first, check_for_interrupts);
  });
  return estimate_values(header, views, bits, count);
}

char *count_text(const ValueCount &count) {
  return psprintf("%s %.0f", count.at_most ? "at most" : "about", count.values);
}

bool is_countable(const Filter &filter) {
  return !any_link(filter.payload(), filter.header,
                   [](const Link &link, Size) { return (link.flags & kFlagIntersection) != 0; });
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
  // (The sum leaves out one effect: no link can have a rate below kMinRate, so the last links have
  // more than their share.)
  const double asked = header.capacity.rate, last = filter.link().capacity.rate;
  return last > kMinRate ? Max(asked, rate + 3 * last) : asked;
}

} // namespace bloomfilter
