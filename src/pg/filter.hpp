// A bloomfilter as the server passes it: a varlena whose payload the core describes.
#ifndef BLOOMFILTER_PG_FILTER_HPP
#define BLOOMFILTER_PG_FILTER_HPP

#include "pg/server.hpp"

#include "core/estimate.hpp"
#include "core/format.hpp"
#include "core/kernel.hpp"

namespace bloomfilter {

// The kernel for this process, chosen when the library is loaded.
extern const Kernel *kernel;

// Bytes of a bitmap that are handled between two looks for interrupts; whole units.
constexpr Size kStep = 1024 * 1024;

// A checked, uncompressed value and its header.
struct Filter {
  struct varlena *value;
  Header header;

  uint8 *payload() const { return reinterpret_cast<uint8 *>(VARDATA(value)); }
  uint8 *bitmap() const { return payload() + kHeaderBytes; }

  bool contains(uint64 hash) const { return kernel->contains(header.geometry, bitmap(), hash); }
  void add_many(const uint64 *hashes, Size count) {
    kernel->add_many(header.geometry, bitmap(), hashes, count);
  }
  // Stores a changed header. For values of our own only.
  void write_back() { write_header(payload(), header); }
  Datum datum() const { return PointerGetDatum(value); }
};

// Calls use(bytes, offset, length) for the bitmap's parts, all whole units, with a look for
// interrupts before each.
template <typename F> void for_each_part(const Filter &filter, F use) {
  const Size bytes = filter.header.geometry.bytes();
  for (Size at = 0; at < bytes; at += kStep) {
    CHECK_FOR_INTERRUPTS();
    use(filter.bitmap() + at, at, Min(bytes - at, kStep));
  }
}

// The number of set bits, and with the rate.
uint64 bits_set(const Filter &filter);
Survey survey(const Filter &filter);

// As bf_info() shows it.
const char *layout_name(Layout layout);

// Bytewise order: negative, 0, or positive.
int compare_payloads(const Filter &a, const Filter &b);

// Sets in a bitmap every bit that another one of as many bytes has; clears every bit that it lacks.
void unite_bitmaps(uint8 *bitmap, const uint8 *other, Size bytes);
void intersect_bitmaps(uint8 *bitmap, const uint8 *other, Size bytes);

// The header of a filter without values, family or shape.
Header empty_header(const Geometry &geometry, uint64 expected, double rate, uint64 seed);

// A capacity and a rate as SQL gave them -> a geometry; ERROR 22023 if they are out of range.
Geometry geometry_for(int64 expected, double rate);

// A new value in the current memory context, its bitmap zero.
Filter make_filter(const Header &header);

// A detoasted value's header, checked in constant time; ERROR XX001 if it is damaged.
Filter open_filter(struct varlena *value);

// An argument that is not NULL.
Filter filter_arg(FunctionCallInfo fcinfo, int argument);

// A copy that may be changed.
Filter copy_filter(const Filter &filter);

} // namespace bloomfilter

#endif
