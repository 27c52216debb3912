// Cuckoo filters: sets of fingerprints in buckets. Values can be removed again.
//
// A value is stored as a fingerprint of f bits, never 0, in one of two buckets of four slots (B.
// Fan, D. G. Andersen, M. Kaminsky, M. D. Mitzenmacher, "Cuckoo Filter: Practically Better Than
// Bloom", CoNEXT 2014). If both buckets are full, a fingerprint is kicked out of one of them. It
// moves to its own other bucket, where it may kick out another fingerprint. The other bucket
// follows from the bucket and the fingerprint alone (partial-key cuckoo hashing). Unlike in the
// paper, the number m of buckets need not be a power of two. Bucket 1 comes from the high half of
// the hash h. Bucket 2 is (R - bucket 1) mod m, where R comes from the fingerprint. The same
// formula leads back from bucket 2 to bucket 1.
//
//   bucket 1 = ((h >> 32) m) >> 32        fingerprint = (((h mod 2^32) (2^f - 1)) >> 32) + 1
//   R = ((mix64(fingerprint) >> 32) m) >> 32
//   mix64(x): x ^= x >> 33; x *= 0xFF51AFD7ED558CCD; x ^= x >> 33; x *= 0xC4CEB9FE1A85EC53;
//   x ^= x >> 33 (the finalizer of MurmurHash3, A. Appleby)
//
// The table starts with the number of kicks so far, a u32. The buckets, two or more, follow without
// gaps. Slot s of bucket b has the f bits from bit (4 b + s) f on, and bit p is bit p & 7 of byte
// p >> 3. A bucket's fingerprints are in descending order and empty slots (0) are last, so that
// equal buckets have equal bytes. The bits after the last bucket are 0.
//
// A value that was never added is found with a probability of at most 8 load / 2^f. So for a rate,
// f = ceil(log2(1/rate) + 3). Two values with the same fingerprint and the same pair of buckets
// cannot be told apart. They have both buckets in common, so removing one of the values leaves a
// copy for the other.
//
// Every constant here is part of the format.
//
// What is not good about it: a table can be full before it holds the requested number of values. It
// also holds at most eight copies of one hash.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/geometry.hpp"
#include "core/interrupts.hpp"

namespace bloomfilter {

constexpr int kMinFingerprintBits = 6;
constexpr int kMaxFingerprintBits = 32;

// With 500 kicks, filling 250 buckets to 95 % fails once in 500 times. With 4000 kicks, it fails
// about once in 10000 times. That is hardly more often than no arrangement exists at all. Filling
// 800 buckets never failed with 500 kicks.
constexpr int kMaxKicks = 4000;

// A hash's fingerprint, and the two buckets that may hold it.
struct CuckooPlace {
  std::uint32_t fingerprint;
  std::uint32_t bucket[2]; // may be the same bucket
};
CuckooPlace cuckoo_place(const Geometry &geometry, std::uint64_t hash);

// The place of a bucket in the table. The bucket lies in the `length` bytes from byte `offset` on.
// It begins at bit `shift`, 0 or 4, of the first of these bytes.
struct BucketSpan {
  std::size_t offset, length;
  int shift;
};
BucketSpan bucket_span(const Geometry &geometry, std::uint32_t bucket);

// The number of a bucket's slots that hold the fingerprint. `bytes` has only the bytes of the
// bucket's span.
int count_in_bucket(const Geometry &geometry, const std::uint8_t *bytes, const BucketSpan &span,
                    std::uint32_t fingerprint);

// True if the hash is possibly in the set.
bool cuckoo_contains(const Geometry &geometry, const std::uint8_t *table, std::uint64_t hash);

// The number of copies of a hash's fingerprint. Copies of other hashes with the same fingerprint
// and buckets count, too.
int cuckoo_copies(const Geometry &geometry, const std::uint8_t *table, std::uint64_t hash);

// The largest number of copies of one hash that fit: the number of slots in its buckets.
inline int cuckoo_max_copies(const CuckooPlace &place) {
  return place.bucket[0] == place.bucket[1] ? kBucketSlots : 2 * kBucketSlots;
}

// Stores a copy of the fingerprint in one of its buckets, which may be given in either order. If
// kMaxKicks kicks make no room, returns false and leaves the table unchanged.
bool cuckoo_add(const Geometry &geometry, std::uint8_t *table, const CuckooPlace &place);

// Adds hashes one after the other and stops at the first that finds no room. Returns the number of
// hashes stored, which is `count` if all found room. Ascending order is fastest, because it is the
// order of the first buckets.
std::size_t cuckoo_add_many(const Geometry &geometry, std::uint8_t *table,
                            const std::uint64_t *hashes, std::size_t count);

// Removes one copy of a hash's fingerprint. If there is none, returns false and leaves the table
// unchanged.
bool cuckoo_remove(const Geometry &geometry, std::uint8_t *table, std::uint64_t hash);

// Adds the fingerprints in `count` buckets, from bucket `first` on, of another table of the same
// geometry. False if kicks make no room for one of them. The table cannot be used any further then.
bool cuckoo_unite(const Geometry &geometry, std::uint8_t *table, const std::uint8_t *other,
                  std::uint32_t first, std::uint32_t count);

// The number of kicks since the table was made. It stops at 2^32 - 1.
std::uint32_t cuckoo_kicks(const std::uint8_t *table);

// The number of fingerprints in the table.
std::uint64_t cuckoo_stored(const Geometry &geometry, const std::uint8_t *table,
                            CheckInterrupts check_interrupts = check_nothing);

// True if the fingerprints of all buckets are in descending order and the bits after the last
// bucket are 0. Sets `stored` to the number of fingerprints.
bool check_buckets(const Geometry &geometry, const std::uint8_t *table, std::uint64_t *stored,
                   CheckInterrupts check_interrupts = check_nothing);

// The false positive rate of a table with `stored` fingerprints: 1 - (1 - 1/(2^f - 1))^(8 load).
double cuckoo_rate(const Geometry &geometry, std::uint64_t stored);

// The geometry for `expected` values (at least 1) at a rate within kMinRate ... kMaxRate. A table
// of 250 or more buckets has a load of 95 %. The loads of smaller tables vary more, so these have
// ceil(expected / 3.4) + 1 buckets. If fingerprints of 32 bits are too short for the rate, the
// number of buckets is doubled. False if the table would exceed kMaxBits.
bool size_cuckoo(std::uint64_t expected, double rate, Geometry *geometry);

} // namespace bloomfilter
