// See sample.hpp. A filter in memory, or an uncompressed value stored out of line, is read in
// parts. A compressed value is decompressed as a whole, if it is small.

#include "pg/planner/sample.hpp"

#include "core/bitmap.hpp"
#include "core/counting.hpp"
#include "core/cuckoo.hpp"
#include "core/estimate.hpp"
#include "core/links.hpp"
#include "pg/value/bitmaps.hpp"

extern "C" {
#include "access/detoast.h"
}

namespace bloomfilter {
namespace {

constexpr Size kUnpacked = kSampledParts * kPartBytes; // the largest value worth decompressing
constexpr uint32 kWholeBytes = 8; // this number of buckets of any size fills whole bytes

// A payload that is read one part at a time. A part is valid until the next one is read.
class Parts {
public:
  explicit Parts(const uint8 *payload) : payload_(payload), value_(nullptr), last_(nullptr) {}
  explicit Parts(struct varlena *value)
      : payload_(VARATT_IS_4B_U(value) ? reinterpret_cast<const uint8 *>(VARDATA(value)) : nullptr),
        value_(value), last_(nullptr) {}

  const uint8 *operator()(Size offset, Size length) {
    if (payload_)
      return payload_ + offset;
    release();
    last_ = detoast_attr_slice(value_, static_cast<int32>(offset), static_cast<int32>(length));
    return reinterpret_cast<const uint8 *>(VARDATA_ANY(last_));
  }
  void release() {
    if (last_)
      pfree(last_);
    last_ = nullptr;
  }

private:
  const uint8 *payload_; // NULL if the payload is not in memory
  struct varlena *value_, *last_;
};

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

// What the units that were read tell about all units of a link.
struct Sums {
  double values, rate;
  double share; // the share of the link's units that were read
};

// Calls read(bytes, units) for parts of a link. Each part begins at a multiple of `step` units. In
// `bytes`, the part comes after `before` other bytes, which read() must ignore. Returns the share
// of all units that were read.
template <typename Read>
double read_parts(Parts *parts, const Geometry &geometry, Size offset, uint32 step, Size before,
                  Read read) {
  const auto bytes_of = [&](uint32 units) { return (Size{units} * geometry.unit_bits() + 7) / 8; };
  const uint32 part = step * static_cast<uint32>(Max(kPartBytes / bytes_of(step), 1));
  const uint32 parts_in_all = geometry.units / part;
  const uint32 stride = (parts_in_all / kSampledParts + 1) * part;
  uint64 units = 0;
  for (uint64 first = 0; first < geometry.units; first += stride) {
    CHECK_FOR_INTERRUPTS();
    const uint32 count = Min(part, geometry.units - static_cast<uint32>(first));
    read((*parts)(offset + bytes_of(static_cast<uint32>(first)), before + bytes_of(count)), count);
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

// Samples a bitmap. If `united` is not NULL, ORs the units that were read into `united`, one after
// the other.
Sums sample_bitmap(Parts *parts, const Geometry &geometry, Size offset, uint8 *united) {
  Survey survey(*kernel, geometry);
  const double share =
      read_parts(parts, geometry, offset, 1, 0, [&](const uint8 *units, Size count) {
        survey.read(units, count);
        if (!united)
          return;
        unite(*kernel, united, units, count * geometry.unit_bytes());
        united += count * geometry.unit_bytes();
      });
  return {count_of(geometry, survey.bits_set(), share), survey.rate(), share};
}

Sums sample_counters(Parts *parts, const Geometry &geometry, Size offset) {
  const Geometry plain = plain_geometry(geometry);
  Survey survey(*kernel, plain);
  auto *bits = static_cast<uint8 *>(palloc(Max(kPartBytes, geometry.unit_bytes())));
  const double share =
      read_parts(parts, geometry, offset, 1, 0, [&](const uint8 *counters, Size count) {
        counting_bits(counters, count * geometry.unit_bytes(), bits);
        survey.read(bits, count);
      });
  pfree(bits);
  return {count_of(plain, survey.bits_set(), share), survey.rate(), share};
}

// Samples a cuckoo filter. Each part of the buckets is read as a table of its own. The table's
// number of kicks, which precedes its buckets, does not matter.
Sums sample_buckets(Parts *parts, const Geometry &geometry, Size offset) {
  uint64 stored = 0;
  const double share = read_parts(
      parts, geometry, offset, kWholeBytes, kKicksBytes, [&](const uint8 *table, uint32 count) {
        stored += cuckoo_stored({geometry.layout, geometry.k, count}, table);
      });
  const double all = static_cast<double>(Max(stored, share < 1.0 ? 1 : 0)) / share;
  return {all, cuckoo_rate(geometry, static_cast<uint64>(all)), share};
}

// Samples one link. `united` is used for bloomfilters alone, because no other type has several
// links.
Sums sample_link(Parts *parts, const Geometry &geometry, Size offset, uint8 *united) {
  switch (structure_of(geometry.layout)) {
  case Structure::counters:
    return sample_counters(parts, geometry, offset);
  case Structure::buckets:
    return sample_buckets(parts, geometry, offset);
  case Structure::bitmap:
  case Structure::foreign_bitmap:
    break;
  }
  return sample_bitmap(parts, geometry, offset, united);
}

// Samples a sound filter with this head. The estimates are the same as those of measure().
FilterEstimate sample_links(Parts *parts, const uint8 *head, const Header &header) {
  LinkView views[kMaxLinks]; // without bitmaps
  Size offsets[kMaxLinks];
  int unread = header.links();
  for_each_link(head, header, [&](const Link &link, Size offset) {
    views[--unread] = {link, nullptr, nullptr};
    offsets[unread] = offset;
  });
  FilterEstimate estimate = {0.0, 0.0, static_cast<double>(VARHDRSZ + header.payload_bytes())};
  double denied = 1.0;
  for_each_geometry(views, header.links(), [&](int first, int number) {
    const Geometry &geometry = views[first].link.geometry;
    const Size bytes = Min(geometry.bytes(), kUnpacked);
    auto *united = number > 1 ? static_cast<uint8 *>(palloc0(bytes)) : nullptr;
    double sum = 0.0, share = 1.0;
    for (int i = first; i < first + number; i++) {
      const Sums sums = sample_link(parts, geometry, offsets[i], united);
      share = sums.share;
      sum += sums.values;
      estimate.rate += denied * sums.rate;
      denied *= 1.0 - sums.rate;
    }
    if (united) {
      sum = Min(sum, count_of(geometry, count_set(*kernel, united, bytes), share));
      pfree(united);
    }
    estimate.values += sum;
  });
  return estimate;
}

} // namespace

FilterEstimate sample_payload(const uint8 *payload, const Header &header) {
  Parts parts(payload);
  return sample_links(&parts, payload, header);
}

FilterEstimate sample_filter(Datum datum, Header *header) {
  struct varlena *value = accessible(reinterpret_cast<struct varlena *>(DatumGetPointer(datum)));
  if (!value)
    return {};
  Parts parts(value);
  const Size length = toast_raw_datum_size(PointerGetDatum(value)) - VARHDRSZ;
  uint8 head[kMaxHeadBytes];
  memcpy(head, parts(0, Min(length, kMaxHeadBytes)), Min(length, kMaxHeadBytes));
  if (!parse(head, length, header).ok()) {
    parts.release();
    return {};
  }
  const FilterEstimate estimate = sample_links(&parts, head, *header);
  parts.release();
  if (PointerGetDatum(value) != datum)
    pfree(value);
  return estimate;
}

} // namespace bloomfilter
