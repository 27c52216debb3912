// See new_filter.hpp. This file also owns the setting bloomfilter.max_size. The setting limits the
// size of each filter, not the size of all filters that a query makes.

#include "pg/value/new_filter.hpp"

#include <cmath>

#include "core/counting.hpp"
#include "core/structure.hpp"
#include "pg/errors.hpp"
#include "pg/names.hpp"
#include "pg/value/memory.hpp"

extern "C" {
#include "utils/guc.h"
}

namespace bloomfilter {
namespace {

constexpr uint64 kBitsOfKb = 8 * 1024;
constexpr int kLargestKb = kMaxBits / kBitsOfKb;
int max_size = kLargestKb;

NewFilter empty_filter(const Header &header, void *memory) {
  const Size size = VARHDRSZ + header.payload_bytes();
  auto *value = static_cast<struct varlena *>(memory);
  clear_memory(value, size);
  SET_VARSIZE(value, size);
  NewFilter filter = {{value, header}};
  filter.write_back();
  return filter;
}

} // namespace

Capacity checked_capacity(double expected, double rate) {
  if (!(expected >= 1)) // NaN is out of range, too
    raise_bad_expected(expected);
  if (!rate_in_range(rate))
    raise_bad_rate(rate);
  constexpr double kMost = 0x1p63;
  return {static_cast<uint64>(expected < kMost ? std::rint(expected) : kMost), rate};
}

Geometry geometry_for(Layout layout, const Capacity &capacity, double expected) {
  Geometry geometry;
  if (!size_for(layout, capacity.values, capacity.rate, &geometry))
    raise_too_large(layout, expected, capacity.rate, ERRCODE_INVALID_PARAMETER_VALUE);
  return geometry;
}

void define_max_size() {
  DefineCustomIntVariable(
      "bloomfilter.max_size", "Sets the maximum size of a bloom filter.",
      "The limit applies to filters of all types, and to their bits without the header. Larger "
      "filters that are stored already can still be restored, probed and changed, but not made "
      "larger.",
      &max_size, kLargestKb, 1, kLargestKb, PGC_SUSET, GUC_UNIT_KB, nullptr, nullptr, nullptr);
}

bool is_allowed_size(double bits) {
  return bits <= static_cast<double>(max_size) * kBitsOfKb;
}

void check_size(Kind kind, uint64 bits) {
  if (bits > max_size * kBitsOfKb)
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("%s of " UINT64_FORMAT " kB exceeds the limit of %d kB", noun_of(kind),
                           (bits + kBitsOfKb - 1) / kBitsOfKb, max_size),
                    errhint("The limit is \"bloomfilter.max_size\", which superusers can raise. "
                            "bf_shard() distributes values over several filters.")));
}

Header empty_header(const Geometry &geometry, const Capacity &capacity, uint64 seed) {
  check_size(kind_of(geometry.layout), geometry.bits());
  Header header = {};
  header.geometry = geometry;
  header.seed = seed;
  header.capacity = capacity;
  return header;
}

Header empty_header(Layout layout, double expected, double rate, uint64 seed) {
  const Capacity capacity = checked_capacity(expected, rate);
  return empty_header(geometry_for(layout, capacity, expected), capacity, seed);
}

NewFilter make_filter(const Header &header) {
  return empty_filter(header, palloc(VARHDRSZ + header.payload_bytes()));
}

NewFilter make_filter_to_fill(const Header &header, void **chunk) {
  return empty_filter(header,
                      allocate_aligned(CurrentMemoryContext, VARHDRSZ + header.payload_bytes(),
                                       VARHDRSZ + kHeaderBytes, chunk));
}

NewFilter as_bloom(const Filter &counting, uint64 *full_counters) {
  Header header = counting.header;
  header.geometry = plain_geometry(header.geometry);
  NewFilter filter = make_filter(header);
  uint64 full = 0;
  for_each_step(counting.bitmap(), counting.header.geometry.bytes(),
                [&](const uint8 *bytes, Size offset, Size length) {
                  full += counting_bits(bytes, length, filter.bitmap() + offset / kCounterBits);
                });
  if (full_counters)
    *full_counters = full;
  return filter;
}

} // namespace bloomfilter
