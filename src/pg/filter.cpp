#include "pg/filter.hpp"

#include "core/sizing.hpp"
#include "pg/errors.hpp"

namespace bloomfilter {

void unite_lines(uint8 *bitmap, const uint8 *other, Size bytes) {
  for (Size at = 0; at < bytes; at += kStep) {
    CHECK_FOR_INTERRUPTS();
    kernel->unite(bitmap + at, other + at, Min(bytes - at, kStep) / kLineBytes);
  }
}

Header empty_header(const Geometry &geometry, uint64 expected, double rate, uint64 seed) {
  Header header = {};
  header.geometry = geometry;
  header.family = Family::none;
  header.seed = seed;
  header.expected = expected;
  header.rate = rate;
  return header;
}

Geometry geometry_for(int64 expected, double rate) {
  if (expected < 1)
    raise_bad_expected(expected);
  if (!rate_in_range(rate))
    raise_bad_rate(rate);
  Geometry geometry;
  if (!size_for_capacity(static_cast<uint64>(expected), rate, &geometry))
    raise_too_large(static_cast<uint64>(expected), rate, ERRCODE_INVALID_PARAMETER_VALUE);
  return geometry;
}

Filter make_filter(const Header &header) {
  const Size size = VARHDRSZ + header.payload_bytes();
  Filter filter;
  filter.value = static_cast<struct varlena *>(palloc0(size));
  filter.header = header;
  SET_VARSIZE(filter.value, size);
  filter.write_back();
  return filter;
}

Filter open_filter(struct varlena *value) {
  Filter filter;
  filter.value = value;
  const Finding finding = parse(filter.payload(), VARSIZE(value) - VARHDRSZ, &filter.header);
  if (!finding.ok())
    raise_damaged(finding);
  return filter;
}

Filter filter_arg(FunctionCallInfo fcinfo, int argument) {
  return open_filter(PG_GETARG_VARLENA_P(argument));
}

Filter copy_filter(const Filter &filter) {
  Filter copy = filter;
  copy.value = static_cast<struct varlena *>(palloc(VARSIZE(filter.value)));
  memcpy(copy.value, filter.value, VARSIZE(filter.value));
  return copy;
}

} // namespace bloomfilter
