// Fuzzes read_datasketches(). It either refuses the input, or the input is a file of DataSketches:
// a head that is written back unchanged, and all words of a bitmap. Only for a filter without set
// bits, the head that is written may differ.

#include "core/foreign/file.hpp"
#include "fuzz/foreign.hpp"

using namespace bloomfilter;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t length) {
  FoundFilter found;
  if (read_datasketches(bytes, length, &found).text)
    return 0;
  const Geometry &geometry = found.geometry;
  require(geometry.layout == Layout::datasketches);
  require((found.flags & ~kFlagUncounted) == 0);
  require(length == found.end() || length == found.offset);
  if (geometry.bytes() > std::size_t{1} << 20)
    return 0; // a few bytes may stand for a large filter without values

  std::vector<std::uint8_t> bitmap(geometry.bytes()), head(kMaxDataSketchesHead);
  std::memcpy(bitmap.data(), bytes + found.offset, length - found.offset);
  use_bitmap(geometry, bitmap.data());
  const std::uint64_t set = count_set(kScalarKernel, bitmap.data(), bitmap.size());
  const std::size_t written =
      write_datasketches_head(head.data(), geometry, found.seed, set, found.flags);
  if (set == 0 && found.flags == 0) {
    require(written == 24);
    require(std::memcmp(head.data() + 4, bytes + 4, 20) == 0);
    return 0;
  }
  require(written == found.offset);
  require(std::memcmp(head.data(), bytes, written) == 0);
  return 0;
}
