// Fuzzes counting filters. If the input is a filter, validate() refuses it, or all functions can
// use it. If the input is a script of additions, removals and unions, the filter must have the same
// counters after it as a plain array.
//
// The first byte of a filter is its format's version. Any other first byte begins a script. Each
// step of a script checks only its own hash. At the end, all counters are checked.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
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

const std::vector<const Kernel *> &kernels() {
  static const std::vector<const Kernel *> all = all_kernels();
  return all;
}

// counting_contains() with every kernel. All must give the same answer.
bool counting_contains(const Geometry &geometry, const std::uint8_t *counters, std::uint64_t hash) {
  const bool answer = kScalarKernel.counting_contains(geometry, counters, hash);
  for (const Kernel *kernel : kernels())
    require(kernel->counting_contains(geometry, counters, hash) == answer);
  return answer;
}

// The position of a counter's lowest bit, as core/counting.hpp describes it. Each further bit is
// one line further on.
std::size_t lowest_bit(std::size_t number) {
  return number / 512 * 2048 + number % 512;
}

Wide unpacked(const Bytes &counters) {
  Wide wide(2 * counters.size());
  for (std::size_t bit = 0; bit < 8 * counters.size(); bit++)
    if (bit_at(counters.data(), bit)) {
      std::uint16_t &counter = wide[bit / 2048 * 512 + bit % 512];
      counter = static_cast<std::uint16_t>(counter | 1U << bit % 2048 / 512);
    }
  return wide;
}

// The counters of a filter. A counter above 15 becomes 15.
Bytes packed(const Wide &wide) {
  Bytes counters(wide.size() / 2);
  for (std::size_t number = 0; number < wide.size(); number++)
    for (std::size_t bit = 0; bit < 4; bit++)
      if (std::min(unsigned{wide[number]}, kMaxCounter) >> bit & 1)
        set_bit(counters.data(), lowest_bit(number) + 512 * bit);
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
  for (const Kernel *kernel : kernels())
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

  // Both ends, coinciding positions, and one hash somewhere between.
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

// A hash that scripts add and remove, the number of times that it is in the filter, and its
// counters, each once.
struct Member {
  std::uint64_t hash;
  unsigned times = 0;
  std::vector<std::uint64_t> numbers;

  Member(const Geometry &geometry, std::uint64_t of)
      : hash(of), numbers(specified_bits(plain_geometry(geometry), of)) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  }
};

// A filter of one or two units, and an array of counters that follows the same script.
class Script {
public:
  Script(const Geometry &geometry, std::uint64_t seed)
      : geometry_(geometry), counters_(geometry.bytes()), model_(2 * geometry.bytes()) {
    Random random(seed);
    for (const std::uint64_t hash : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1} << 31})
      members_.emplace_back(geometry, hash); // both ends, and coinciding positions
    while (members_.size() < kMembers)
      members_.emplace_back(geometry, random.next());
  }

  // The lower half of a step chooses a hash. The upper half chooses what to do with it.
  void step(unsigned step) {
    constexpr unsigned kCopies[] = {1, 1, 2, 7};
    Member &member = members_[step % kMembers];
    const unsigned copies = kCopies[step / 64];
    if (step & 16 && member.times > 0) {
      counting_remove(geometry_, counters_.data(), member.hash);
      change(member, -1);
      member.times--;
    } else if (step & 32) {
      Bytes other(counters_.size());
      add(other.data(), member, copies);
      counting_unite(counters_.data(), other.data(), counters_.size());
    } else {
      add(counters_.data(), member, copies);
    }
    require(counting_multiplicity(geometry_, counters_.data(), member.hash) == least(member));
  }

  void end() const {
    require(counters_ == packed(model_));
    require(Plain(counters_).full ==
            static_cast<std::uint64_t>(std::count(model_.begin(), model_.end(), kMaxCounter)));
    for (const Member &member : members_)
      require(counting_contains(geometry_, counters_.data(), member.hash) == (least(member) > 0));
  }

private:
  static constexpr std::size_t kMembers = 8;

  void add(std::uint8_t *counters, Member &member, unsigned copies) {
    const std::uint64_t hashes[] = {member.hash, member.hash, member.hash, member.hash,
                                    member.hash, member.hash, member.hash};
    counting_add_many(geometry_, counters, hashes, copies);
    for (unsigned i = 0; i < copies; i++)
      change(member, 1);
    member.times += copies;
  }

  // Changes those counters of a hash that are not full.
  void change(const Member &member, int by) {
    for (const std::uint64_t number : member.numbers)
      if (model_[number] < 15)
        model_[number] = static_cast<std::uint16_t>(model_[number] + by);
  }

  unsigned least(const Member &member) const {
    unsigned least = kMaxCounter;
    for (const std::uint64_t number : member.numbers)
      least = std::min(least, unsigned{model_[number]});
    require(least >= std::min(member.times, kMaxCounter));
    return least;
  }

  Geometry geometry_;
  Bytes counters_;
  Wide model_;
  std::vector<Member> members_;
};

// The first two bytes choose a geometry. Each further byte is a step.
void run(const std::uint8_t *script, std::size_t length) {
  constexpr std::size_t kMaxSteps = 16;
  if (length < 2)
    return;
  const bool pages = script[0] % 4 == 3; // a quarter, because a page is eight lines
  const auto k = static_cast<std::uint8_t>(pages ? 2 + script[1] % 8 * 2 : 1 + script[1] % 16);
  const Geometry geometry = {pages ? Layout::counting_pages : Layout::counting_lines, k,
                             pages ? 1 : 1 + script[0] / 2U % 2};
  Script steps(geometry, script[0]);
  for (std::size_t i = 2; i < std::min(length, 2 + kMaxSteps); i++)
    steps.step(script[i]);
  steps.end();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t length) {
  if (length > 0 && bytes[0] != kFormatVersion) {
    run(bytes, length);
    return 0;
  }
  Header header;
  if (validate(bytes, length, &header).ok() && check_kind(header, Kind::counting).ok()) {
    require(length == kHeaderBytes + header.geometry.bytes());
    use(header.geometry, Bytes(bytes + kHeaderBytes, bytes + length));
  }
  return 0;
}
