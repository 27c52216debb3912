// What differs between the structures that hold digests (a bitmap of our own, counters, a cuckoo
// filter's buckets, another system's bitmap), behind one name each.
#ifndef BLOOMFILTER_CORE_STRUCTURE_HPP
#define BLOOMFILTER_CORE_STRUCTURE_HPP

#include <cstdint>

#include "core/digest.hpp"
#include "core/geometry.hpp"
#include "core/kernel.hpp"

namespace bloomfilter {

// The geometry for `expected` distinct values (at least 1) at a false positive rate of kMinRate ...
// kMaxRate; Layout::lines stands for all of a bloomfilter's own. False if it would be too large.
bool size_for(Layout layout, std::uint64_t expected, double rate, Geometry *geometry);

// Possibly in the structure? Of our own layouts, a digest is a hash and nothing more.
bool structure_contains(const Kernel &kernel, const Geometry &geometry, const std::uint8_t *bytes,
                        const Digest &digest);

} // namespace bloomfilter

#endif
