// Digests of values. The digests for our own layouts are inline in digests.hpp. This file has the
// digests for layouts of other systems; their hash functions are in core/foreign. It also has the
// second hash of a varchar that ends with a blank. The functions run for each value that is probed,
// added or removed.

#include "pg/element/digests.hpp"

#include "core/foreign/foreign.hpp"
#include "pg/element/canonical.hpp"
#include "pg/element/family.hpp"
#include "pg/names.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/memutils.h"
}

namespace bloomfilter {

namespace {

// The canonical bytes, except that a float keeps its own bits. Other systems treat -0 and +0, and
// NaNs with different bits, as different values.
void canonical_foreign(ValueType *value_type, Datum value, Canonical *out) {
  if (value_type->family == Family::floating)
    out->set_number(
        double_bits(value_type->base == FLOAT8OID ? DatumGetFloat8(value) : DatumGetFloat4(value)));
  else
    value_type->canonical(value_type, value, out);
}

// Encodes canonical bytes as the layout's system does, and appends the digests of the encoded
// bytes.
void append_encoded(Digests *digests, const Header &header, Family family, Family stored,
                    const Canonical &canonical) {
  uint8 small[scratch_bytes(64)];
  const bool fits = scratch_bytes(canonical.length) <= sizeof small;
  auto *scratch = fits ? small
                       : static_cast<uint8 *>(MemoryContextAllocHuge(
                             CurrentMemoryContext, scratch_bytes(canonical.length)));
  const Encoded encoded = encode(
      header.geometry.layout, header.seed,
      {family, stored, static_cast<const uint8 *>(canonical.bytes), canonical.length, scratch});
  digests->any |= encoded.outcome == Encoded::any;
  digests->no_value |= encoded.outcome == Encoded::none;
  for (int i = 0; i < encoded.count; i++)
    digests->digest[digests->count++] = encoded.digests[i];
}

} // namespace

SecondHash second_hash(ValueType *value_type, Datum value, uint64 seed) {
  if (!ends_with_blank(value_type, value))
    return {false, 0};
  Canonical stripped;
  canonical_stripped(value_type, value, &stripped);
  return {true, hash_bytes(stripped.bytes, stripped.length, seed)};
}

uint64 distribution_hash(ValueType *value_type, Datum value) {
  if (value_type->family != Family::text)
    return first_hash(value_type, value, 0);
  Canonical canonical;
  value_type->canonical(value_type, value, &canonical);
  const auto *bytes = static_cast<const char *>(canonical.bytes);
  return hash_bytes(bytes, length_without_blanks(bytes, canonical.length), 0);
}

Digests foreign_digests(ValueType *value_type, Datum value, const Header &header, Purpose purpose) {
  Digests digests = no_digests();
  const Scheme &scheme = scheme_of(header.geometry.layout, header.element_type.family);
  const Family stored = stored_family(scheme, value_type->family);
  if (stored == Family::none)
    return digests; // check_holds() raises the error
  Canonical canonical;
  canonical_foreign(value_type, value, &canonical);
  append_encoded(&digests, header, value_type->family, stored, canonical);
  if (purpose == Purpose::change && value_type->family == Family::floating)
    digests.count = Min(digests.count, 1); // one zero is added; probes look for both
  if (ends_with_blank(value_type, value)) {
    canonical_stripped(value_type, value, &canonical);
    append_encoded(&digests, header, value_type->family, stored, canonical);
  }
  return digests;
}

bool try_foreign_digest(ValueType *value_type, Datum value, const Header &header, Digest *digest) {
  Canonical canonical;
  canonical_foreign(value_type, value, &canonical);
  const auto *bytes = static_cast<const uint8 *>(canonical.bytes);
  const Layout layout = header.geometry.layout;
  uint8 scratch[scratch_bytes(sizeof(int64))];
  const ForeignValue foreign = {value_type->family, header.element_type.family, bytes,
                                canonical.length, scratch};
  if (try_plain_digest(layout, header.seed, foreign, digest))
    return true;
  if (canonical.length > sizeof(int64)) // the scratch is too small for it
    return false;
  const Encoded encoded = encode(layout, header.seed, foreign);
  *digest = encoded.digests[0];
  return encoded.outcome == Encoded::values;
}

void raise_no_value(const Header &header) {
  const Layout layout = header.geometry.layout;
  if (!is_foreign(layout))
    ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                    errmsg("value is out of range for a %s of %s values", noun_of(kind_of(layout)),
                           family_name(header.element_type.family))));
  const Family family = header.element_type.family;
  const bool is_float = family == Family::float32;
  ereport(ERROR,
          (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
           errmsg(is_float ? "value is not exact in a bloom filter of layout \"%s\""
                           : "value is out of range for a bloom filter of layout \"%s\"",
                  layout_name(layout, family)),
           errdetail(is_float ? "The layout keeps values of type real."
                              : "The layout keeps numbers of 32 bits."),
           is_float ? errhint("Cast the value to real, and cast what the filter is asked for, too.")
                    : 0));
}

} // namespace bloomfilter
