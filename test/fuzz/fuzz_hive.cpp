// Fuzzes read_hive(). It either refuses the input, or the input is a file of Hive: a head that is
// written back unchanged, and all words of a bitmap of whole blocks.

#include "core/foreign/file.hpp"
#include "fuzz/foreign.hpp"

using namespace bloomfilter;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t length) {
  FoundFilter found;
  if (read_hive(bytes, length, &found).text)
    return 0;
  const Geometry &geometry = found.geometry;
  require(geometry.layout == Layout::hive);
  require(found.end() == length);

  const std::size_t words = geometry.bytes() / 8;
  std::vector<std::uint8_t> bitmap(geometry.bytes()), written(length);
  swap_words(bitmap.data(), bytes + found.offset, words);
  use_bitmap(geometry, bitmap.data());
  write_hive_head(written.data(), geometry);
  swap_words(written.data() + found.offset, bitmap.data(), words);
  require(std::memcmp(written.data(), bytes, length) == 0);
  return 0;
}
