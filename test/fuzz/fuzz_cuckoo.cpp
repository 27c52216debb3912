// Fuzzes cuckoo filters. If the input is a filter, validate() refuses it, or all functions can use
// it. If the input is a script, it changes a small table and a multiset of values in the same way.
// Both must always hold the same values.
//
// The first byte of a filter is its format's version. Any other first byte begins a script: first
// the table's properties, then a byte for each step. Each step checks only its own value. At the
// end of a script, all values are checked. An addition that finds no room takes as long as a
// thousand others, so a script ends with it. If an addition cannot find room, only one script in
// sixteen tries it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/cuckoo.hpp"
#include "core/format.hpp"
#include "unit/support.hpp"

using namespace bloomfilter;

namespace {

void require(bool condition) {
  if (!condition)
    std::abort();
}

using Bytes = std::vector<std::uint8_t>;

void require_sound(const Geometry &geometry, const Bytes &table, std::uint64_t stored) {
  std::uint64_t found;
  require(check_buckets(geometry, table.data(), &found) && found == stored);
  require(cuckoo_stored(geometry, table.data()) == stored);
}

int copies_by_buckets(const Geometry &geometry, const Bytes &table, const CuckooPlace &place) {
  int copies = 0;
  for (int i = 0; i < (place.bucket[0] == place.bucket[1] ? 1 : 2); i++) {
    const BucketSpan span = bucket_span(geometry, place.bucket[i]);
    const Bytes bytes(table.begin() + static_cast<std::ptrdiff_t>(span.offset),
                      table.begin() + static_cast<std::ptrdiff_t>(span.offset + span.length));
    copies += count_in_bucket(geometry, bytes.data(), span, place.fingerprint);
  }
  return copies;
}

// Adds a hash and removes it again if there is room. If there is no room, nothing changes.
void add_and_remove(const Geometry &geometry, Bytes &table, std::uint64_t hash,
                    std::uint64_t stored) {
  const Bytes before = table;
  if (!cuckoo_add(geometry, table.data(), cuckoo_place(geometry, hash))) {
    require(table == before);
    return;
  }
  require(cuckoo_copies(geometry, table.data(), hash) ==
          cuckoo_copies(geometry, before.data(), hash) + 1);
  require(cuckoo_kicks(table.data()) >= cuckoo_kicks(before.data()));
  require_sound(geometry, table, stored + 1);
  require(cuckoo_remove(geometry, table.data(), hash));
  require_sound(geometry, table, stored);
}

void use(const Geometry &geometry, const std::uint8_t *stored_table) {
  Bytes table(stored_table, stored_table + geometry.bytes());
  std::uint64_t stored = cuckoo_stored(geometry, table.data());
  const std::uint64_t slots = std::uint64_t{geometry.units} * kBucketSlots;
  require(stored <= slots);
  const double rate = cuckoo_rate(geometry, stored);
  require(rate >= 0 && rate <= 1);

  // Both ends of the table, and one hash somewhere between.
  const std::uint64_t hashes[] = {0, ~0ULL, hash_bytes(table.data(), table.size(), 0)};
  for (const std::uint64_t hash : hashes) {
    const CuckooPlace place = cuckoo_place(geometry, hash);
    const int copies = cuckoo_copies(geometry, table.data(), hash);
    require(copies == copies_by_buckets(geometry, table, place));
    require(copies <= cuckoo_max_copies(place));
    require(cuckoo_contains(geometry, table.data(), hash) == (copies > 0));
    if (stored < slots || hash == hashes[2])
      add_and_remove(geometry, table, hash, stored);
    if (cuckoo_remove(geometry, table.data(), hash)) {
      require(cuckoo_copies(geometry, table.data(), hash) == copies - 1);
      stored--;
    } else {
      require(copies == 0);
    }
    require_sound(geometry, table, stored);
  }
  const Bytes other = table;
  if (2 * stored <= slots &&
      cuckoo_unite(geometry, table.data(), other.data(), 0, geometry.units)) {
    require_sound(geometry, table, 2 * stored);
    for (const std::uint64_t hash : hashes)
      require(cuckoo_copies(geometry, table.data(), hash) ==
              2 * cuckoo_copies(geometry, other.data(), hash));
  }
}

// A table of a few buckets, and a multiset that follows the same script.
class Script {
public:
  Script(const Geometry &geometry, std::uint64_t seed, bool even_if_crowded)
      : geometry_(geometry), table_(geometry.bytes()), even_if_crowded_(even_if_crowded) {
    Random random(seed);
    for (int value = 0; value < kValues; value++) {
      // In each group of three, the second value has the fingerprint of the first. The third value
      // has the first bucket of the first.
      const std::uint64_t before = value % 3 == 0 ? 0 : hashes_[value - value % 3];
      const std::uint64_t same = value % 3 == 0 ? 0 : value % 3 == 1 ? kLowHalf : ~kLowHalf;
      hashes_[value] = (before & same) | (random.next() & ~same);
      places_[value] = cuckoo_place(geometry, hashes_[value]);
      alike_[value] = value;
      for (int i = value; i-- > 0;)
        if (look_alike(places_[i], places_[value]))
          alike_[value] = i;
    }
  }

  // The lower half of a step chooses a value. The upper half chooses what to do with it. Returns
  // false if it found no room.
  bool step(unsigned step) {
    const int value = static_cast<int>(step % kValues);
    int &held = copies_[alike_[value]];
    if (step / 64 == 0) {
      require(cuckoo_remove(geometry_, table_.data(), hashes_[value]) == (held > 0));
      stored_ -= held > 0;
      held -= held > 0;
    } else if (even_if_crowded_ || !is_crowded(places_[value])) {
      // The other bucket is as good a place as the first.
      CuckooPlace place = places_[value];
      if (step & 16)
        std::swap(place.bucket[0], place.bucket[1]);
      const Bytes before = table_;
      if (!cuckoo_add(geometry_, table_.data(), place)) {
        require(table_ == before);
        return false;
      }
      require(cuckoo_kicks(table_.data()) >= cuckoo_kicks(before.data()));
      held++;
      stored_++;
    }
    require(held <= cuckoo_max_copies(places_[value]));
    require(cuckoo_copies(geometry_, table_.data(), hashes_[value]) == held);
    return true;
  }

  void end() const {
    for (int value = 0; value < kValues; value++) {
      const int held = copies_[alike_[value]];
      require(cuckoo_copies(geometry_, table_.data(), hashes_[value]) == held);
      require(cuckoo_contains(geometry_, table_.data(), hashes_[value]) == (held > 0));
    }
    require_sound(geometry_, table_, stored_);
  }

private:
  static constexpr int kValues = 16;
  static constexpr std::uint64_t kLowHalf = ~0U;

  static bool look_alike(const CuckooPlace &a, const CuckooPlace &b) {
    return a.fingerprint == b.fingerprint &&
           (a.bucket[0] == b.bucket[0] || a.bucket[0] == b.bucket[1]);
  }

  static unsigned buckets_of(const CuckooPlace &place) {
    return 1U << place.bucket[0] | 1U << place.bucket[1];
  }

  // True if all buckets that kicks can reach from a place are full.
  bool is_crowded(const CuckooPlace &place) const {
    unsigned reached = buckets_of(place);
    for (unsigned seen = 0; seen != reached;) {
      const auto bucket = static_cast<std::uint32_t>(__builtin_ctz(reached & ~seen));
      const BucketSpan span = bucket_span(geometry_, bucket);
      const std::uint8_t *bytes = table_.data() + span.offset;
      if (count_in_bucket(geometry_, bytes, span, 0) > 0)
        return false;
      seen |= 1U << bucket;
      for (int value = 0; value < kValues; value++)
        if (copies_[value] > 0 && (buckets_of(places_[value]) >> bucket & 1) != 0 &&
            count_in_bucket(geometry_, bytes, span, places_[value].fingerprint) > 0)
          reached |= buckets_of(places_[value]);
    }
    return true;
  }

  Geometry geometry_;
  Bytes table_;
  bool even_if_crowded_;
  std::uint64_t stored_ = 0;
  std::uint64_t hashes_[kValues];
  CuckooPlace places_[kValues];
  int alike_[kValues];       // the first value that looks the same
  int copies_[kValues] = {}; // the number of stored values that look the same
};

void run(const std::uint8_t *script, std::size_t length) {
  constexpr std::size_t kMaxSteps = 32;
  if (length < 2)
    return;
  const int bits =
      kMinFingerprintBits + script[0] % (kMaxFingerprintBits - kMinFingerprintBits + 1);
  const std::uint32_t buckets = script[1] % 8 + kMinBuckets;
  // A hash decides this. If one byte decided it, mutations would gather around that byte.
  const bool even_if_crowded = hash_bytes(script, length, 0) % 16 == 0;
  Script steps({Layout::cuckoo, static_cast<std::uint8_t>(bits), buckets}, script[1] / 8,
               even_if_crowded);
  for (std::size_t i = 2; i < std::min(length, 2 + kMaxSteps); i++)
    if (!steps.step(script[i]))
      break;
  steps.end();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t length) {
  if (length > 0 && bytes[0] != kFormatVersion) {
    run(bytes, length);
    return 0;
  }
  Header header;
  const Finding finding = validate(bytes, length, &header);
  if (finding.ok() && check_kind(header, Kind::cuckoo).ok())
    use(header.geometry, bytes + kHeaderBytes);
  return 0;
}
