// See sample.hpp. A filter in memory, or an uncompressed value stored out of line, is read in
// parts. A compressed value is decompressed as a whole, if it is small.

#include "pg/value/sample.hpp"

#include "core/counting.hpp"
#include "core/cuckoo.hpp"
#include "core/estimate.hpp"
#include "core/links.hpp"
#include "pg/value/bitmaps.hpp"
#include "pg/value/slices.hpp"

namespace bloomfilter {
namespace {

constexpr Size kUnpacked = kSampledParts * kPartBytes; // the largest value worth decompressing
static_assert(kPartBytes <= Survey::kMostBytes);
constexpr uint32 kWholeBytes = 8; // this number of buckets of any size fills whole bytes

// Returns a value that can be read. If the value is stored uncompressed, slices of it can be read,
// and it is returned as it is. Otherwise it is detoasted. NULL if it is compressed and large.
struct varlena *accessible(struct varlena *value) {
  if (VARATT_IS_EXTERNAL_ONDISK(value)) {
    struct varatt_external pointer;
    VARATT_EXTERNAL_GET_POINTER(pointer, value);
    if (VARATT_EXTERNAL_GET_EXTSIZE(pointer) == static_cast<Size>(pointer.va_rawsize) - VARHDRSZ)
      return value;
  }
  const bool fits =
      !VARATT_IS_EXTENDED(value) || toast_raw_datum_size(PointerGetDatum(value)) <= kUnpacked;
  return fits ? detoast_attr(value) : nullptr;
}

// Calls read(at, bytes, units) for parts of a link: the offset of a part from the link's beginning,
// and its length. Each part begins at a multiple of `step` units, and has at least `step` units
// unless the whole link has fewer. Returns the share of all units that were read.
template <typename Read> double read_parts(const Geometry &geometry, uint32 step, Read read) {
  const auto bytes_of = [&](uint32 units) { return (Size{units} * geometry.unit_bits() + 7) / 8; };
  const uint32 part = step * static_cast<uint32>(Max(kPartBytes / bytes_of(step), 1));
  const uint32 parts_in_all = geometry.units / part;
  const uint32 stride = (parts_in_all / kSampledParts + 1) * part;
  uint64 units = 0;
  for (uint64 first = 0; first == 0 || first + step <= geometry.units; first += stride) {
    CHECK_FOR_INTERRUPTS();
    const uint32 left = geometry.units - static_cast<uint32>(first);
    const uint32 count = left < part + step ? left : part;
    read(bytes_of(static_cast<uint32>(first)), bytes_of(count), count);
    units += count;
  }
  return static_cast<double>(units) / geometry.units;
}

// Estimates the number of values from the bits set in a sample. If no bit is set in a sample, there
// are few values: it counts as if it held one value. If all bits of a bitmap are set, it may have
// had any large number of values. The estimate is then its number of bits.
double count_of(const Geometry &geometry, uint64 set, double share) {
  const uint64 least = share < 1.0 ? geometry.k : 0;
  const double all = static_cast<double>(Max(set, least)) / share;
  return Min(estimate_count(geometry, static_cast<uint64>(all)),
             static_cast<double>(geometry.bits()));
}

// Samples links of one geometry. The function for each structure returns their number of values,
// and adds their rates to `rate`. Only bloomfilters have several links.
double sample_bitmaps(Slices *slices, const Geometry &geometry, const Size *offsets, int number,
                      JointRate *rate) {
  Survey survey(*kernel, geometry, number);
  const double share = read_parts(geometry, 1, [&](Size at, Size bytes, uint32 count) {
    for (int i = 0; i < number; i++)
      survey.read((*slices)(offsets[i] + at, bytes), count, i);
  });
  double sum = 0.0;
  for (int i = 0; i < number; i++) {
    sum += count_of(geometry, survey.bits_set(i), share);
    rate->add(survey.rate(i));
  }
  return Min(sum, count_of(geometry, survey.bits_united(), share));
}

double sample_counters(Slices *slices, const Geometry &geometry, Size offset, JointRate *rate) {
  const Geometry plain = plain_geometry(geometry);
  Survey survey(*kernel, plain);
  uint8 bits[kPartBytes];
  const double share = read_parts(geometry, 1, [&](Size at, Size bytes, uint32 count) {
    counting_bits((*slices)(offset + at, bytes), bytes, bits);
    survey.read(bits, count);
  });
  rate->add(survey.rate());
  return count_of(plain, survey.bits_set(), share);
}

// Each part of the buckets of a cuckoo filter is read as a table of its own. The table's number of
// kicks, which precedes its buckets, does not matter.
double sample_buckets(Slices *slices, const Geometry &geometry, Size offset, JointRate *rate) {
  uint64 stored = 0;
  const double share = read_parts(geometry, kWholeBytes, [&](Size at, Size bytes, uint32 count) {
    const uint8 *table = (*slices)(offset + at, kKicksBytes + bytes);
    stored += cuckoo_stored({geometry.layout, geometry.k, count}, table);
  });
  const double all = static_cast<double>(Max(stored, share < 1.0 ? 1 : 0)) / share;
  rate->add(cuckoo_rate(geometry, static_cast<uint64>(all)));
  return all;
}

double sample_geometry(Slices *slices, const Geometry &geometry, const Size *offsets, int number,
                       JointRate *rate) {
  switch (structure_of(geometry.layout)) {
  case Structure::counters:
    return sample_counters(slices, geometry, *offsets, rate);
  case Structure::buckets:
    return sample_buckets(slices, geometry, *offsets, rate);
  case Structure::bitmap:
  case Structure::foreign_bitmap:
    break;
  }
  return sample_bitmaps(slices, geometry, offsets, number, rate);
}

// Samples a sound filter with this head. The estimates are the same as those of measure().
FilterEstimate sample_links(Slices *slices, const uint8 *head, const Header &header) {
  LinkView views[kMaxLinks]; // without bitmaps
  Size offsets[kMaxLinks];
  int unread = header.links();
  for_each_link(head, header, [&](const Link &link, Size offset) {
    views[--unread] = {link, nullptr, nullptr};
    offsets[unread] = offset;
  });
  double values = 0.0;
  JointRate rate;
  for_each_geometry(views, header.links(), [&](int first, int number) {
    values += sample_geometry(slices, views[first].link.geometry, offsets + first, number, &rate);
  });
  return {values, rate.rate, static_cast<double>(VARHDRSZ + header.payload_bytes())};
}

} // namespace

FilterEstimate sample_payload(const uint8 *payload, const Header &header) {
  Slices slices(payload);
  return sample_links(&slices, payload, header);
}

FilterEstimate sample_filter(Datum datum, Header *header) {
  struct varlena *value = accessible(reinterpret_cast<struct varlena *>(DatumGetPointer(datum)));
  if (!value)
    return {};
  Slices slices(value);
  const Size length = toast_raw_datum_size(PointerGetDatum(value)) - VARHDRSZ;
  uint8 head[kMaxHeadBytes];
  memcpy(head, slices(0, Min(length, kMaxHeadBytes)), Min(length, kMaxHeadBytes));
  if (!parse(head, length, header).ok()) {
    slices.release();
    return {};
  }
  const FilterEstimate estimate = sample_links(&slices, head, *header);
  slices.release();
  if (PointerGetDatum(value) != datum)
    pfree(value);
  return estimate;
}

} // namespace bloomfilter
