#include "inlined.hpp"

#include "core/kernel.hpp"

#if defined(__AVX512VPOPCNTDQ__)
#define KERNEL_FILE "core/kernel_avx512.cpp"
#elif defined(__AVX2__)
#define KERNEL_FILE "core/kernel_avx2.cpp"
#endif

#ifdef KERNEL_FILE

// The core's library also defines the file's function, so it gets another name here.
#define avx512_kernel inlined_kernel
#define avx2_kernel inlined_kernel
namespace bloomfilter {
const Kernel *inlined_kernel();
}
#include KERNEL_FILE

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
