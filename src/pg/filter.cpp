#include "pg/filter.hpp"

#include "core/sizing.hpp"
#include "pg/errors.hpp"

namespace bloomfilter {

namespace {

// In steps, with a look for interrupts before each.
void combine(void (*lines)(uint8 *, const uint8 *, Size), uint8 *bitmap, const uint8 *other,
             Size bytes) {
  for (Size at = 0; at < bytes; at += kStep) {
    CHECK_FOR_INTERRUPTS();
    lines(bitmap + at, other + at, Min(bytes - at, kStep) / kLineBytes);
  }
}

} // namespace

uint64 bits_set(const Filter &filter) {
  uint64 set = 0;
  for_each_part(filter, [&set](const uint8 *bytes, Size, Size length) {
    set += count_set(*kernel, bytes, length);
  });
  return set;
}

Survey survey(const Filter &filter) {
  Survey result(*kernel, filter.header.geometry);
  for_each_part(filter, [&](const uint8 *bytes, Size, Size length) {
    result.read(bytes, length / filter.header.geometry.unit_bytes());
  });
  return result;
}

const char *layout_name(Layout layout) {
  return layout == Layout::pages ? "pages" : "lines";
}

int compare_payloads(const Filter &a, const Filter &b) {
  const Size a_bytes = a.header.payload_bytes(), b_bytes = b.header.payload_bytes();
  const int order = memcmp(a.payload(), b.payload(), Min(a_bytes, b_bytes));
  return order != 0 ? order : a_bytes < b_bytes ? -1 : a_bytes > b_bytes;
}

void unite_bitmaps(uint8 *bitmap, const uint8 *other, Size bytes) {
  combine(kernel->unite, bitmap, other, bytes);
}

void intersect_bitmaps(uint8 *bitmap, const uint8 *other, Size bytes) {
  combine(kernel->intersect, bitmap, other, bytes);
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
