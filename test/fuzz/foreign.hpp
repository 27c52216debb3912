// A helper that the fuzz targets of other systems' files share. It uses the filter that was read
// from a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/bitmap.hpp"
#include "core/estimate.hpp"
#include "core/foreign/file.hpp"
#include "core/foreign/foreign.hpp"
#include "core/format.hpp"

namespace bloomfilter {

inline void require(bool condition) {
  if (!condition)
    std::abort();
}

// Requires that the geometry of a bitmap is that of a possible filter. Also requires that each
// scheme of its layout can add values and find them.
inline void use_bitmap(const Geometry &geometry, const std::uint8_t *bitmap) {
  Header header = {geometry, {}, 0, {}}, read;
  std::vector<std::uint8_t> payload(header.payload_bytes());
  std::uint8_t *const copy = payload.data() + kHeaderBytes;
  std::memcpy(copy, bitmap, geometry.bytes());
  const bool is_empty = count_set(kScalarKernel, copy, geometry.bytes()) == 0;
  for (const Scheme &scheme : kSchemes) {
    for (int number = 0; number <= static_cast<int>(kLastFamily); number++) {
      header.element_type.family = static_cast<Family>(number);
      if (scheme.layout != geometry.layout || !is_in(scheme.kept, header.element_type.family))
        continue;
      write_header(payload.data(), header);
      const bool sound = validate(payload.data(), payload.size(), &read).ok();
      require(sound == (is_empty || !is_open(header.element_type.family)));
      require(read.geometry == geometry && read.element_type.family == header.element_type.family);
      require(&scheme_of(read.geometry.layout, read.element_type.family) == &scheme);
    }
  }

  Survey survey(best_kernel(), geometry);
  survey.read(copy, geometry.units);
  require(survey.bits_set() == count_set(kScalarKernel, copy, geometry.bytes()));
  require(survey.bits_set() <= geometry.bits());
  require(survey.rate() >= 0 && survey.rate() <= 1);
  require(estimate_count(geometry, survey.bits_set()) >= 0);

  // Digests from both ends, and one made of the bitmap's bytes.
  std::uint64_t words[] = {0, 0, ~0ULL, ~0ULL, 0, ~0ULL, 0, 0};
  std::memcpy(words + 6, bitmap, sizeof(std::uint64_t));
  words[7] = words[6] * 3;
  const int step = digest_size(geometry.layout);
  foreign_add_many(geometry, copy, words, static_cast<std::size_t>(8 / step));
  for (int i = 0; i < 8; i += step)
    require(foreign_contains(geometry, copy, {words[i], words[(i + 1) % 8]}));
  const std::uint64_t set = count_set(best_kernel(), copy, geometry.bytes());
  require(set >= survey.bits_set() && set <= survey.bits_set() + 8U * geometry.k);
}

} // namespace bloomfilter
