// See filter.hpp. open_filter() runs for each filter argument that is read as a whole. It checks
// the head alone, in constant time, so it does not notice a damaged bitmap.

#include "pg/value/filter.hpp"

#include "pg/errors.hpp"
#include "pg/value/memory.hpp"

namespace bloomfilter {

Filter open_filter(const struct varlena *value) {
  Filter filter;
  filter.value = value;
  const Size length = VARSIZE(value) - VARHDRSZ;
  const Finding finding = parse(filter.payload(), length, &filter.header);
  if (!finding.ok())
    raise_damaged(finding, stated_kind(filter.payload(), length));
  return filter;
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

Filter any_filter_arg(FunctionCallInfo fcinfo, int argument) {
  return open_filter(PG_GETARG_VARLENA_P(argument));
}

NewFilter copy_filter(const Filter &filter) {
  return {{make_value(filter.payload(), VARSIZE(filter.value) - VARHDRSZ), filter.header}};
}

int compare_payloads(const struct varlena *a, const struct varlena *b) {
  const Size a_bytes = VARSIZE_ANY_EXHDR(a), b_bytes = VARSIZE_ANY_EXHDR(b);
  const int order = memcmp(VARDATA_ANY(a), VARDATA_ANY(b), Min(a_bytes, b_bytes));
  if (order != 0)
    return order < 0 ? -1 : 1; // memcmp promises no more of its result than the sign
  return a_bytes < b_bytes ? -1 : a_bytes > b_bytes;
}

} // namespace bloomfilter
