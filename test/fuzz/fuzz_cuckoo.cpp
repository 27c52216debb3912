// Whatever bytes arrive as a cuckoo filter, validate() refuses them or all functions can use them;
// and whatever is done to a small one, it holds what a multiset of its values holds.
//
// A filter's first byte is its format's version; other bytes are a script: what the table is like,
// then a byte for each operation.

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

void use(const Geometry &geometry, const std::uint8_t *stored_table) {
  Bytes table(stored_table, stored_table + geometry.bytes());
  std::uint64_t stored = cuckoo_stored(geometry, table.data());
  require(stored <= std::uint64_t{geometry.units} * kBucketSlots);
  const double rate = cuckoo_rate(geometry, stored);
  require(rate >= 0 && rate <= 1);

  // Both ends of the table, and somewhere between.
  const std::uint64_t hashes[] = {0, ~0ULL, hash_bytes(table.data(), table.size(), 0)};
  for (const std::uint64_t hash : hashes) {
    const CuckooPlace place = cuckoo_place(geometry, hash);
    const int copies = cuckoo_copies(geometry, table.data(), hash);
    require(copies == copies_by_buckets(geometry, table, place));
    require(copies <= cuckoo_max_copies(place));
    require(cuckoo_contains(geometry, table.data(), hash) == (copies > 0));
    const Bytes before = table;
    if (cuckoo_add(geometry, table.data(), place)) {
      require(cuckoo_copies(geometry, table.data(), hash) == copies + 1);
      require(cuckoo_kicks(table.data()) >= cuckoo_kicks(before.data()));
      require_sound(geometry, table, stored + 1);
      require(cuckoo_remove(geometry, table.data(), hash));
    } else {
      require(table == before);
    }
    require_sound(geometry, table, stored);
    if (cuckoo_remove(geometry, table.data(), hash)) {
      require(cuckoo_copies(geometry, table.data(), hash) == copies - 1);
      stored--;
    } else {
      require(copies == 0);
    }
    require_sound(geometry, table, stored);
  }
  const Bytes other = table;
  if (cuckoo_merge(geometry, table.data(), other.data(), 0, geometry.units)) {
    require_sound(geometry, table, 2 * stored);
    for (const std::uint64_t hash : hashes)
      require(cuckoo_copies(geometry, table.data(), hash) ==
              2 * cuckoo_copies(geometry, other.data(), hash));
  }
}

void run(const std::uint8_t *script, std::size_t length) {
  if (length < 2)
    return;
  const int bits =
      kMinFingerprintBits + script[0] % (kMaxFingerprintBits - kMinFingerprintBits + 1);
  const std::uint32_t buckets = script[1] % 8 + kMinBuckets;
  const Geometry geometry = {Layout::cuckoo, static_cast<std::uint8_t>(bits), buckets};

  // Values that look alike count together.
  constexpr int kValues = 64;
  CuckooPlace places[kValues];
  std::uint64_t hashes[kValues];
  int alike[kValues], copies[kValues] = {};
  Random random(script[1] / 8);
  for (int value = 0; value < kValues; value++) {
    hashes[value] = random.next();
    places[value] = cuckoo_place(geometry, hashes[value]);
    alike[value] = value;
    for (int i = value; i-- > 0;)
      if (places[i].fingerprint == places[value].fingerprint &&
          (places[i].bucket[0] == places[value].bucket[0] ||
           places[i].bucket[0] == places[value].bucket[1]))
        alike[value] = i;
  }

  Bytes table(geometry.bytes());
  std::uint64_t stored = 0;
  int failed = 0;
  constexpr int kMaxFailed = 4; // they take their time
  for (std::size_t i = 2; i < length; i++) {
    const int value = script[i] % kValues;
    int &expected = copies[alike[value]];
    const Bytes before = table;
    if (script[i] / kValues == 0) {
      require(cuckoo_remove(geometry, table.data(), hashes[value]) == (expected > 0));
      stored -= expected > 0;
      expected -= expected > 0;
    } else {
      // The other bucket is as good a place as the first.
      CuckooPlace place = places[value];
      if (script[i] / kValues == 1)
        std::swap(place.bucket[0], place.bucket[1]);
      if (cuckoo_add(geometry, table.data(), place)) {
        expected++;
        stored++;
      } else {
        require(table == before);
        if (++failed == kMaxFailed)
          return;
      }
    }
    require(expected <= cuckoo_max_copies(places[value]));
    require_sound(geometry, table, stored);
    for (int other = 0; other < kValues; other++) {
      const int held = copies[alike[other]];
      require(cuckoo_copies(geometry, table.data(), hashes[other]) == held);
      require(cuckoo_contains(geometry, table.data(), hashes[other]) == (held > 0));
    }
  }
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
