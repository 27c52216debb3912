#include "inlined.hpp"

#include "core/kernel.hpp"

#ifdef __AVX2__

// The core's library also defines avx2_kernel, so the function gets another name here.
#define avx2_kernel inlined_kernel
namespace bloomfilter {
const Kernel *inlined_kernel();
}
#include "core/kernel_avx2.cpp"

bool bloomfilter::is_inlined(const Geometry &geometry) {
  return geometry.layout == Layout::lines && geometry.k == kInlinedK;
}

std::size_t bloomfilter::count_inlined(const Geometry &geometry, const std::uint8_t *bitmap,
                                       const std::uint64_t *hashes, std::size_t count) {
  const Geometry constant = {Layout::lines, kInlinedK, geometry.units};
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; i++)
    found += test(constant, bitmap, hashes[i]) ? 1 : 0;
  return found;
}

#else

bool bloomfilter::is_inlined(const Geometry &) {
  return false;
}

std::size_t bloomfilter::count_inlined(const Geometry &, const std::uint8_t *,
                                       const std::uint64_t *, std::size_t) {
  return 0;
}

#endif
