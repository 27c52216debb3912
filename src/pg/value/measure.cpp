// See measure.hpp. These functions run for bf_info() and the like, and to find out whether a filter
// is overfilled. Most of them read every bit, so they take as long as reading the filter from
// memory. The formulas are in core/estimate.hpp and core/links.hpp.

#include "pg/value/measure.hpp"

#include "core/estimate.hpp"
#include "core/sizing.hpp"

namespace bloomfilter {
namespace {

// Reads the links of one geometry, each once.
void read_links(const LinkView *views, int number, Survey *survey) {
  const Geometry &geometry = views[0].link.geometry;
  for (Size at = 0; at < geometry.bytes(); at += Survey::kMostBytes) {
    CHECK_FOR_INTERRUPTS();
    const Size units = Min(geometry.bytes() - at, Survey::kMostBytes) / geometry.unit_bytes();
    for (int i = 0; i < number; i++)
      survey->read(views[i].bitmap + at, units, i);
  }
}

} // namespace

Fill measure(const Filter &filter) {
  LinkView views[kMaxLinks];
  LinkBits bits[kMaxLinks];
  double rates[kMaxLinks];
  const int count = view_links(filter.payload(), filter.header, views);
  Fill fill = {};
  for_each_geometry(views, count, [&](int first, int number) {
    const Geometry &geometry = views[first].link.geometry;
    Survey survey(*kernel, geometry, number);
    read_links(views + first, number, &survey);
    for (int i = 0; i < number; i++) {
      bits[first + i] = {survey.bits_set(i), survey.bits_united()};
      rates[first + i] = survey.rate(i);
      fill.bits += geometry.bits();
      fill.bits_set += survey.bits_set(i);
    }
  });
  JointRate joint;
  for (int i = count; i-- > 0;)
    joint.add(rates[i]);
  fill.rate = joint.rate;
  fill.count = estimate_values(filter.header, views, bits, count);
  return fill;
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
  Capacity requested = {0, header.capacity.rate};
  for_each_link(filter.payload(), header, [&](const Link &link, Size) {
    known = known && link.capacity.is_known();
    requested.values += link.capacity.values;
    requested.rate = Max(requested.rate, link.capacity.rate);
  });
  if (!known)
    return {};
  if (header.grows())
    requested.values = header.capacity.values;
  const double together = full_rate(filter);
  if (together <= kDefaultRate)
    requested.rate = together;
  return requested;
}

double full_rate(const Filter &filter) {
  const Header &header = filter.header;
  JointRate joint;
  for_each_link(filter.payload(), header,
                [&joint](const Link &link, Size) { joint.add(link.capacity.rate); });
  if (!header.grows())
    return joint.rate;
  // (The sum leaves out one effect: no link can have a rate below kMinRate, so the last links have
  // more than their share.)
  const double requested = header.capacity.rate, last = filter.link().capacity.rate;
  return last > kMinRate ? Max(requested, joint.rate + 3 * last) : requested;
}

} // namespace bloomfilter
