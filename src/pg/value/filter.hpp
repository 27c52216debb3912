// A filter of any kind as the server passes it: a varlena with a payload, whose format
// core/format.hpp describes.
//
// Tests of this room: sql/input.sql, sql/algebra.sql, sql/links.sql, sql/overfill.sql,
// test/t/007_stored.pl.
#pragma once

#include "pg/server.hpp"

#include "core/format.hpp"
#include "core/links.hpp"
#include "core/structure.hpp"
#include "pg/value/bitmaps.hpp"

namespace bloomfilter {

// A checked, uncompressed value and its header. The value is only read, because the server may use
// an argument's memory elsewhere.
struct Filter {
  const struct varlena *value;
  Header header;

  Kind kind() const { return kind_of(header.geometry.layout); }
  const uint8 *payload() const { return reinterpret_cast<const uint8 *>(VARDATA(value)); }
  // The largest link and its bitmap. A plain filter counts as one link.
  Link link() const { return read_link(payload(), header, header.links() - 1); }
  const uint8 *bitmap() const {
    return payload() + header.payload_bytes() - link().geometry.bytes();
  }
  bool contains(const Digest &digest) const {
    return links_contain(*kernel, payload(), header, digest);
  }
  Datum datum() const { return PointerGetDatum(value); }
};

// A value that this call made. It may be changed until it is returned.
struct NewFilter : Filter {
  uint8 *payload() { return const_cast<uint8 *>(Filter::payload()); }
  const uint8 *payload() const { return Filter::payload(); }
  uint8 *bitmap() { return const_cast<uint8 *>(Filter::bitmap()); }
  const uint8 *bitmap() const { return Filter::bitmap(); }

  // Adds digests to the largest link. `count` is how many 64-bit numbers they are in all.
  void add_many(const uint64 *digests, Size count) {
    structure_add_many(*kernel, link().geometry, bitmap(), digests, count);
  }
  // Writes the changed header to the payload.
  void write_back() { write_header(payload(), header); }
  void release() { pfree(const_cast<struct varlena *>(value)); }
};

// Opens a detoasted value. The head is checked in constant time; ERROR XX001 if it is damaged.
Filter open_filter(const struct varlena *value);

// ERROR XX001 if a stored value's kind does not belong to its SQL type.
void check_kind_of(const Header &header, Kind kind);

// The filter in an argument that is not NULL. filter_arg() accepts one kind, any_filter_arg() every
// kind.
Filter filter_arg(FunctionCallInfo fcinfo, int argument, Kind kind = Kind::bloom);
Filter any_filter_arg(FunctionCallInfo fcinfo, int argument);

// A copy that may be changed.
NewFilter copy_filter(const Filter &filter);

// Compares the bytes of two values and returns -1, 0 or 1. The values may be damaged.
int compare_payloads(const struct varlena *a, const struct varlena *b);

} // namespace bloomfilter
