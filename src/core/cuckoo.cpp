// See cuckoo.hpp.

#include "core/cuckoo.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/bytes.hpp"
#include "core/murmur3.hpp"

namespace bloomfilter {
namespace {

constexpr std::uint64_t kManyBuckets = 250;
constexpr std::uint32_t kBucketsBetweenChecks = 256 * 1024;
constexpr int kNarrowBits = 16; // a bucket of fingerprints of up to this length fits into 64 bits

__extension__ typedef unsigned __int128 Wide;

template <typename Word> Word load_word(const std::uint8_t *from) {
  if constexpr (sizeof(Word) == 8)
    return load<std::uint64_t>(from);
  else
    return Word{load<std::uint64_t>(from + 8)} << 64 | load<std::uint64_t>(from);
}

template <typename Word> void store_word(std::uint8_t *to, Word word) {
  store(to, static_cast<std::uint64_t>(word));
  if constexpr (sizeof(Word) == 16)
    store(to + 8, static_cast<std::uint64_t>(word >> 64));
}

std::uint32_t other_bucket(const Geometry &geometry, std::uint32_t bucket,
                           std::uint32_t fingerprint) {
  const auto sum = static_cast<std::uint32_t>(((mix64(fingerprint) >> 32) * geometry.units) >> 32);
  // No branch, because it would be mispredicted every other time.
  const std::uint32_t below = -static_cast<std::uint32_t>(sum < bucket);
  return sum - bucket + (geometry.units & below);
}

// Inline, because a probe does little more than this.
inline CuckooPlace place_of(const Geometry &geometry, std::uint64_t hash) {
  CuckooPlace place;
  const std::uint64_t fingerprints = (1ULL << geometry.fingerprint_bits()) - 1;
  place.fingerprint = static_cast<std::uint32_t>((first_word(hash) * fingerprints) >> 32) + 1;
  place.bucket[0] = static_cast<std::uint32_t>(((hash >> 32) * geometry.units) >> 32);
  place.bucket[1] = other_bucket(geometry, place.bucket[0], place.fingerprint);
  return place;
}

// The fingerprints of a bucket, in descending order. Operations on all four are written out,
// because -O2 does not unroll loops.
struct Slots {
  std::uint32_t slot[kBucketSlots];

  bool descend() const {
    return (slot[0] >= slot[1]) & (slot[1] >= slot[2]) & (slot[2] >= slot[3]);
  }
  int count(std::uint32_t fingerprint) const {
    return (slot[0] == fingerprint) + (slot[1] == fingerprint) + (slot[2] == fingerprint) +
           (slot[3] == fingerprint);
  }
  // Replaces one `from`, which must be there, by `to`. There are no branches, because they would be
  // mispredicted.
  void replace(std::uint32_t from, std::uint32_t to) {
    const std::uint32_t a = slot[0] > from ? slot[0] : slot[1];
    const std::uint32_t b = slot[1] > from ? slot[1] : slot[2];
    const std::uint32_t c = slot[2] > from ? slot[2] : slot[3];
    slot[0] = std::max(a, to);
    slot[1] = std::max(b, std::min(a, to));
    slot[2] = std::max(c, std::min(b, to));
    slot[3] = std::min(c, to);
  }
};
static_assert(kBucketSlots == 4, "Slots name all four");

// Reads and writes buckets through words that each hold a whole bucket. If a word would reach
// beyond the end of the table, it is read from an earlier offset instead. There is always such an
// offset: the number of kicks and two or more buckets together have at least the length of a word.
template <typename Word> class Buckets {
public:
  explicit Buckets(const Geometry &geometry)
      : bits_(geometry.fingerprint_bits()),
        last_(kKicksBytes + (std::size_t{geometry.units} * kBucketSlots * bits_ + 7) / 8 -
              sizeof(Word)) {}

  // A word with the bucket in its lower bits. The bits above belong to other buckets.
  Word read(const std::uint8_t *table, std::uint32_t bucket) const {
    const WordPlace place = find(bucket);
    return load_word<Word>(table + place.offset) >> place.shift;
  }

  void prefetch(const std::uint8_t *table, std::uint32_t bucket) const {
    __builtin_prefetch(table + find(bucket).offset);
  }

  Slots slots(Word word) const {
    const auto slot = [&](unsigned number) {
      return static_cast<std::uint32_t>(word >> number * bits_) & ~0U >> (32 - bits_);
    };
    return {{slot(0), slot(1), slot(2), slot(3)}};
  }

  void write(std::uint8_t *table, std::uint32_t bucket, const Slots &slots) const {
    const WordPlace place = find(bucket);
    const auto slot = [&](unsigned number) { return Word{slots.slot[number]} << number * bits_; };
    const Word all = ~Word{0} >> (8 * sizeof(Word) - kBucketSlots * bits_);
    const Word others = load_word<Word>(table + place.offset) & ~(all << place.shift);
    const Word written = slot(0) | slot(1) | slot(2) | slot(3);
    store_word<Word>(table + place.offset, others | written << place.shift);
  }

  // Not 0 if any slot holds the fingerprint. The difference between such a slot and the fingerprint
  // is 0. Subtracting 1 from the lowest difference of 0 borrows, which sets that slot's highest
  // bit.
  Word marks(Word word, std::uint32_t fingerprint) const {
    Word low = Word{1} | Word{1} << bits_;
    low |= low << 2 * bits_;
    const Word difference = word ^ low * fingerprint;
    return (difference - low) & ~difference & low << (bits_ - 1);
  }

  // Replaces one `from` in the bucket by `to`. False if the bucket has no `from`.
  bool exchange(std::uint8_t *table, std::uint32_t bucket, std::uint32_t from,
                std::uint32_t to) const {
    const Word word = read(table, bucket);
    if (marks(word, from) == 0)
      return false;
    Slots changed = slots(word);
    changed.replace(from, to);
    write(table, bucket, changed);
    return true;
  }

private:
  struct WordPlace {
    std::size_t offset;
    unsigned shift;
  };
  WordPlace find(std::uint32_t bucket) const {
    const std::size_t bit = 8 * kKicksBytes + std::size_t{bucket} * kBucketSlots * bits_;
    const std::size_t offset = std::min(bit / 8, last_);
    return {offset, static_cast<unsigned>(bit - 8 * offset)};
  }

  unsigned bits_;
  std::size_t last_; // the largest offset at which a whole word lies in the table
};

template <typename Use> auto with_buckets(const Geometry &geometry, Use use) {
  return geometry.fingerprint_bits() <= kNarrowBits ? use(Buckets<std::uint64_t>(geometry))
                                                    : use(Buckets<Wide>(geometry));
}

void count_kicks(std::uint8_t *table, std::uint32_t more) {
  const std::uint32_t kicks = cuckoo_kicks(table);
  store(table, kicks + std::min(more, ~kicks));
}

// Makes room for a fingerprint whose two buckets are full, by a random walk of kicks. The random
// numbers depend only on the fingerprint and its bucket, so every run makes the same kicks. If
// kMaxKicks kicks make no room, returns false and leaves the table unchanged.
template <typename Word>
bool kick(const Buckets<Word> &buckets, const Geometry &geometry, std::uint8_t *table,
          const CuckooPlace &place) {
  struct {
    std::uint32_t bucket, victim;
  } moves[kMaxKicks];
  std::uint64_t random = std::uint64_t{place.bucket[0]} << 32 | place.fingerprint;
  std::uint32_t fingerprint = place.fingerprint;
  std::uint32_t bucket = place.bucket[mix64(random) & 1];
  for (int i = 0; i < kMaxKicks; i++) {
    Slots slots = buckets.slots(buckets.read(table, bucket));
    // Prefer a victim other than a copy of the same fingerprint, if the bucket has one.
    auto s = static_cast<int>(mix64(++random) % kBucketSlots);
    for (int turns = 1; turns < kBucketSlots && slots.slot[s] == fingerprint; turns++)
      s = (s + 1) % kBucketSlots;
    const std::uint32_t victim = slots.slot[s];
    slots.replace(victim, fingerprint);
    buckets.write(table, bucket, slots);
    moves[i] = {bucket, victim};

    fingerprint = victim;
    bucket = other_bucket(geometry, bucket, victim);
    if (buckets.exchange(table, bucket, 0, fingerprint)) {
      count_kicks(table, static_cast<std::uint32_t>(i) + 1);
      return true;
    }
  }
  for (int i = kMaxKicks; i-- > 0;)
    buckets.exchange(table, moves[i].bucket, i == 0 ? place.fingerprint : moves[i - 1].victim,
                     moves[i].victim);
  return false;
}

template <typename Word>
bool add(const Buckets<Word> &buckets, const Geometry &geometry, std::uint8_t *table,
         const CuckooPlace &place) {
  bool same = true;
  for (const std::uint32_t bucket : place.bucket) {
    if (buckets.exchange(table, bucket, 0, place.fingerprint))
      return true;
    same =
        same && buckets.slots(buckets.read(table, bucket)).count(place.fingerprint) == kBucketSlots;
  }
  return !same && kick(buckets, geometry, table, place);
}

} // namespace

CuckooPlace cuckoo_place(const Geometry &geometry, std::uint64_t hash) {
  return place_of(geometry, hash);
}

BucketSpan bucket_span(const Geometry &geometry, std::uint32_t bucket) {
  const std::size_t bits = geometry.unit_bits();
  const std::size_t bit = bucket * bits;
  const std::size_t shift = bit % 8;
  return {kKicksBytes + bit / 8, (shift + bits + 7) / 8, static_cast<int>(shift)};
}

int count_in_bucket(const Geometry &geometry, const std::uint8_t *bytes, const BucketSpan &span,
                    std::uint32_t fingerprint) {
  std::uint8_t bucket[sizeof(Wide)] = {};
  std::memcpy(bucket, bytes, span.length);
  return with_buckets(geometry, [&](auto buckets) {
    return buckets.slots(load_word<Wide>(bucket) >> span.shift).count(fingerprint);
  });
}

bool cuckoo_contains(const Geometry &geometry, const std::uint8_t *table, std::uint64_t hash) {
  const CuckooPlace place = place_of(geometry, hash);
  return with_buckets(geometry, [&](auto buckets) {
    const auto first = buckets.read(table, place.bucket[0]);
    const auto second = buckets.read(table, place.bucket[1]);
    return (buckets.marks(first, place.fingerprint) | buckets.marks(second, place.fingerprint)) !=
           0;
  });
}

int cuckoo_copies(const Geometry &geometry, const std::uint8_t *table, std::uint64_t hash) {
  const CuckooPlace place = place_of(geometry, hash);
  return with_buckets(geometry, [&](auto buckets) {
    int copies = buckets.slots(buckets.read(table, place.bucket[0])).count(place.fingerprint);
    if (place.bucket[0] != place.bucket[1])
      copies += buckets.slots(buckets.read(table, place.bucket[1])).count(place.fingerprint);
    return copies;
  });
}

bool cuckoo_add(const Geometry &geometry, std::uint8_t *table, const CuckooPlace &place) {
  return with_buckets(geometry, [&](auto buckets) { return add(buckets, geometry, table, place); });
}

std::size_t cuckoo_add_many(const Geometry &geometry, std::uint8_t *table,
                            const std::uint64_t *hashes, std::size_t count) {
  constexpr std::size_t kPrefetchAhead = 8;
  return with_buckets(geometry, [&](auto buckets) {
    for (std::size_t i = 0; i < count; i++) {
      if (i + kPrefetchAhead < count)
        buckets.prefetch(table, place_of(geometry, hashes[i + kPrefetchAhead]).bucket[1]);
      if (!add(buckets, geometry, table, place_of(geometry, hashes[i])))
        return i;
    }
    return count;
  });
}

bool cuckoo_remove(const Geometry &geometry, std::uint8_t *table, std::uint64_t hash) {
  const CuckooPlace place = place_of(geometry, hash);
  return with_buckets(geometry, [&](auto buckets) {
    return buckets.exchange(table, place.bucket[0], place.fingerprint, 0) ||
           buckets.exchange(table, place.bucket[1], place.fingerprint, 0);
  });
}

bool cuckoo_unite(const Geometry &geometry, std::uint8_t *table, const std::uint8_t *other,
                  std::uint32_t first, std::uint32_t count) {
  return with_buckets(geometry, [&](auto buckets) {
    for (std::uint32_t bucket = first; bucket < first + count; bucket++)
      for (const std::uint32_t fingerprint : buckets.slots(buckets.read(other, bucket)).slot)
        if (fingerprint != 0 &&
            !add(buckets, geometry, table,
                 {fingerprint, {bucket, other_bucket(geometry, bucket, fingerprint)}}))
          return false;
    return true;
  });
}

std::uint32_t cuckoo_kicks(const std::uint8_t *table) {
  return load<std::uint32_t>(table);
}

bool check_buckets(const Geometry &geometry, const std::uint8_t *table, std::uint64_t *stored,
                   CheckInterrupts check_interrupts) {
  std::uint64_t count = 0;
  const bool sorted = with_buckets(geometry, [&](auto buckets) {
    bool all = true;
    for (std::uint32_t bucket = 0; bucket < geometry.units; bucket++) {
      if (bucket % kBucketsBetweenChecks == 0)
        check_interrupts();
      const Slots slots = buckets.slots(buckets.read(table, bucket));
      count += static_cast<unsigned>(kBucketSlots - slots.count(0));
      all &= slots.descend();
    }
    return all;
  });
  *stored = count;
  const auto used = static_cast<unsigned>(geometry.bits() % 8);
  return sorted && (used == 0 || table[geometry.bytes() - 1] >> used == 0);
}

std::uint64_t cuckoo_stored(const Geometry &geometry, const std::uint8_t *table,
                            CheckInterrupts check_interrupts) {
  std::uint64_t stored;
  check_buckets(geometry, table, &stored, check_interrupts);
  return stored;
}

double cuckoo_rate(const Geometry &geometry, std::uint64_t stored) {
  const double fingerprints = std::ldexp(1.0, geometry.fingerprint_bits()) - 1;
  // The mean number of filled slots in a value's two buckets.
  const double slots = 2.0 * static_cast<double>(stored) / geometry.units;
  return -std::expm1(slots * std::log1p(-1 / fingerprints));
}

bool size_cuckoo(std::uint64_t expected, double rate, Geometry *geometry) {
  if (expected > kMaxBits) // a value takes more than one bit
    return false;
  int bits = kMinFingerprintBits;
  while (bits < kMaxFingerprintBits && std::ldexp(rate, bits - 3) < 1)
    bits++;
  // 3.8 = 19/5 values per bucket; in small tables 3.4 = 17/5
  std::uint64_t buckets = (5 * expected + 18) / 19;
  if (buckets < kManyBuckets)
    buckets = (5 * expected + 16) / 17 + 1;
  if (std::ldexp(rate, bits - 3) < 1)
    buckets *= 2;
  if (buckets > kMaxBits / (kBucketSlots * static_cast<unsigned>(bits)))
    return false;
  *geometry = {Layout::cuckoo, static_cast<std::uint8_t>(bits),
               static_cast<std::uint32_t>(buckets)};
  return true;
}

} // namespace bloomfilter
