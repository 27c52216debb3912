// A filter of any kind as the server passes it: a varlena whose payload the core describes
// (core/format.hpp).
#ifndef BLOOMFILTER_PG_VALUE_FILTER_HPP
#define BLOOMFILTER_PG_VALUE_FILTER_HPP

#include "pg/server.hpp"

#include "core/format.hpp"
#include "core/links.hpp"
#include "core/structure.hpp"
#include "pg/value/bitmaps.hpp"

namespace bloomfilter {

// A checked, uncompressed value and its header. It is only read, for an argument belongs to others.
struct Filter {
  const struct varlena *value;
  Header header;

  Kind kind() const { return kind_of(header.geometry.layout); }
  const uint8 *payload() const { return reinterpret_cast<const uint8 *>(VARDATA(value)); }
  // The largest link, and its bitmap. A plain filter has one link.
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
struct NewFilter : Filter {
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

// The filter of a detoasted value. Its head is checked in constant time; ERROR XX001 if it is
// damaged.
Filter open_filter(const struct varlena *value);

// ERROR XX001 if a stored value is of another kind than its type says.
void check_kind_of(const Header &header, Kind kind);

// An argument that is not NULL: a filter of this kind, or of any.
Filter filter_arg(FunctionCallInfo fcinfo, int argument, Kind kind = Kind::bloom);
Filter any_filter_arg(FunctionCallInfo fcinfo, int argument);

// A copy that may be changed.
NewFilter copy_filter(const Filter &filter);

// The bytewise order of two values, which need not be sound: -1, 0, or 1.
int compare_payloads(const struct varlena *a, const struct varlena *b);

} // namespace bloomfilter

#endif
