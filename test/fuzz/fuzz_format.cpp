// Whatever bytes arrive, validate() refuses them or they are a filter that can be used.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/estimate.hpp"
#include "core/format.hpp"
#include "unit/support.hpp"

using namespace bloomfilter;

namespace {

void require(bool condition) {
  if (!condition)
    std::abort();
}

void use(const Header &header, const std::uint8_t *payload) {
  const Geometry &geometry = header.geometry;
  const std::uint8_t *bitmap = payload + kHeaderBytes;

  std::uint8_t written[kHeaderBytes];
  write_header(written, header);
  require(std::memcmp(written, payload, kHeaderBytes) == 0);

  Survey survey(best_kernel(), geometry);
  survey.read(bitmap, geometry.units);
  require(survey.bits_set() == count_set(kScalarKernel, bitmap, geometry.bytes()));
  require(survey.bits_set() <= geometry.bits());
  require(estimate_count(geometry, survey.bits_set()) >= 0);
  require(survey.rate() >= 0 && survey.rate() <= 1);

  // Both ends of the bitmap, and somewhere between.
  const std::uint64_t hashes[] = {0, ~0ULL, hash_bytes(payload, kHeaderBytes, 0)};
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

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t length) {
  Header header;
  const Finding finding = validate(bytes, length, &header);
  if (finding.ok())
    use(header, bytes);
  else
    require(parse(bytes, length, &header).status == finding.status ||
            finding.status == Status::stray_bits);
  return 0;
}
