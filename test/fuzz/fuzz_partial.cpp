// Fuzzes partial states and hashed values. The input is either refused, or writing what was read
// gives the same bytes.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/bytes.hpp"
#include "core/partial.hpp"

using namespace bloomfilter;

namespace {

void require(bool condition) {
  if (!condition)
    std::abort();
}

void use_partial(const std::uint8_t *payload, std::size_t length, const Partial &partial) {
  std::uint8_t head[kPartialHead];
  write_partial_head(head, partial);
  require(std::memcmp(head, payload, sizeof head) == 0);
  const Geometry &geometry = partial.header.geometry;
  const std::size_t bytes = length - kPartialHead;
  if (partial.content == Content::bitmap) {
    require(bytes == geometry.bytes() && !partial.header.is_self_sized());
    return;
  }
  if (partial.content == Content::no_rows) {
    require(bytes == 0 && !partial.header.is_self_sized());
    return;
  }
  require(bytes % sizeof(std::uint64_t) == 0 &&
          (partial.header.is_self_sized() || bytes < geometry.bytes()));
  std::uint64_t before = 0;
  for (std::size_t at = kPartialHead; at < length; at += sizeof before) {
    const auto hash = load<std::uint64_t>(payload + at);
    require(at == kPartialHead || before < hash);
    before = hash;
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t length) {
  HashedValue value;
  if (read_hashed_value(bytes, length, &value).ok()) {
    std::uint8_t written[kHashedValueBytes];
    write_hashed_value(written, value);
    require(std::memcmp(written, bytes, length) == 0);
  }
  Partial partial;
  const Finding finding = validate_partial(bytes, length, &partial);
  if (finding.ok())
    use_partial(bytes, length, partial);
  else
    require(parse_partial(bytes, length, &partial).text == finding.text ||
            finding.text == Fault::bad_hashes);
  return 0;
}
