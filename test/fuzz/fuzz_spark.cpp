// Fuzzes read_spark(). It either refuses the input, or the input is a file of Spark: a head that is
// written back unchanged, and all words of a bitmap.

#include "core/foreign/file.hpp"
#include "fuzz/foreign.hpp"

using namespace bloomfilter;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t length) {
  FoundFilter found;
  if (read_spark(bytes, length, &found).text)
    return 0;
  const Geometry &geometry = found.geometry;
  require(geometry.layout == (bytes[3] == 1 ? Layout::spark : Layout::spark_v2));
  require(is_possible_seed(geometry.layout, found.seed));
  require(found.end() == length);

  std::vector<std::uint8_t> bitmap(geometry.bytes()), written(length);
  swap_words(bitmap.data(), bytes + found.offset, geometry.units);
  use_bitmap(geometry, bitmap.data());
  require(write_spark_head(written.data(), geometry, found.seed) == found.offset);
  swap_words(written.data() + found.offset, bitmap.data(), geometry.units);
  require(std::memcmp(written.data(), bytes, length) == 0);
  return 0;
}
