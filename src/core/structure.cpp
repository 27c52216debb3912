// See structure.hpp.

#include "core/structure.hpp"

#include "core/sizing.hpp"

namespace bloomfilter {

bool size_for(Layout layout, std::uint64_t expected, double rate, Geometry *geometry) {
  if (is_foreign(layout))
    return size_foreign(layout, expected, rate, geometry);
  switch (kind_of(layout)) {
  case Kind::counting:
    return size_counting(expected, rate, geometry);
  case Kind::cuckoo:
    return size_cuckoo(expected, rate, geometry);
  case Kind::bloom:
    break;
  }
  return size_for_capacity(expected, rate, geometry);
}

bool structure_contains(const Kernel &kernel, const Geometry &geometry, const std::uint8_t *bytes,
                        const Digest &digest) {
  switch (kind_of(geometry.layout)) {
  case Kind::counting:
    return kernel.counting_contains(geometry, bytes, digest.first);
  case Kind::cuckoo:
    return cuckoo_contains(geometry, bytes, digest.first);
  case Kind::bloom:
    break;
  }
  return is_foreign(geometry.layout) ? foreign_contains(geometry, bytes, digest)
                                     : kernel.contains(geometry, bytes, digest.first);
}

void structure_add_many(const Kernel &kernel, const Geometry &geometry, std::uint8_t *bytes,
                        const std::uint64_t *digests, std::size_t count) {
  if (is_foreign(geometry.layout))
    foreign_add_many(geometry, bytes, digests, count / digest_size(geometry.layout));
  else if (kind_of(geometry.layout) == Kind::counting)
    counting_add_many(geometry, bytes, digests, count);
  else
    kernel.add_many(geometry, bytes, digests, count);
}

int structure_multiplicity(const Geometry &geometry, const std::uint8_t *bytes,
                           std::uint64_t hash) {
  return geometry.layout == Layout::cuckoo
             ? cuckoo_copies(geometry, bytes, hash)
             : static_cast<int>(counting_multiplicity(geometry, bytes, hash));
}

HashTest hash_test(const Kernel &kernel, const Geometry &geometry) {
  if (geometry.k == 0 || is_foreign(geometry.layout))
    return nullptr;
  switch (kind_of(geometry.layout)) {
  case Kind::counting:
    return kernel.counting_contains;
  case Kind::cuckoo:
    return cuckoo_contains;
  case Kind::bloom:
    break;
  }
  return kernel.contains_for(geometry);
}

} // namespace bloomfilter
