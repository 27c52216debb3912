// Structures hold digests: a bitmap of our own, counters, a cuckoo filter's buckets, or another
// system's bitmap. This file gives each operation that differs among them one name.
#pragma once

#include <cstdint>

#include "core/counting.hpp"
#include "core/cuckoo.hpp"
#include "core/foreign/foreign.hpp"
#include "core/geometry.hpp"
#include "core/kernel.hpp"

namespace bloomfilter {

// The geometry for `expected` distinct values (at least 1) at a false positive rate of kMinRate ...
// kMaxRate. Layout::lines stands for all of our own layouts of a bloomfilter. False if the
// structure would be too large.
bool size_for(Layout layout, std::uint64_t expected, double rate, Geometry *geometry);

// True if the digest is possibly in the structure. In our own layouts, a digest is just a hash.
bool structure_contains(const Kernel &kernel, const Geometry &geometry, const std::uint8_t *bytes,
                        const Digest &digest);

// Adds digests to a bitmap or to counters. Buckets must not be passed: they can be full, so only
// cuckoo_add_many() adds to them. Each digest is digest_size() numbers, and `count` is the
// number of all these numbers.
void structure_add_many(const Kernel &kernel, const Geometry &geometry, std::uint8_t *bytes,
                        const std::uint64_t *digests, std::size_t count);

// The number of times that a hash was added to counters or buckets. Collisions can make it larger,
// and counters stop at kMaxCounter.
int structure_multiplicity(const Geometry &geometry, const std::uint8_t *bytes, std::uint64_t hash);

// The function that probes a structure of one of our own layouts for a hash. Choose it once for
// many hashes. NULL for another system's layout. NULL also for the geometry in a chain's header,
// which has neither size nor k.
HashTest hash_test(const Kernel &kernel, const Geometry &geometry);

// The functions below probe a structure and read only the parts of it on which the answer depends.
// fetch(offset, length) returns a part, which is valid until the next call.

// The geometry of one unit as a structure of its own. A probe of the unit gives the same answer as
// a probe of the whole.
inline Geometry alone(const Geometry &geometry) {
  return {geometry.layout, geometry.k, 1};
}

template <typename Fetch>
int multiplicity_in_parts(const Geometry &geometry, std::uint64_t hash, Fetch fetch) {
  if (structure_of(geometry.layout) == Structure::counters) {
    const std::uint8_t *unit = fetch(unit_offset(geometry, hash), geometry.unit_bytes());
    return static_cast<int>(counting_multiplicity(alone(geometry), unit, hash));
  }
  const CuckooPlace place = cuckoo_place(geometry, hash);
  int copies = 0;
  for (int i = 0; i < (place.bucket[0] == place.bucket[1] ? 1 : 2); i++) {
    const BucketSpan span = bucket_span(geometry, place.bucket[i]);
    copies += count_in_bucket(geometry, fetch(span.offset, span.length), span, place.fingerprint);
  }
  return copies;
}

// The bits of a value are either in one unit, or mostly each in a different one.
template <typename Fetch>
bool foreign_contains_in_parts(const Geometry &geometry, const Digest &digest, Fetch fetch) {
  std::uint64_t positions[kMaxForeignK];
  foreign_positions(geometry, digest, positions);
  const std::uint8_t *unit = nullptr;
  std::uint64_t number = 0;
  for (int i = 0; i < geometry.k; i++) {
    const std::uint64_t of_bit = positions[i] / geometry.unit_bits();
    const std::uint64_t bit = positions[i] % geometry.unit_bits();
    if (!unit || of_bit != number)
      unit = fetch(of_bit * geometry.unit_bytes(), geometry.unit_bytes());
    number = of_bit;
    if (!(unit[bit / 8] >> bit % 8 & 1))
      return false;
  }
  return true;
}

template <typename Fetch>
bool contains_in_parts(const Kernel &kernel, const Geometry &geometry, const Digest &digest,
                       Fetch fetch) {
  switch (structure_of(geometry.layout)) {
  case Structure::counters:
  case Structure::buckets:
    return multiplicity_in_parts(geometry, digest.first, fetch) > 0;
  case Structure::foreign_bitmap:
    return foreign_contains_in_parts(geometry, digest, fetch);
  case Structure::bitmap:
    break;
  }
  const std::uint8_t *unit = fetch(unit_offset(geometry, digest.first), geometry.unit_bytes());
  return structure_contains(kernel, alone(geometry), unit, digest);
}

} // namespace bloomfilter
