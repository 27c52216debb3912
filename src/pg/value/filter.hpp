// A filter of any kind as the server passes it: a varlena whose payload the core describes.
#ifndef BLOOMFILTER_PG_VALUE_FILTER_HPP
#define BLOOMFILTER_PG_VALUE_FILTER_HPP

#include "pg/server.hpp"

#include "core/estimate.hpp"
#include "core/format.hpp"
#include "core/kernel.hpp"
#include "core/links.hpp"
#include "core/structure.hpp"
#include "pg/names.hpp"

namespace bloomfilter {

// The kernel for this process, which _PG_init() chooses when the library is loaded.
extern const Kernel *kernel;

// A pause of the core.
inline void check_for_interrupts() {
  CHECK_FOR_INTERRUPTS();
}

// Bytes of a bitmap that are handled between two checks for interrupts; whole units.
constexpr Size kStep = 1024 * 1024;

// A checked, uncompressed value and its header, to be looked at: an argument belongs to others.
struct Filter {
  const struct varlena *value;
  Header header;

  Kind kind() const { return kind_of(header.geometry.layout); }
  const uint8 *payload() const { return reinterpret_cast<const uint8 *>(VARDATA(value)); }
  // Of the largest link; a plain filter has one.
  Link link() const { return read_link(payload(), header, header.links() - 1); }
  const uint8 *bitmap() const {
    return payload() + header.payload_bytes() - link().geometry.bytes();
  }
  bool contains(const Digest &digest) const {
    return links_contain(*kernel, payload(), header, digest);
  }
  Datum datum() const { return PointerGetDatum(value); }
};

// A value that was made here, and may be changed until it is returned.
struct OwnFilter : Filter {
  uint8 *payload() { return const_cast<uint8 *>(Filter::payload()); }
  const uint8 *payload() const { return Filter::payload(); }
  uint8 *bitmap() { return const_cast<uint8 *>(Filter::bitmap()); }
  const uint8 *bitmap() const { return Filter::bitmap(); }

  // Adds digests, `count` numbers in all, to the largest link.
  void add_many(const uint64 *digests, Size count) {
    structure_add_many(*kernel, link().geometry, bitmap(), digests, count);
  }
  // Stores a changed header.
  void write_back() { write_header(payload(), header); }
  void release() { pfree(const_cast<struct varlena *>(value)); }
};

// Calls use(bytes, offset, length) for a bitmap's parts, all whole units, with a check for
// interrupts before each.
template <typename F> void for_each_part(const uint8 *bitmap, Size bytes, F use) {
  for (Size at = 0; at < bytes; at += kStep) {
    CHECK_FOR_INTERRUPTS();
    use(bitmap + at, at, Min(bytes - at, kStep));
  }
}

uint64 bits_set(const uint8 *bitmap, const Geometry &geometry);

// What the bits say of all links together.
struct Fill {
  uint64 bits, bits_set;
  double count; // estimated number of distinct values: the sum over the links
  double rate;  // false positive rate now
};
Fill measure(const Filter &filter);

// What a filter was asked to hold. Of several links that is the sum of their values; of a filter
// that grows, the values that it began with. The rate is the highest that was asked, of a link or
// of what grows: a union is judged by what was asked of its parts. But those that are made for the
// default rate together were each asked for a part of it, and are judged together. Unknown if any
// link's capacity is.
Capacity capacity_of(const Filter &filter);

// The rate of a filter of known capacity once each link holds what it was made for: of several
// links that of all together; of a filter that grows that with the links to come.
double full_rate(const Filter &filter);

// Do the bits tell how many values there are? Not of links that an intersection made.
bool is_countable(const Filter &filter);

// Bytewise order of values, which need not be sound: -1, 0, or 1.
int compare_payloads(const struct varlena *a, const struct varlena *b);

// Sets in a bitmap every bit that another one of as many bytes has; clears every bit that it lacks.
void unite_bitmaps(uint8 *bitmap, const uint8 *other, Size bytes);
void intersect_bitmaps(uint8 *bitmap, const uint8 *other, Size bytes);

// Adds counters to others, up to the highest one.
void unite_counters(uint8 *counters, const uint8 *other, Size bytes);

// The bloomfilter of the values of a counting filter, and how many of its counters are at their
// highest.
OwnFilter as_bloom(const Filter &counting, uint64 *saturated = nullptr);

// Of all links.
uint64 bits_of(const LinkView *views, int count);

void define_max_size();

// ERROR 54000 if a filter of so many bits, or of such links, is larger than there can be, or than
// the setting bloomfilter.max_size allows. Called where one is made, or made larger; input does
// neither, so that a dump restores.
void check_size(Kind kind, uint64 bits);
void check_size(const LinkView *views, int count);

// The header of a new filter without values, whose family is none.
Header empty_header(const Geometry &geometry, const Capacity &capacity, uint64 seed);

// A capacity as SQL gave it, its number of values rounded to a whole one; ERROR 22023 if it is out
// of range.
Capacity checked_capacity(double expected, double rate);

// ERROR 22023 if a filter for the capacity would be too large.
Geometry geometry_for(Layout layout, const Capacity &capacity);

// A new plain value in the current memory context, its bitmap zero.
OwnFilter make_filter(const Header &header);

// The same for many additions, in memory that suits them (pg/value/memory.hpp). When these are done
// it is to be moved to the start of its chunk.
OwnFilter make_filter_to_fill(const Header &header, void **chunk);

// A value of links, which must be in their normal form. It has the header's element type and seed,
// and grows, with the header's capacity, if that grows. If `state` has one bitmap of each link at
// the place where the value has it, it becomes the value: the other bitmaps are OR-ed into it.
// ERROR 54000 if there are too many links.
OwnFilter make_filter(Header header, const LinkView *views, int count, OwnFilter *state = nullptr);

// A filter without values that grows from its first link on, which is made for the header's
// capacity. `flags`: kFlagOwn, or none.
OwnFilter make_growing(Header header, uint8 flags = 0);

// The normal form of a value that was in normal form before its largest link got more values. Its
// links are still in order, but the largest may now cover another one.
OwnFilter normalized(const OwnFilter &filter);

// The value with another, empty link; ERROR 54000 if there cannot be one.
OwnFilter grown(const Filter &filter);

// A detoasted value's header, checked in constant time; ERROR XX001 if it is damaged.
Filter open_filter(const struct varlena *value);

// XX001: a stored value is of another kind than its type says.
void check_kind_of(const Header &header, Kind kind);

// An argument that is not NULL: a filter of this kind, or of any.
Filter filter_arg(FunctionCallInfo fcinfo, int argument, Kind kind = Kind::bloom);
Filter any_filter_arg(FunctionCallInfo fcinfo, int argument);

// A copy that may be changed.
OwnFilter copy_filter(const Filter &filter);

// An aggregate's state, which may be changed: an earlier call made it for this aggregate alone.
OwnFilter state_to_change(const Filter &state);

} // namespace bloomfilter

#endif
