#include "pg/value/measure.hpp"

#include "core/estimate.hpp"
#include "core/sizing.hpp"

namespace bloomfilter {

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
  // (This does not count that the lowest rate of a link is more than its share.)
  const double asked = header.capacity.rate, last = filter.link().capacity.rate;
  return last > kMinRate ? Max(asked, rate + 3 * last) : asked;
}

} // namespace bloomfilter
