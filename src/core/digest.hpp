// Digests. A value's bits depend only on its digest. In our own layouts the digest is one hash; in
// those of some other systems it is two numbers of 64 bits (LayoutRow::digest_size).
#ifndef BLOOMFILTER_CORE_DIGEST_HPP
#define BLOOMFILTER_CORE_DIGEST_HPP

#include <cstdint>

namespace bloomfilter {

struct Digest {
  std::uint64_t first, second;
};

} // namespace bloomfilter

#endif
