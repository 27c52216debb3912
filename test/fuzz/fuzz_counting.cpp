// Whatever bytes arrive, validate() refuses them or they are a counting filter that can be used;
// and as a script of additions, removals and unions they leave what an array of counters would
// hold.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <vector>

#include "core/counting.hpp"
#include "core/format.hpp"
#include "unit/support.hpp"

using namespace bloomfilter;

namespace {

using Bytes = std::vector<std::uint8_t>;
using Wide = std::vector<std::uint16_t>;

void require(bool condition) {
  if (!condition)
    std::abort();
}

// With every kernel alike.
bool counting_contains(const Geometry &geometry, const std::uint8_t *counters, std::uint64_t hash) {
  const bool answer = kScalarKernel.counting_contains(geometry, counters, hash);
  for (const Kernel *kernel : all_kernels())
    require(kernel->counting_contains(geometry, counters, hash) == answer);
  return answer;
}

// The counters, one by one, as the comment of core/counting.hpp has them.
Wide unpacked(const Bytes &counters) {
  Wide wide(2 * counters.size());
  for (std::size_t i = 0; i < wide.size(); i++)
    for (std::size_t bit = 0; bit < 4; bit++)
      if (bit_at(counters.data(), i / 512 * 2048 + bit * 512 + i % 512))
        wide[i] = static_cast<std::uint16_t>(wide[i] | 1U << bit);
  return wide;
}

Bytes packed(const Wide &wide) {
  Bytes counters(wide.size() / 2);
  pack_counters(wide.data(), wide.size(), counters.data());
  return counters;
}

struct Plain {
  Bytes bitmap;
  std::uint64_t full;

  explicit Plain(const Bytes &counters) : bitmap(counters.size() / 4) {
    full = counting_bits(counters.data(), counters.size(), bitmap.data());
  }
};

void use_hash(const Geometry &geometry, const Bytes &original, std::uint64_t hash) {
  const Plain before(original);
  const unsigned times = counting_multiplicity(geometry, original.data(), hash);
  require(counting_contains(geometry, original.data(), hash) == (times > 0));
  for (const Kernel *kernel : all_kernels())
    require(kernel->contains(plain_geometry(geometry), before.bitmap.data(), hash) == (times > 0));

  Bytes counters = original;
  counting_add_many(geometry, counters.data(), &hash, 1);
  const Plain after(counters);
  require(counting_multiplicity(geometry, counters.data(), hash) ==
          std::min(times + 1, kMaxCounter));
  counting_remove(geometry, counters.data(), hash);
  require((counters == original) == (after.full == before.full));
}

void use(const Geometry &geometry, const Bytes &counters) {
  const Wide wide = unpacked(counters);
  require(packed(wide) == counters);
  const Plain plain(counters);
  require(plain.full == static_cast<std::uint64_t>(std::count(wide.begin(), wide.end(), 15)));
  for (std::size_t i = 0; i < wide.size(); i++)
    require(bit_at(plain.bitmap.data(), i) == (wide[i] > 0));

  // Both ends, positions that coincide, and somewhere between.
  for (const std::uint64_t hash : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1} << 31,
                                   std::uint64_t{hash_bytes(counters.data(), counters.size(), 0)}})
    use_hash(geometry, counters, hash);

  Bytes sum(counters.size());
  counting_unite(sum.data(), counters.data(), sum.size());
  require(sum == counters);
  counting_unite(sum.data(), counters.data(), sum.size());
  require(Plain(sum).bitmap == plain.bitmap);
  Wide twice = wide;
  for (std::uint16_t &counter : twice)
    counter = static_cast<std::uint16_t>(2 * counter);
  require(sum == packed(twice));
}

// The first two bytes choose a geometry, each of the others says what to do with which of 16
// hashes.
void run(const std::uint8_t *script, std::size_t length) {
  if (length < 2)
    return;
  const bool pages = script[0] % 2 != 0;
  const auto k = static_cast<std::uint8_t>(pages ? 2 + script[1] % 8 * 2 : 1 + script[1] % 16);
  const Geometry geometry = {pages ? Layout::counting_pages : Layout::counting_lines, k,
                             1 + script[0] / 2U % 3};
  std::uint64_t pool[16] = {0, ~0ULL, 1ULL << 31};
  Random random(script[0]);
  for (int i = 3; i < 16; i++)
    pool[i] = random.next();

  Bytes counters(geometry.bytes());
  Wide model(2 * counters.size());
  std::multiset<std::uint64_t> members;
  // To all counters of the hash that are not full.
  const auto change = [&](std::uint64_t hash, int by) {
    const auto bits = specified_bits(plain_geometry(geometry), hash);
    for (const std::uint64_t number : std::set<std::uint64_t>(bits.begin(), bits.end()))
      if (model[number] < 15)
        model[number] = static_cast<std::uint16_t>(model[number] + by);
  };
  for (std::size_t i = 2; i < std::min<std::size_t>(length, 200); i++) {
    const std::uint64_t hash = pool[script[i] % 16];
    const int more = script[i] / 64; // copies to add
    if (script[i] & 16 && members.count(hash) > 0) {
      counting_remove(geometry, counters.data(), hash);
      change(hash, -1);
      members.erase(members.find(hash));
    } else {
      const std::vector<std::uint64_t> added(static_cast<std::size_t>(1 + more), hash);
      if (script[i] & 32) {
        Bytes other(counters.size());
        counting_add_many(geometry, other.data(), added.data(), added.size());
        counting_unite(counters.data(), other.data(), counters.size());
      } else {
        counting_add_many(geometry, counters.data(), added.data(), added.size());
      }
      for (const std::uint64_t each : added)
        change(each, 1);
      members.insert(added.begin(), added.end());
    }
    const std::uint64_t asked = pool[i % 16];
    require(counting_multiplicity(geometry, counters.data(), asked) >=
            std::min<std::size_t>(members.count(asked), kMaxCounter));
  }
  require(counters == packed(model));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t length) {
  Header header;
  if (validate(bytes, length, &header).ok() && check_kind(header, Kind::counting).ok()) {
    require(length == kHeaderBytes + header.geometry.bytes());
    use(header.geometry, Bytes(bytes + kHeaderBytes, bytes + length));
  }
  run(bytes, length);
  return 0;
}
