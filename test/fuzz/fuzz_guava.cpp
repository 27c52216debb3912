// Fuzzes read_guava(). It either refuses the input, or the input is a file of Guava: a head that is
// written back unchanged, and all words of a bitmap.

#include "core/foreign/file.hpp"
#include "fuzz/foreign.hpp"

using namespace bloomfilter;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t length) {
  FoundFilter found;
  if (read_guava(bytes, length, &found).text)
    return 0;
  const Geometry &geometry = found.geometry;
  require(geometry.layout == (bytes[0] == 0 ? Layout::guava_mitz32 : Layout::guava));
  require(found.offset == kGuavaHead && found.end() == length);

  std::vector<std::uint8_t> bitmap(geometry.bytes()), written(length);
  swap_words(bitmap.data(), bytes + found.offset, geometry.units);
  use_bitmap(geometry, bitmap.data());
  write_guava_head(written.data(), geometry);
  swap_words(written.data() + kGuavaHead, bitmap.data(), geometry.units);
  require(std::memcmp(written.data(), bytes, length) == 0);
  return 0;
}
