// Compares counting filters with plain arrays of counters: they must have the same bytes and give
// the same answers.

#include "core/counting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/bitmap.hpp"
#include "core/format.hpp"
#include "core/sizing.hpp"
#include "core/structure.hpp"
#include "unit/support.hpp"

namespace bloomfilter {
namespace {

// counting_contains() with every kernel. All must give the same answer.
bool counting_contains(const Geometry &geometry, const std::uint8_t *counters, std::uint64_t hash) {
  const bool answer = kScalarKernel.counting_contains(geometry, counters, hash);
  for (const Kernel *kernel : all_kernels())
    EXPECT_EQ(kernel->counting_contains(geometry, counters, hash), answer) << kernel->name;
  return answer;
}

using Bytes = std::vector<std::uint8_t>;
using Hashes = std::vector<std::uint64_t>;

Geometry in_lines(int k, std::uint32_t units) {
  return {Layout::counting_lines, static_cast<std::uint8_t>(k), units};
}
Geometry in_pages(int k, std::uint32_t units) {
  return {Layout::counting_pages, static_cast<std::uint8_t>(k), units};
}

std::vector<Geometry> all_geometries(std::uint32_t units) {
  std::vector<Geometry> geometries;
  for (int k = 1; k <= kMaxK; k++)
    geometries.push_back(in_lines(k, units));
  for (int k = 2; k <= kMaxK; k += 2)
    geometries.push_back(in_pages(k, units));
  return geometries;
}

std::string describe(const Geometry &geometry) {
  return (geometry.layout == Layout::counting_lines ? "lines, k " : "pages, k ") +
         std::to_string(geometry.k) + ", units " + std::to_string(geometry.units);
}

// The numbers of a hash's counters, each once. By the specification, these are the numbers of a
// bloomfilter's bits.
std::set<std::uint64_t> specified_counters(const Geometry &geometry, std::uint64_t hash) {
  const bool lines = geometry.layout == Layout::counting_lines;
  const auto bits =
      specified_bits({lines ? Layout::lines : Layout::pages, geometry.k, geometry.units}, hash);
  return {bits.begin(), bits.end()};
}

// The position of bit `bit` of a counter, from the start of the counters.
std::uint64_t place_of(std::uint64_t number, int bit) {
  return number / 512 * 2048 + static_cast<std::uint64_t>(bit) * 512 + number % 512;
}

unsigned counter_at(const Bytes &counters, std::uint64_t number) {
  unsigned counter = 0;
  for (int bit = 0; bit < 4; bit++)
    counter |= static_cast<unsigned>(bit_at(counters.data(), place_of(number, bit))) << bit;
  return counter;
}

void set_counter(Bytes &counters, std::uint64_t number, unsigned counter) {
  for (int bit = 0; bit < 4; bit++)
    if (counter >> bit & 1)
      set_bit(counters.data(), place_of(number, bit));
    else
      clear_bit(counters.data(), place_of(number, bit));
}

// A filter that is written from the specification alone.
class Model {
public:
  explicit Model(const Geometry &geometry) : geometry_(geometry), counters_(geometry.bits() / 4) {}

  void add(std::uint64_t hash) {
    for (const std::uint64_t number : specified_counters(geometry_, hash))
      counters_[number] = std::min(counters_[number] + 1, 15U);
  }
  void remove(std::uint64_t hash) {
    for (const std::uint64_t number : specified_counters(geometry_, hash))
      if (counters_[number] < 15)
        counters_[number]--;
  }
  void unite(const Model &other) {
    for (std::size_t i = 0; i < counters_.size(); i++)
      counters_[i] = std::min(counters_[i] + other.counters_[i], 15U);
  }
  unsigned multiplicity(std::uint64_t hash) const {
    unsigned least = 15;
    for (const std::uint64_t number : specified_counters(geometry_, hash))
      least = std::min(least, counters_[number]);
    return least;
  }
  std::uint64_t full() const {
    return static_cast<std::uint64_t>(std::count(counters_.begin(), counters_.end(), 15U));
  }
  Bytes bytes() const {
    Bytes bytes(geometry_.bytes());
    for (std::size_t i = 0; i < counters_.size(); i++)
      set_counter(bytes, i, counters_[i]);
    return bytes;
  }

private:
  Geometry geometry_;
  std::vector<unsigned> counters_;
};

// Empty counters at an offset, with guard bytes before them. The allocation ends with the counters,
// and AddressSanitizer watches its end.
class Filter {
public:
  Filter(const Geometry &geometry, std::size_t offset)
      : memory_(offset + geometry.bytes(), 0xA5), offset_(offset) {
    std::fill(bytes(), bytes() + geometry.bytes(), std::uint8_t{0});
  }

  std::uint8_t *bytes() { return memory_.data() + offset_; }
  Bytes content() const {
    return {memory_.begin() + static_cast<std::ptrdiff_t>(offset_), memory_.end()};
  }
  bool untouched_outside() const {
    return std::all_of(memory_.data(), memory_.data() + offset_,
                       [](std::uint8_t byte) { return byte == 0xA5; });
  }

private:
  Bytes memory_;
  std::size_t offset_;
};

void add_to(const Geometry &geometry, Bytes &counters, const Hashes &hashes) {
  counting_add_many(geometry, counters.data(), hashes.data(), hashes.size());
}

Bytes filter_of(const Geometry &geometry, const Hashes &hashes) {
  Bytes counters(geometry.bytes());
  add_to(geometry, counters, hashes);
  return counters;
}

Bytes united(Bytes counters, const Bytes &other) {
  counting_unite(counters.data(), other.data(), counters.size());
  return counters;
}

Hashes some_hashes(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  Hashes hashes(count);
  for (std::uint64_t &hash : hashes)
    hash = random.next();
  return hashes;
}

// Adds and removes hashes at random. The hashes repeat. Among them are hashes of both ends of the
// filter, and low words with coinciding positions.
void compare_with_model(const Geometry &geometry, std::size_t offset) {
  SCOPED_TRACE(describe(geometry) + ", offset " + std::to_string(offset));
  Filter filter(geometry, offset);
  Model model(geometry);
  Random random(offset + geometry.k);
  Hashes pool = some_hashes(20 + geometry.units, offset);
  for (const std::uint64_t low : {0ULL, 1ULL << 31, 3ULL << 29, 0xFFFFFFFFULL})
    pool.insert(pool.end(), {low, 0x80000000'00000000 | low, 0xFFFFFFFF'00000000 | low});

  std::multiset<std::uint64_t> members;
  int wrong = 0;
  for (std::size_t i = 0; i < 4 * pool.size(); i++) {
    const std::uint64_t hash = pool[random.next() % pool.size()];
    const auto member = members.find(hash);
    if (member != members.end() && random.next() % 2 == 0) {
      counting_remove(geometry, filter.bytes(), hash);
      model.remove(hash);
      members.erase(member);
    } else {
      counting_add_many(geometry, filter.bytes(), &hash, 1);
      model.add(hash);
      members.insert(hash);
    }
    const std::uint64_t probed = pool[random.next() % pool.size()];
    wrong += counting_multiplicity(geometry, filter.bytes(), probed) != model.multiplicity(probed);
    wrong +=
        counting_contains(geometry, filter.bytes(), probed) != (model.multiplicity(probed) > 0);
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(filter.content(), model.bytes());
  EXPECT_TRUE(filter.untouched_outside());
}

TEST(Counting, AgreesAtEveryAlignment) {
  for (const Geometry &geometry : all_geometries(1))
    for (std::size_t offset = 0; offset < 64; offset += offset < 17 ? 1 : 5)
      compare_with_model(geometry, offset);
}

TEST(Counting, AgreesForManyUnits) {
  for (const std::uint32_t units : {2U, 3U, 64U, 300U})
    for (const Geometry &geometry : all_geometries(units))
      compare_with_model(geometry, 40); // after length word and header
}

TEST(Counting, AddsManyAsOneByOne) {
  for (const Geometry &geometry : all_geometries(7))
    for (const std::size_t count : {0, 1, 2, 15, 16, 17, 31, 32, 33, 200}) {
      SCOPED_TRACE(describe(geometry) + ", count " + std::to_string(count));
      const Hashes hashes = some_hashes(count, count);
      Model model(geometry);
      for (const std::uint64_t hash : hashes)
        model.add(hash);
      EXPECT_EQ(filter_of(geometry, hashes), model.bytes());
    }
}

// A hash is absent if any of its counters is 0. Its multiplicity is its smallest counter.
TEST(Counting, AsksForEveryCounter) {
  Random random(4);
  for (const Geometry &geometry : all_geometries(3)) {
    SCOPED_TRACE(describe(geometry));
    for (int i = 0; i < 20; i++) {
      const std::uint64_t hash = random.next();
      Bytes counters(geometry.bytes(), 0xFF);
      EXPECT_EQ(counting_multiplicity(geometry, counters.data(), hash), 15U);
      for (const std::uint64_t number : specified_counters(geometry, hash)) {
        for (unsigned counter = 0; counter <= 15; counter++) {
          set_counter(counters, number, counter);
          EXPECT_EQ(counting_multiplicity(geometry, counters.data(), hash), counter);
          EXPECT_EQ(counting_contains(geometry, counters.data(), hash), counter > 0);
        }
      }
    }
  }
}

TEST(Counting, CoincidingPositionsCountOnce) {
  for (const Geometry &geometry : {in_lines(16, 2), in_pages(16, 2), in_lines(2, 1)})
    for (const std::uint64_t hash : {0ULL, 0xFFFFFFFFULL << 32, 1ULL << 31, 1ULL << 30}) {
      SCOPED_TRACE(describe(geometry) + ", hash " + std::to_string(hash));
      const auto numbers = specified_counters(geometry, hash);
      ASSERT_LT(numbers.size(), geometry.k);
      Bytes counters(geometry.bytes());
      for (unsigned times = 1; times <= 3; times++) {
        add_to(geometry, counters, {hash});
        for (const std::uint64_t number : numbers)
          EXPECT_EQ(counter_at(counters, number), times);
        EXPECT_EQ(counting_multiplicity(geometry, counters.data(), hash), times);
      }
      for (int times = 0; times < 3; times++)
        counting_remove(geometry, counters.data(), hash);
      EXPECT_EQ(counters, Bytes(geometry.bytes()));
    }
}

TEST(Counting, StaysAtFifteen) {
  for (const Geometry &geometry : {in_lines(7, 5), in_pages(12, 2)}) {
    SCOPED_TRACE(describe(geometry));
    const std::uint64_t hash = 0x123456789ABCDEF0;
    const Bytes full = filter_of(geometry, Hashes(15, hash));
    EXPECT_EQ(counting_multiplicity(geometry, full.data(), hash), 15U);
    EXPECT_EQ(filter_of(geometry, Hashes(16, hash)), full);
    EXPECT_EQ(filter_of(geometry, Hashes(1000, hash)), full);
    Bytes counters = full;
    for (int i = 0; i < 20; i++)
      counting_remove(geometry, counters.data(), hash);
    EXPECT_EQ(counters, full);

    // One counter of the hash is full; the others still count.
    counters = filter_of(geometry, Hashes(3, hash));
    const std::uint64_t number = *specified_counters(geometry, hash).begin();
    set_counter(counters, number, 15);
    counting_remove(geometry, counters.data(), hash);
    EXPECT_EQ(counter_at(counters, number), 15U);
    EXPECT_EQ(counting_multiplicity(geometry, counters.data(), hash), 2U);
    add_to(geometry, counters, {hash, hash});
    EXPECT_EQ(counter_at(counters, number), 15U);
    EXPECT_EQ(counting_multiplicity(geometry, counters.data(), hash), 4U);
  }
}

// If no counter became full, removals in any order restore the bytes.
TEST(Counting, RemovalRestoresTheBytes) {
  for (const Geometry &geometry : all_geometries(20)) {
    SCOPED_TRACE(describe(geometry));
    const Hashes first = some_hashes(200, 1);
    Hashes second = some_hashes(200, 2);
    second.insert(second.end(), first.begin(), first.begin() + 20);
    const Bytes before = filter_of(geometry, first);
    Bytes counters = before;
    add_to(geometry, counters, second);
    ASSERT_NE(counters, before);
    Bytes bitmap(geometry.bytes() / 4);
    ASSERT_EQ(counting_bits(counters.data(), counters.size(), bitmap.data()), 0U);
    for (const std::uint64_t hash : second)
      counting_remove(geometry, counters.data(), hash);
    EXPECT_EQ(counters, before);
    for (auto hash = first.rbegin(); hash != first.rend(); ++hash)
      counting_remove(geometry, counters.data(), *hash);
    EXPECT_EQ(counters, Bytes(geometry.bytes()));
  }
}

// Every sum of two counters, at every place of a counter line.
TEST(Counting, UnitesAnyTwoCounters) {
  for (unsigned shift = 0; shift < 256; shift++) {
    Bytes a(512), b(512), sum(512);
    for (unsigned i = 0; i < 1024; i++) {
      const unsigned left = (i + shift) % 16, right = (i + shift) / 16 % 16;
      set_counter(a, i, left);
      set_counter(b, i, right);
      set_counter(sum, i, std::min(left + right, 15U));
    }
    ASSERT_EQ(united(a, b), sum);
  }
}

TEST(Counting, UnionIsTheFilterOfAll) {
  for (const Geometry &geometry : all_geometries(6)) {
    SCOPED_TRACE(describe(geometry));
    // Many counters become full.
    Hashes hashes[3] = {some_hashes(300, 1), some_hashes(500, 2), some_hashes(100, 3)};
    hashes[1].insert(hashes[1].end(), hashes[0].begin(), hashes[0].begin() + 100);
    hashes[2].insert(hashes[2].end(), 20, hashes[2].front());
    Bytes parts[3];
    Hashes all;
    Model model(geometry);
    for (int i = 0; i < 3; i++) {
      parts[i] = filter_of(geometry, hashes[i]);
      all.insert(all.end(), hashes[i].begin(), hashes[i].end());
      Model part(geometry);
      for (const std::uint64_t hash : hashes[i])
        part.add(hash);
      model.unite(part);
    }
    const Bytes sum = united(united(parts[0], parts[1]), parts[2]);
    EXPECT_EQ(sum, model.bytes());
    EXPECT_EQ(sum, filter_of(geometry, all));
    EXPECT_EQ(united(parts[0], united(parts[1], parts[2])), sum);
    EXPECT_EQ(united(united(parts[2], parts[1]), parts[0]), sum);
    EXPECT_EQ(united(sum, Bytes(sum.size())), sum);

    Filter filter(geometry, 21);
    counting_unite(filter.bytes(), sum.data(), sum.size());
    EXPECT_EQ(filter.content(), sum);
    EXPECT_TRUE(filter.untouched_outside());
  }
}

TEST(Counting, BitsAreTheBloomFilters) {
  for (const std::uint32_t units : {1U, 9U})
    for (const Geometry &geometry : all_geometries(units)) {
      SCOPED_TRACE(describe(geometry));
      const Geometry plain = plain_geometry(geometry);
      EXPECT_EQ(plain.layout,
                geometry.layout == Layout::counting_lines ? Layout::lines : Layout::pages);
      EXPECT_TRUE(counting_geometry(plain) == geometry);
      ASSERT_EQ(plain.bytes() * 4, geometry.bytes());
      Hashes members = some_hashes(40 * units, units);
      members.insert(members.end(), 15, members.front());
      Hashes removed = some_hashes(10 * units, units + 1);
      Model model(geometry);
      Bytes counters(geometry.bytes());
      for (const Hashes &hashes : {members, removed}) {
        add_to(geometry, counters, hashes);
        for (const std::uint64_t hash : hashes)
          model.add(hash);
      }
      // If a hash met no full counter, its removal leaves no trace. The others remain.
      for (const std::uint64_t hash : removed) {
        bool leaves = true;
        for (const std::uint64_t number : specified_counters(geometry, hash))
          leaves &= counter_at(counters, number) < 15;
        if (leaves) {
          counting_remove(geometry, counters.data(), hash);
          model.remove(hash);
        } else {
          members.push_back(hash);
        }
      }
      Filter bits(plain, 3); // 3: an arbitrary alignment
      EXPECT_EQ(counting_bits(counters.data(), counters.size(), bits.bytes()), model.full());
      EXPECT_GE(model.full(), 1U);
      EXPECT_TRUE(bits.untouched_outside());
      for (const Kernel *kernel : all_kernels()) {
        SCOPED_TRACE(kernel->name);
        Bytes bitmap(plain.bytes());
        kernel->add_many(plain, bitmap.data(), members.data(), members.size());
        EXPECT_EQ(bits.content(), bitmap);
        int wrong = 0;
        for (const std::uint64_t hash : some_hashes(1000, 99))
          wrong += counting_contains(geometry, counters.data(), hash) !=
                   kernel->contains(plain, bitmap.data(), hash);
        EXPECT_EQ(wrong, 0);
      }
    }
}

// Every value of a counter, at every place of a counter line.
TEST(Counting, BitsOfAnyCounter) {
  for (unsigned shift = 0; shift < 16; shift++) {
    Bytes counters(512), expected(128), bitmap(128, 0x5A);
    for (unsigned i = 0; i < 1024; i++) {
      const unsigned counter = (i + shift) % 16;
      set_counter(counters, i, counter);
      if (counter > 0)
        set_bit(expected.data(), i);
    }
    EXPECT_EQ(counting_bits(counters.data(), counters.size(), bitmap.data()), 1024U / 16);
    EXPECT_EQ(bitmap, expected);
  }
}

TEST(Counting, HasABloomFiltersSize) {
  Random random(8);
  for (const double rate : {0.5, 0.1, 0.01, 0.001, 1e-4, 1e-6, 1e-9})
    for (std::uint64_t expected : {1ULL, 2ULL, 100ULL, 12345ULL, 1000000ULL, 10000000ULL}) {
      expected += random.next() % (expected + 1);
      Geometry plain, counting;
      ASSERT_TRUE(size_for_capacity(expected, rate, &plain));
      ASSERT_TRUE(size_counting(expected, rate, &counting));
      EXPECT_EQ(counting.layout,
                plain.layout == Layout::lines ? Layout::counting_lines : Layout::counting_pages);
      EXPECT_EQ(counting.k, plain.k);
      EXPECT_EQ(counting.units, plain.units);
      EXPECT_EQ(counting.bits(), 4 * plain.bits());
      Geometry same;
      ASSERT_TRUE(size_for(Layout::counting_lines, expected, rate, &same));
      EXPECT_TRUE(same == counting);
    }
}

// 2^30 counters of four bits have kMaxBits bits.
TEST(Counting, RefusesMoreThanTheCap) {
  for (const double rate : {0.5, 0.01, 1e-4, 1e-9}) {
    std::uint64_t fits = 1, too_many = kMaxBits;
    while (too_many - fits > 1) {
      const std::uint64_t middle = (fits + too_many) / 2;
      Geometry geometry;
      (size_counting(middle, rate, &geometry) ? fits : too_many) = middle;
    }
    Geometry geometry = in_lines(3, 42), plain;
    EXPECT_FALSE(size_counting(too_many, rate, &geometry));
    EXPECT_FALSE(size_counting(kMaxBits + 1, rate, &geometry));
    EXPECT_TRUE(geometry == in_lines(3, 42)); // unchanged
    ASSERT_TRUE(size_for_capacity(too_many, rate, &plain));
    EXPECT_GT(plain.bits(), 1ULL << 30);
    ASSERT_TRUE(size_counting(fits, rate, &geometry));
    EXPECT_EQ(geometry.bits(), kMaxBits); // up to the cap itself
    EXPECT_EQ(geometry.bytes(), kMaxBits / 8);
  }
}

// The hashes i * 0x0123456789ABCDEF for i = 1 ... 20, each added i times and removed once. The
// bytes were written by a program that shares no code with the extension.
TEST(Counting, GoldenBytes) {
  const auto golden = [](const Geometry &geometry) {
    Bytes counters(geometry.bytes());
    for (std::uint64_t i = 1; i <= 20; i++)
      add_to(geometry, counters, Hashes(i, i * 0x0123456789ABCDEF));
    for (std::uint64_t i = 1; i <= 20; i++)
      counting_remove(geometry, counters.data(), i * 0x0123456789ABCDEF);
    return counters;
  };
  const auto digest = [&](const Geometry &geometry) {
    const Bytes bytes = golden(geometry);
    return hash_bytes(bytes.data(), bytes.size(), 0);
  };

  std::string hex;
  for (const std::uint8_t byte : golden(in_lines(6, 1)))
    hex += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
  EXPECT_EQ(hex, "4421090603040014000400000208080200100008081042000800482030000008"
                 "1a526160610000804010c000000a0100804001c1420120009002040408020000"
                 "4421090603040806000400000008002200100408081842001801482020000000"
                 "02400060410000800010c00000080100d00882c1420120001003040000020200"
                 "04600104034400160000000000080c2800152008081042000000402020001008"
                 "02524060600000800010800000080100808801c1420100001002040008020200"
                 "0640080603440804000400010008080a00502808081042001000402030000008"
                 "02406160410000804010c0080000010000c082c1020100011003040008020000");
  EXPECT_EQ(digest(in_lines(16, 5)), 0xB45B305463B3A656);
  EXPECT_EQ(digest(in_lines(1, 300)), 0x21D0C7456486B4B6);
  EXPECT_EQ(digest(in_pages(12, 3)), 0x48567ADD80AAC900);
  EXPECT_EQ(digest(in_pages(2, 1)), 0x5C09CCFFB249195D);
}

// A million random changes of very small filters. Counters become full in the second half.
TEST(Counting, LosesNoMember) {
  constexpr int kSteps = 1000000 / SAMPLE_DIVISOR;
  for (const Geometry &geometry : {in_lines(5, 2), in_pages(6, 1)}) {
    SCOPED_TRACE(describe(geometry));
    Random random(9);
    const Hashes pool = some_hashes(600, 10);
    Bytes counters(geometry.bytes());
    Model model(geometry);
    std::multiset<std::uint64_t> members;
    int lost = 0;
    for (int step = 0; step < kSteps / 2; step++) {
      const std::uint64_t hash = pool[random.next() % pool.size()];
      const auto member = members.find(hash);
      const bool growing = step / 5000 % 2 == 0;
      if (step % 1000 == 999) {
        const Hashes others(pool.begin(), pool.begin() + static_cast<std::ptrdiff_t>(hash % 4));
        counting_unite(counters.data(), filter_of(geometry, others).data(), counters.size());
        for (const std::uint64_t other : others)
          model.add(other);
        members.insert(others.begin(), others.end());
      } else if (member != members.end() && (!growing || random.next() % 4 == 0)) {
        counting_remove(geometry, counters.data(), hash);
        model.remove(hash);
        members.erase(member);
      } else if (members.size() < (step < kSteps / 4 ? 100 : 2000)) {
        add_to(geometry, counters, {hash});
        model.add(hash);
        members.insert(hash);
      }
      const auto next = members.lower_bound(hash);
      lost += next != members.end() && !counting_contains(geometry, counters.data(), *next);
      if (step % 1000 == 0) {
        for (const std::uint64_t each : members)
          lost += counting_multiplicity(geometry, counters.data(), each) <
                  std::min<std::size_t>(members.count(each), 15);
        ASSERT_EQ(counters, model.bytes());
      }
      ASSERT_EQ(lost, 0) << "step " << step;
    }
    EXPECT_GT(model.full(), 0U);
  }
}

Header header_of(const Geometry &geometry) {
  return {geometry, {Family::integer, 0}, 7, {100, 0.01}};
}

Bytes payload_of(const Header &header, std::uint8_t fill) {
  Bytes payload(header.payload_bytes(), fill);
  write_header(payload.data(), header);
  return payload;
}

Finding validate(const Bytes &payload) {
  Header header;
  return bloomfilter::validate(payload.data(), payload.size(), &header);
}

TEST(CountingFormat, AcceptsAndReadsBack) {
  for (const std::uint32_t units : {1U, 3U})
    for (const Geometry &geometry : all_geometries(units))
      for (const std::uint8_t flags : {std::uint8_t{0}, kFlagSelfSized})
        for (const std::uint8_t fill : {0x00, 0x5A, 0xFF}) {
          SCOPED_TRACE(describe(geometry));
          Header header = header_of(geometry), read;
          header.flags = flags;
          const Bytes payload = payload_of(header, fill);
          ASSERT_EQ(payload.size(),
                    36 + std::size_t{units} *
                             (geometry.layout == Layout::counting_lines ? 256 : 2048));
          EXPECT_EQ(payload[1], geometry.layout == Layout::counting_lines ? 0x11 : 0x12);
          ASSERT_TRUE(bloomfilter::validate(payload.data(), payload.size(), &read).ok());
          EXPECT_TRUE(read.geometry == geometry);
          EXPECT_EQ(read.flags, flags);
          EXPECT_TRUE(check_kind(read, Kind::counting).ok());
          for (const Kind kind : {Kind::bloom, Kind::cuckoo}) {
            const Finding finding = check_kind(read, kind);
            EXPECT_EQ(finding.text, Fault::other_kind);
            EXPECT_EQ(finding.found, static_cast<std::uint64_t>(Kind::counting));
            EXPECT_EQ(finding.wanted, static_cast<std::uint64_t>(kind));
          }
          EXPECT_EQ(profile_of(geometry.layout), Layout::counting_lines);
        }
  Header plain = header_of({Layout::lines, 6, 1});
  EXPECT_EQ(check_kind(plain, Kind::counting).text, Fault::other_kind);
}

TEST(CountingFormat, ParsesTheLargestFilter) {
  for (const Geometry &geometry : {in_lines(6, 1U << 21), in_pages(12, 1U << 18)}) {
    Header header = header_of(geometry), read;
    std::uint8_t bytes[kHeaderBytes];
    write_header(bytes, header);
    EXPECT_EQ(header.payload_bytes(), kHeaderBytes + kMaxBits / 8);
    EXPECT_TRUE(parse(bytes, header.payload_bytes(), &read).ok());
    header.geometry.units++;
    write_header(bytes, header);
    EXPECT_EQ(parse(bytes, header.payload_bytes(), &read).text, Fault::bad_units);
  }
}

TEST(CountingFormat, RefusesDamage) {
  const Header lines = header_of(in_lines(7, 3)), pages = header_of(in_pages(8, 2));
  const struct {
    const char *name;
    const Header &good;
    void (*damage)(Bytes &payload);
    const char *text;
    std::uint64_t found;
  } defects[] = {
      {"layout 0x10", lines, [](Bytes &b) { b[1] = 0x10; }, Fault::unknown_layout, 0x10},
      {"layout 0x13", lines, [](Bytes &b) { b[1] = 0x13; }, Fault::unknown_layout, 0x13},
      {"k 0", lines, [](Bytes &b) { b[3] = 0; }, Fault::bad_k, 0},
      {"k 17", lines, [](Bytes &b) { b[3] = 17; }, Fault::bad_k, 17},
      {"odd k in pages", pages, [](Bytes &b) { b[3] = 7; }, Fault::bad_k, 7},
      {"k 18 in pages", pages, [](Bytes &b) { b[3] = 18; }, Fault::bad_k, 18},
      {"links", lines, [](Bytes &b) { b[32] = 0x01; }, Fault::unknown_flags, 0x01},
      {"links in pages", pages, [](Bytes &b) { b[32] = 0x01, b[3] = 0; }, Fault::unknown_flags,
       0x01},
      {"growing", lines, [](Bytes &b) { b[32] = 0x04; }, Fault::unknown_flags, 0x04},
      {"growing links", lines, [](Bytes &b) { b[32] = 0x05; }, Fault::unknown_flags, 0x05},
      {"intersection", lines, [](Bytes &b) { b[32] = 0x08; }, Fault::unknown_flags, 0x08},
      {"own intersection", pages, [](Bytes &b) { b[32] = 0x0A; }, Fault::unknown_flags, 0x0A},
      {"flag 16", lines, [](Bytes &b) { b[32] = 0x10; }, Fault::unknown_flags, 0x10},
      {"flag 128", lines, [](Bytes &b) { b[32] = 0x80; }, Fault::unknown_flags, 0x80},
      {"no units", lines, [](Bytes &b) { store(&b[28], 0U); }, Fault::bad_units, 0},
      {"a unit too many", lines, [](Bytes &b) { store(&b[28], 4U); }, Fault::wrong_length,
       36 + 768},
      {"a bloom filter's length", lines, [](Bytes &b) { b.resize(36 + 192); }, Fault::wrong_length,
       36 + 192},
      {"a byte too few", pages, [](Bytes &b) { b.pop_back(); }, Fault::wrong_length, 36 + 4095},
      {"a byte too many", pages, [](Bytes &b) { b.push_back(0); }, Fault::wrong_length, 36 + 4097},
      {"lines called pages", lines, [](Bytes &b) { b[1] = 0x12, b[3] = 8; }, Fault::wrong_length,
       36 + 768},
      {"byte strings", lines, [](Bytes &b) { b[2] = 26; }, Fault::bad_family, 26},
      {"capacity past the cap", lines, [](Bytes &b) { store(&b[12], kMaxBits + 1); },
       Fault::bad_capacity, kMaxBits + 1},
      {"rate without capacity", lines, [](Bytes &b) { store(&b[12], std::uint64_t{0}); },
       Fault::bad_capacity, 0},
      {"counters without family", lines, [](Bytes &b) { b[2] = 0; }, Fault::stray_bits, 768 * 2},
      {"first bit without family", lines,
       [](Bytes &b) { b[2] = 0, std::fill(b.begin() + 36, b.end(), 0), b[36] = 1; },
       Fault::stray_bits, 1},
      {"last bit without family", pages,
       [](Bytes &b) { b[2] = 0, std::fill(b.begin() + 36, b.end(), 0), b.back() = 0x80; },
       Fault::stray_bits, 1},
  };
  for (const auto &defect : defects) {
    SCOPED_TRACE(defect.name);
    Bytes payload = payload_of(defect.good, 0x11);
    ASSERT_TRUE(validate(payload).ok());
    defect.damage(payload);
    EXPECT_EQ(validate(payload).text, defect.text);
    EXPECT_EQ(validate(payload).found, defect.found);
  }
  Header empty = lines;
  empty.element_type.family = Family::none;
  EXPECT_TRUE(validate(payload_of(empty, 0)).ok());
}

// A chain consists only of bloom filters. The four bits for the layout in an entry could not name
// another kind anyway.
TEST(CountingFormat, IsNoLinkOfAChain) {
  Header header = header_of({Layout::counting_lines, 0, 0});
  header.flags = kFlagChain;
  header.link_count = 2;
  header.capacity = {};
  Bytes payload(kHeaderBytes + 2 * kLinkBytes + 2 * 64);
  write_header(payload.data(), header);
  for (int i = 0; i < 2; i++)
    write_link(payload.data(), i, {{Layout::lines, 6, 1}, kFlagSelfSized, {10, 0.01}});
  payload.back() = 1;
  EXPECT_EQ(validate(payload).text, Fault::unknown_flags);
}

} // namespace
} // namespace bloomfilter
