// Compares every kernel with the specification. It must give the same bytes and the same answers,
// and access nothing outside the bitmap.

#include "core/bitmap.hpp"
#include "core/kernel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "unit/support.hpp"

namespace bloomfilter {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kGuardBytes = 64;
constexpr std::uint8_t kGuard = 0xA5;

// An empty bitmap `offset` bytes after an aligned address, with guard bytes before it. It is
// followed by guard bytes, too, or by the end of the allocation, which AddressSanitizer watches.
class Bitmap {
public:
  Bitmap(const Geometry &geometry, std::size_t offset, bool guarded_end)
      : memory_(kGuardBytes + offset + geometry.bytes() + (guarded_end ? kGuardBytes : 0), kGuard),
        begin_(kGuardBytes + offset), end_(begin_ + geometry.bytes()) {
    std::fill(bytes(), bytes() + geometry.bytes(), std::uint8_t{0});
  }

  std::uint8_t *bytes() { return memory_.data() + begin_; }
  Bytes content() const { return {memory_.begin() + begin_, memory_.begin() + end_}; }

  bool untouched_outside() const {
    const auto is_guard = [](std::uint8_t byte) { return byte == kGuard; };
    return std::all_of(memory_.begin(), memory_.begin() + begin_, is_guard) &&
           std::all_of(memory_.begin() + end_, memory_.end(), is_guard);
  }

private:
  Bytes memory_;
  std::ptrdiff_t begin_, end_;
};

// A filter that is written from the specification alone.
class Model {
public:
  explicit Model(const Geometry &geometry) : geometry_(geometry), bytes_(geometry.bytes()) {}

  bool contains(std::uint64_t hash) const {
    const auto bits = specified_bits(geometry_, hash);
    return std::all_of(bits.begin(), bits.end(),
                       [this](std::uint64_t bit) { return bit_at(bytes_.data(), bit); });
  }
  void add(std::uint64_t hash) {
    for (const std::uint64_t bit : specified_bits(geometry_, hash))
      set_bit(bytes_.data(), bit);
  }
  const Bytes &bytes() const { return bytes_; }

private:
  Geometry geometry_;
  Bytes bytes_;
};

std::vector<Geometry> all_geometries(std::uint32_t units) {
  std::vector<Geometry> geometries;
  for (std::uint8_t k = 1; k <= kMaxK; k++)
    geometries.push_back({Layout::lines, k, units});
  for (std::uint8_t k = 2; k <= kMaxK; k += 2)
    geometries.push_back({Layout::pages, k, units});
  return geometries;
}

std::string describe(const Geometry &geometry) {
  return (geometry.layout == Layout::lines ? "lines, k " : "pages, k ") +
         std::to_string(geometry.k) + ", units " + std::to_string(geometry.units);
}

// Enough hashes to fill about half of the bits. Every fourth hash is a repetition.
std::vector<std::uint64_t> some_hashes(const Geometry &geometry, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint64_t> hashes(8 + geometry.bits() / geometry.k * 2 / 3);
  for (std::size_t i = 0; i < hashes.size(); i++)
    hashes[i] = i % 4 == 3 ? hashes[random.next() % i] : random.next();
  return hashes;
}

class EveryKernel : public testing::TestWithParam<const Kernel *> {
protected:
  const Kernel &kernel() const { return *GetParam(); }

  void compare_with_model(const Geometry &geometry, std::size_t offset, bool guarded_end) {
    SCOPED_TRACE(describe(geometry) + ", offset " + std::to_string(offset));
    Bitmap bitmap(geometry, offset, guarded_end);
    Model model(geometry);
    const auto hashes = some_hashes(geometry, offset);
    const HashTest contains = kernel().contains_for(geometry);
    int wrong_answers = 0, false_negatives = 0;
    for (const std::uint64_t hash : hashes) {
      const bool expected = model.contains(hash);
      wrong_answers += kernel().contains(geometry, bitmap.bytes(), hash) != expected;
      wrong_answers += contains(geometry, bitmap.bytes(), hash) != expected;
      add(kernel(), geometry, bitmap.bytes(), hash);
      model.add(hash);
    }
    for (const std::uint64_t hash : hashes)
      false_negatives += !kernel().contains(geometry, bitmap.bytes(), hash);
    EXPECT_EQ(wrong_answers, 0);
    EXPECT_EQ(false_negatives, 0);
    EXPECT_EQ(bitmap.content(), model.bytes());
    EXPECT_TRUE(bitmap.untouched_outside());
  }
};

TEST_P(EveryKernel, AgreesAtEveryAlignment) {
  for (const Geometry &geometry : all_geometries(1))
    for (std::size_t offset = 0; offset < kLineBytes; offset++) {
      compare_with_model(geometry, offset, true);
      compare_with_model(geometry, offset, false);
    }
}

TEST_P(EveryKernel, AgreesForManyUnits) {
  for (const std::uint32_t units : {2U, 3U, 64U, 100U})
    for (const Geometry &geometry : all_geometries(units))
      compare_with_model(geometry, 40, false); // 40: after length word and header
}

TEST_P(EveryKernel, ReachesTheEndsOfTheBitmap) {
  for (const Geometry &geometry : all_geometries(5)) {
    SCOPED_TRACE(describe(geometry));
    for (const std::uint64_t hash : {0ULL, ~0ULL}) {
      Bitmap bitmap(geometry, 0, true);
      Model model(geometry);
      add(kernel(), geometry, bitmap.bytes(), hash);
      model.add(hash);
      EXPECT_EQ(bitmap.content(), model.bytes());
      EXPECT_TRUE(bitmap.untouched_outside());
    }
  }
}

// A hash is absent if any of its bits is clear. Adding it again sets that bit.
TEST_P(EveryKernel, AsksForEveryBit) {
  Random random(3);
  for (const Geometry &geometry : all_geometries(3)) {
    SCOPED_TRACE(describe(geometry));
    for (int i = 0; i < 20; i++) {
      const std::uint64_t hash = random.next();
      Bytes bitmap(geometry.bytes(), 0xFF);
      for (const std::uint64_t bit : specified_bits(geometry, hash)) {
        clear_bit(bitmap.data(), bit);
        EXPECT_FALSE(kernel().contains(geometry, bitmap.data(), hash));
        EXPECT_FALSE(kernel().contains_for(geometry)(geometry, bitmap.data(), hash));
        add(kernel(), geometry, bitmap.data(), hash);
        EXPECT_TRUE(bit_at(bitmap.data(), bit));
        EXPECT_TRUE(kernel().contains(geometry, bitmap.data(), hash));
      }
    }
  }
}

// Counts around the number of hashes for which lines are prefetched.
constexpr std::size_t kCounts[] = {0, 1, 2, 63, 64, 65, 127, 128, 129, 256, 1000};

TEST_P(EveryKernel, AddsManyAsOneByOne) {
  for (const Geometry &geometry : all_geometries(64))
    for (const std::size_t count : kCounts) {
      SCOPED_TRACE(describe(geometry) + ", count " + std::to_string(count));
      const auto hashes = some_hashes(geometry, count);
      ASSERT_GE(hashes.size(), count);
      Bitmap bitmap(geometry, count % kLineBytes, true);
      Model model(geometry);
      kernel().add_many(geometry, bitmap.bytes(), hashes.data(), count);
      for (std::size_t i = 0; i < count; i++)
        model.add(hashes[i]);
      EXPECT_EQ(bitmap.content(), model.bytes());
      EXPECT_TRUE(bitmap.untouched_outside());
    }
}

TEST_P(EveryKernel, AsksManyAsOneByOne) {
  for (const Geometry &geometry : all_geometries(64)) {
    Bitmap bitmap(geometry, 40, false);
    const auto members = some_hashes(geometry, 1);
    kernel().add_many(geometry, bitmap.bytes(), members.data(), members.size() / 2);
    const Bytes before = bitmap.content();
    for (const std::size_t count : kCounts) {
      SCOPED_TRACE(describe(geometry) + ", count " + std::to_string(count));
      const std::uint64_t *asked = members.data() + members.size() - count; // few are members
      std::unique_ptr<bool[]> answers(new bool[count]);
      kernel().contains_many(geometry, bitmap.bytes(), asked, count, answers.get());
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < count; i++)
        wrong += answers[i] != kernel().contains(geometry, bitmap.bytes(), asked[i]);
      EXPECT_EQ(wrong, 0U);
    }
    EXPECT_EQ(bitmap.content(), before);
  }
}

// At every alignment, nothing outside the lines is written. Nothing outside is read either, because
// the memory ends there.
TEST_P(EveryKernel, CountsUnitesAndIntersectsLines) {
  Random random(4);
  for (std::size_t offset = 0; offset < kLineBytes; offset++)
    for (const std::uint32_t lines : {0U, 1U, 2U, 3U, 17U}) {
      SCOPED_TRACE(std::to_string(lines) + " lines at " + std::to_string(offset));
      const Geometry geometry = {Layout::lines, 1, lines};
      Bitmap bitmap(geometry, offset, lines % 2 == 0), other(geometry, 64 - offset, false);
      Bytes expected, expected_common;
      std::vector<std::uint16_t> expected_set(lines);
      for (std::size_t i = 0; i < lines * kLineBytes; i++) {
        // Some lines have no bits, and some have all bits.
        const auto line = static_cast<std::uint64_t>(i / kLineBytes % 3);
        bitmap.bytes()[i] = static_cast<std::uint8_t>(line == 2 ? 0xFF : line * random.next());
        other.bytes()[i] = static_cast<std::uint8_t>(random.next());
        for (int bit = 0; bit < 8; bit++)
          expected_set[i / kLineBytes] = static_cast<std::uint16_t>(expected_set[i / kLineBytes] +
                                                                    (bitmap.bytes()[i] >> bit & 1));
        expected.push_back(static_cast<std::uint8_t>(bitmap.bytes()[i] | other.bytes()[i]));
        expected_common.push_back(static_cast<std::uint8_t>(bitmap.bytes()[i] & other.bytes()[i]));
      }
      const Bytes other_before = other.content();
      std::vector<std::uint16_t> set(lines);
      kernel().count_bits(bitmap.bytes(), lines, set.data());
      EXPECT_EQ(set, expected_set);
      Bitmap common = bitmap;
      kernel().intersect(common.bytes(), other.bytes(), lines);
      EXPECT_EQ(common.content(), expected_common);
      EXPECT_TRUE(common.untouched_outside());
      kernel().unite(bitmap.bytes(), other.bytes(), lines);
      EXPECT_EQ(bitmap.content(), expected);
      EXPECT_EQ(other.content(), other_before);
      EXPECT_TRUE(bitmap.untouched_outside());
    }
}

INSTANTIATE_TEST_SUITE_P(Kernel, EveryKernel, testing::ValuesIn(all_kernels()),
                         [](const auto &info) { return std::string(info.param->name); });

TEST(Kernel, IsFoundByName) {
  for (const Kernel *kernel : all_kernels())
    EXPECT_EQ(find_kernel(kernel->name), kernel);
  EXPECT_EQ(find_kernel("scalar"), &kScalarKernel);
  EXPECT_EQ(find_kernel("abacus"), nullptr);
  EXPECT_EQ(find_kernel(""), nullptr);
}

TEST(Kernel, BestIsTheLastOfAll) {
  EXPECT_EQ(&best_kernel(), all_kernels().back());
}

} // namespace
} // namespace bloomfilter
