// See hashed_value.hpp.

#include "core/hashed_value.hpp"

#include <cstring>

#include "core/bytes.hpp"

namespace bloomfilter {
namespace {

enum : std::size_t { kAtFamily = 0, kAtReserved = 1, kAtShape = 4, kAtHash = 8, kAtSecond = 16 };

} // namespace

Finding read_hashed_value(const std::uint8_t *bytes, std::size_t length, HashedValue *value) {
  if (length != kHashedValueBytes)
    return {Status::wrong_length, length, kHashedValueBytes};
  const std::uint8_t family = bytes[kAtFamily];
  const std::uint32_t reserved = load<std::uint32_t>(bytes) >> 8;
  const auto shape = load<std::uint32_t>(bytes + kAtShape);
  if (reserved != 0)
    return {Status::reserved_bits, reserved, 0};
  if (family > static_cast<std::uint8_t>(kLastFamily))
    return {Status::unknown_family, family, 0};
  value->type = {static_cast<Family>(family), shape};
  value->hash = load<std::uint64_t>(bytes + kAtHash);
  value->second = load<std::uint64_t>(bytes + kAtSecond);
  if (is_open(value->type.family) || !is_family_of(Layout::lines, value->type.family))
    return {Status::bad_family, family, 0};
  if (!is_shape_of(value->type.family, shape))
    return {Status::bad_shape, shape, 0};
  if (value->second != value->hash && value->type.family != Family::text)
    return {Status::bad_second, family, 0};
  return {Status::ok, 0, 0};
}

void write_hashed_value(std::uint8_t *bytes, const HashedValue &value) {
  std::memset(bytes, 0, kHashedValueBytes);
  bytes[kAtFamily] = static_cast<std::uint8_t>(value.type.family);
  store(bytes + kAtShape, value.type.shape);
  store(bytes + kAtHash, value.hash);
  store(bytes + kAtSecond, value.second);
}

} // namespace bloomfilter
