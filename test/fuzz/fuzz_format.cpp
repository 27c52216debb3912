// Fuzzes stored filters: validate() either refuses the input, or the input is a filter that can be
// used.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/bitmap.hpp"
#include "core/estimate.hpp"
#include "core/foreign/foreign.hpp"
#include "core/format.hpp"
#include "core/links.hpp"
#include "unit/support.hpp"

using namespace bloomfilter;

namespace {

void require(bool condition) {
  if (!condition)
    std::abort();
}

void use_link(const Geometry &geometry, const std::uint8_t *bitmap) {
  Survey survey(best_kernel(), geometry);
  survey.read(bitmap, geometry.units);
  require(survey.bits_set() == count_set(kScalarKernel, bitmap, geometry.bytes()));
  require(survey.bits_set() <= geometry.bits());
  require(estimate_count(geometry, survey.bits_set()) >= 0);
  require(survey.rate() >= 0 && survey.rate() <= 1);

  if (is_foreign(geometry.layout)) {
    std::vector<std::uint8_t> copy(bitmap, bitmap + geometry.bytes());
    const std::uint64_t words[] = {~0ULL, hash_bytes(bitmap, geometry.bytes(), 0)};
    foreign_add_many(geometry, copy.data(), words, 1);
    require(foreign_contains(geometry, copy.data(), {words[0], words[1]}));
    return;
  }

  // Both ends of the bitmap, and one hash somewhere between.
  const std::uint64_t hashes[] = {0, ~0ULL, hash_bytes(bitmap, geometry.bytes(), 0)};
  const std::vector<std::uint8_t> original(bitmap, bitmap + geometry.bytes());
  std::vector<std::uint8_t> reference = original;
  kScalarKernel.add_many(geometry, reference.data(), hashes, 3);
  for (const Kernel *kernel : all_kernels()) {
    std::vector<std::uint8_t> copy = original;
    for (const std::uint64_t hash : hashes) {
      require(kernel->contains(geometry, copy.data(), hash) ==
              kScalarKernel.contains(geometry, copy.data(), hash));
      add(*kernel, geometry, copy.data(), hash);
      require(kernel->contains(geometry, copy.data(), hash));
    }
    require(copy == reference);
  }
}

void use(const Header &header, const std::uint8_t *payload) {
  std::vector<std::uint8_t> written(header.head_bytes());
  write_header(written.data(), header);
  if (header.is_chain())
    for (int i = 0; i < header.links(); i++)
      write_link(written.data(), i, read_link(payload, header, i));
  require(std::memcmp(written.data(), payload, written.size()) == 0);

  const Scheme &scheme = scheme_of(header.geometry.layout, header.element_type.family);
  require(scheme.layout == profile_of(header.geometry.layout));
  require(is_in(scheme.kept, header.element_type.family));

  if (!check_kind(header, Kind::bloom).ok())
    return; // fuzz_cuckoo.cpp tests cuckoo filters

  for_each_link(payload, header, [payload](const Link &link, std::size_t offset) {
    use_link(link.geometry, payload + offset);
  });

  // In normal form, links keep their order. A union with itself adds no link.
  LinkView once[kMaxLinks], twice[2 * kMaxLinks];
  const int links = view_links(payload, header, once);
  const int kept = normalize_links(once, links, check_nothing);
  require(kept >= 1 && kept <= links);
  view_links(payload, header, twice);
  view_links(payload, header, twice + links);
  require(normalize_links(twice, 2 * links, check_nothing) == kept);
  for (int i = 0; i < kept; i++)
    require(once[i].bitmap == twice[i].bitmap || twice[i].link.flags & kFlagSelfSized);
  Link next;
  if (header.grows() && next_link(header, once[kept - 1].link, &next))
    require(next.geometry.bits() > once[kept - 1].link.geometry.bits());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t length) {
  Header header;
  const Finding finding = validate(bytes, length, &header);
  if (finding.ok())
    use(header, bytes);
  else
    require(parse(bytes, length, &header).text == finding.text ||
            finding.text == Fault::stray_bits || finding.text == Fault::bad_order ||
            finding.text == Fault::bad_buckets);
  return 0;
}
