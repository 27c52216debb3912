// Filters of other systems, with each system's hashes, bits and sizes.
//
// The functions here serve all systems and take the layout. Each other source file of this
// directory has one system and its files. Bitmaps are kept as little-endian words. So bit p is bit
// p & 7 of byte p >> 3, as in our own layouts.
#pragma once

#include "core/foreign/system.hpp"

namespace bloomfilter {

// Computes the digest of a value if the system hashes the value's canonical bytes as they are.
// Returns false otherwise. Does not use the value's scratch.
bool try_plain_digest(Layout layout, std::uint64_t seed, const ForeignValue &value, Digest *digest);

// These call the functions of the layout's system (ForeignSystem). encode() takes plain values,
// too. Only tests use digest_bytes().
Digest digest_bytes(Layout layout, std::uint64_t seed, const std::uint8_t *bytes,
                    std::size_t length);
Encoded encode(Layout layout, std::uint64_t seed, const ForeignValue &value);
void foreign_positions(const Geometry &geometry, const Digest &digest, std::uint64_t *positions);
bool foreign_contains(const Geometry &geometry, const std::uint8_t *bitmap, const Digest &digest);
void foreign_add_many(const Geometry &geometry, std::uint8_t *bitmap, const std::uint64_t *digests,
                      std::size_t count);
bool size_foreign(Layout layout, std::uint64_t expected, double rate, Geometry *geometry);

} // namespace bloomfilter
