// Fuzzes read_parquet(). It either refuses the input, or the input is a header and a whole bitset.
// The header that is then written must say the same.

#include "core/foreign/file.hpp"
#include "fuzz/foreign.hpp"

using namespace bloomfilter;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t length) {
  FoundFilter found;
  const bool good = !read_parquet(bytes, length, &found).text;
  require(good == (found.offset > 0 && found.end() == length));
  if (found.offset == 0 || found.end() > length)
    return 0;
  // If the bytes after a filter are cut off, the filter is good.
  require(!read_parquet(bytes, found.end(), &found).text);
  const Geometry &geometry = found.geometry;
  require(geometry.layout == Layout::parquet && geometry.k == kBlockWords && geometry.units > 0);
  use_bitmap(geometry, bytes + found.offset);

  std::vector<std::uint8_t> written(kMaxParquetHead);
  const std::size_t head = write_parquet_head(written.data(), geometry);
  require(head <= kMaxParquetHead && head <= found.offset); // no shorter head exists
  written.resize(head);
  written.insert(written.end(), bytes + found.offset, bytes + found.end());
  FoundFilter again;
  require(!read_parquet(written.data(), written.size(), &again).text);
  require(again.geometry == geometry && again.offset == head);
  return 0;
}
