// See structure.hpp.

#include "core/structure.hpp"

#include "core/sizing.hpp"

namespace bloomfilter {

bool size_for(Layout layout, std::uint64_t expected, double rate, Geometry *geometry) {
  switch (structure_of(layout)) {
  case Structure::counters:
    return size_counting(expected, rate, geometry);
  case Structure::buckets:
    return size_cuckoo(expected, rate, geometry);
  case Structure::foreign_bitmap:
    return size_foreign(layout, expected, rate, geometry);
  case Structure::bitmap:
    break;
  }
  return size_for_capacity(expected, rate, geometry);
}

bool structure_contains(const Kernel &kernel, const Geometry &geometry, const std::uint8_t *bytes,
                        const Digest &digest) {
  const Structure structure = structure_of(geometry.layout);
  if (structure == Structure::bitmap) // first, because most filters are
    return kernel.contains(geometry, bytes, digest.first);
  switch (structure) {
  case Structure::counters:
    return kernel.counting_contains(geometry, bytes, digest.first);
  case Structure::buckets:
    return cuckoo_contains(geometry, bytes, digest.first);
  case Structure::bitmap:
  case Structure::foreign_bitmap:
    break;
  }
  return foreign_contains(geometry, bytes, digest);
}

void structure_add_many(const Kernel &kernel, const Geometry &geometry, std::uint8_t *bytes,
                        const std::uint64_t *digests, std::size_t count) {
  switch (structure_of(geometry.layout)) {
  case Structure::bitmap:
    kernel.add_many(geometry, bytes, digests, count);
    break;
  case Structure::counters:
    counting_add_many(geometry, bytes, digests, count);
    break;
  case Structure::buckets: // is never passed
    break;
  case Structure::foreign_bitmap:
    foreign_add_many(geometry, bytes, digests, count / digest_size(geometry.layout));
    break;
  }
}

int structure_multiplicity(const Geometry &geometry, const std::uint8_t *bytes,
                           std::uint64_t hash) {
  return structure_of(geometry.layout) == Structure::buckets
             ? cuckoo_copies(geometry, bytes, hash)
             : static_cast<int>(counting_multiplicity(geometry, bytes, hash));
}

HashTest hash_test(const Kernel &kernel, const Geometry &geometry) {
  switch (structure_of(geometry.layout)) {
  case Structure::counters:
    return kernel.counting_contains;
  case Structure::buckets:
    return cuckoo_contains;
  case Structure::foreign_bitmap:
    return nullptr;
  case Structure::bitmap:
    break;
  }
  return geometry.k == 0 ? nullptr : kernel.contains_for(geometry);
}

} // namespace bloomfilter
