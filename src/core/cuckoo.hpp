// Cuckoo filters: sets that values can leave again, as fingerprints in buckets.
//
// A value is a fingerprint of f bits, never 0, which lies in one of two buckets of four slots
// (B. Fan, D. G. Andersen, M. Kaminsky, M. D. Mitzenmacher, "Cuckoo Filter: Practically Better Than
// Bloom", CoNEXT 2014). Where both are full, a fingerprint is moved to its other bucket, and what
// it displaces there likewise: kicks. The other bucket follows from the bucket and the fingerprint
// alone (partial-key cuckoo hashing), here for any number m of buckets: bucket 1 from the high half
// of the hash, bucket 2 = (R - bucket 1) mod m with R from the fingerprint, which leads back again.
//
//   bucket 1 = ((h >> 32) m) >> 32        fingerprint = (((h mod 2^32) (2^f - 1)) >> 32) + 1
//   R = ((mix64(fingerprint) >> 32) m) >> 32
//   mix64(x): x ^= x >> 33; x *= 0xFF51AFD7ED558CCD; x ^= x >> 33; x *= 0xC4CEB9FE1A85EC53;
//   x ^= x >> 33 (the finalizer of MurmurHash3, A. Appleby)
//
// The table, of two buckets or more, is the number of kicks so far, u32, then the buckets, packed:
// slot s of bucket b is the f bits from bit (4 b + s) f on, bit p being bit p & 7 of byte p >> 3. A
// bucket's fingerprints stand in descending order, empty slots (0) last, so that equal buckets are
// equal bytes; bits behind the last bucket are 0.
//
// A stranger is found with probability 8 load / 2^f at most, so f = ceil(log2(1/rate) + 3). Two
// values with one fingerprint and one pair of buckets cannot be told apart; as they have both
// buckets in common, removing one leaves the other.
//
// Every constant here is part of the format.
#ifndef BLOOMFILTER_CORE_CUCKOO_HPP
#define BLOOMFILTER_CORE_CUCKOO_HPP

#include <cstddef>
#include <cstdint>

#include "core/geometry.hpp"
#include "core/pause.hpp"

namespace bloomfilter {

constexpr int kMinFingerprintBits = 6;
constexpr int kMaxFingerprintBits = 32;

// Filling 250 buckets to 95 % fails once in 500 times with 500 kicks; with 4000, hardly more often
// than the once in 10000 in which no arrangement exists. Filling 800 buckets never failed with 500.
constexpr int kMaxKicks = 4000;

struct CuckooPlace {
  std::uint32_t fingerprint;
  std::uint32_t bucket[2]; // may be the same
};
CuckooPlace cuckoo_place(const Geometry &geometry, std::uint64_t hash);

// Where a bucket is in the table: from bit `shift`, 0 or 4, of byte `offset` on, in `length` bytes.
struct BucketSpan {
  std::size_t offset, length;
  int shift;
};
BucketSpan bucket_span(const Geometry &geometry, std::uint32_t bucket);

// How many slots of a bucket hold the fingerprint? Of the table, only the bytes of the bucket's
// span are needed.
int count_in_bucket(const Geometry &geometry, const std::uint8_t *bytes, const BucketSpan &span,
                    std::uint32_t fingerprint);

// Possibly in the set?
bool cuckoo_contains(const Geometry &geometry, const std::uint8_t *table, std::uint64_t hash);

// How many copies there are of a hash, or of others that look like it.
int cuckoo_copies(const Geometry &geometry, const std::uint8_t *table, std::uint64_t hash);

// The most copies of one hash that fit: the slots of its buckets.
inline int cuckoo_max_copies(const CuckooPlace &place) {
  return place.bucket[0] == place.bucket[1] ? kBucketSlots : 2 * kBucketSlots;
}

// Stores a copy of the fingerprint in one of its buckets, which may be given in either order.
// False, with the table as it was, if kMaxKicks kicks make no room.
bool cuckoo_add(const Geometry &geometry, std::uint8_t *table, const CuckooPlace &place);

// The same for hashes one after the other, best in ascending order, which is that of their first
// buckets. Returns how many were stored: `count`, or those before the one that found no room.
std::size_t cuckoo_add_many(const Geometry &geometry, std::uint8_t *table,
                            const std::uint64_t *hashes, std::size_t count);

// Removes a copy. False, with the table as it was, if there is none.
bool cuckoo_remove(const Geometry &geometry, std::uint8_t *table, std::uint64_t hash);

// Adds the fingerprints in `count` buckets, from `first` on, of another table of the same geometry.
// False if kicks make no room for one; the table is then of no further use.
bool cuckoo_unite(const Geometry &geometry, std::uint8_t *table, const std::uint8_t *other,
                  std::uint32_t first, std::uint32_t count);

std::uint32_t cuckoo_kicks(const std::uint8_t *table);

// The number of fingerprints.
std::uint64_t cuckoo_stored(const Geometry &geometry, const std::uint8_t *table,
                            Pause pause = no_pause);

// Are the buckets' fingerprints in order, and the bits behind them 0? Says how many there are.
bool check_buckets(const Geometry &geometry, const std::uint8_t *table, std::uint64_t *stored,
                   Pause pause = no_pause);

// The false positive rate of a table with so many fingerprints: 1 - (1 - 1/(2^f - 1))^(8 load).
double cuckoo_rate(const Geometry &geometry, std::uint64_t stored);

// The geometry for `expected` values (at least 1) at a rate within kMinRate ... kMaxRate: a load of
// 95 % from 250 buckets on; below, where loads vary more, ceil(expected / 3.4) + 1 buckets. Twice
// as many buckets where fingerprints of 32 bits are too short for the rate. False if it would
// exceed kMaxBits.
bool size_cuckoo(std::uint64_t expected, double rate, Geometry *geometry);

} // namespace bloomfilter

#endif
