// Whatever bytes arrive, read_guava() refuses them or they are a file of Guava's: a head that is
// written again as it was, and all words of a bitmap.

#include "fuzz/foreign.hpp"

using namespace bloomfilter;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t length) {
  for (const Layout funnel : {Layout::guava, Layout::guava_integer, Layout::guava_chars}) {
    Found found;
    const Problem problem = read_guava(bytes, length, funnel, &found);
    if (problem.phrase)
      continue;
    const Geometry &geometry = found.geometry;
    require(is_guava(geometry.layout) && is_mitz32(geometry.layout) == (bytes[0] == 0));
    require(some_family(geometry.layout) == some_family(funnel));
    require(found.offset == kGuavaHead && found.offset + geometry.bytes() == length);

    std::vector<std::uint8_t> bitmap(geometry.bytes()), written(length);
    swap_words(bitmap.data(), bytes + found.offset, geometry.units);
    use_bitmap(geometry, bitmap.data());
    write_guava_head(written.data(), geometry);
    swap_words(written.data() + kGuavaHead, bitmap.data(), geometry.units);
    require(std::memcmp(written.data(), bytes, length) == 0);
  }
  return 0;
}
