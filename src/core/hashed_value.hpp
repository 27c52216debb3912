// A value as a filter sees it: its element type, and its hashes with seed 0. SQL calls this a
// bf_element.
//
// Its bytes are the same on every machine: family u8, three zero bytes, shape u32, hash u64, second
// hash u64, little-endian. Only a value of text can have two hashes. A value with one hash stores
// it twice (doc/format.md, "Families").
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/format.hpp"

namespace bloomfilter {

struct HashedValue {
  ElementType type;
  std::uint64_t hash;
  std::uint64_t second;
};

inline bool operator==(const HashedValue &a, const HashedValue &b) {
  return a.type == b.type && a.hash == b.hash && a.second == b.second;
}

constexpr std::size_t kHashedValueBytes = 24;

// Reads bytes from an untrusted source and checks them.
Finding read_hashed_value(const std::uint8_t *bytes, std::size_t length, HashedValue *value);

void write_hashed_value(std::uint8_t *bytes, const HashedValue &value);

} // namespace bloomfilter
