// Tests bitmaps of other systems: positions, folding, estimates and stored bytes.

#include "core/foreign/foreign.hpp"

#include <algorithm>
#include <cstring>

#include "core/bitmap.hpp"
#include "core/estimate.hpp"
#include "core/links.hpp"
#include "unit/foreign.hpp"

namespace bloomfilter {
namespace {

// --- Bitmaps ---

std::vector<Geometry> geometries(std::initializer_list<std::uint32_t> units) {
  std::vector<Geometry> all;
  for (const Layout layout : foreign_layouts())
    for (const std::uint32_t number : units) {
      if (layout == Layout::parquet) {
        all.push_back({layout, 8, number});
        continue;
      }
      for (const int k : {1, 7, int{row_of(layout).max_k}})
        all.push_back({layout, static_cast<std::uint8_t>(k), number});
    }
  return all;
}

TEST(Foreign, PositionsAreTheBitsThatAreSet) {
  for (const Geometry &geometry : geometries({1, 2, 3, 100, 4096})) {
    SCOPED_TRACE(testing::PrintToString(geometry));
    std::vector<Digest> digests = random_digests(geometry.units, 20);
    for (const std::uint64_t word : {0ULL, ~0ULL, 1ULL << 63, 1ULL << 31, (1ULL << 63) - 1})
      digests.push_back({word, ~word}), digests.push_back({word, word});
    for (const Digest &one : digests) {
      // The canary after the positions stays unchanged.
      std::vector<std::uint64_t> positions(geometry.k + 1U, 0xDEAD);
      foreign_positions(geometry, one, positions.data());
      EXPECT_EQ(positions.back(), 0xDEADU);
      positions.pop_back();
      Bytes wanted(geometry.bytes());
      for (const std::uint64_t position : positions) {
        ASSERT_LT(position, geometry.bits());
        set_bit(wanted.data(), position);
      }
      Bytes bitmap = with_digests(geometry, {one});
      EXPECT_EQ(bitmap, wanted);

      EXPECT_TRUE(foreign_contains(geometry, bitmap.data(), one));
      for (const std::uint64_t position : positions) {
        clear_bit(bitmap.data(), position);
        EXPECT_FALSE(foreign_contains(geometry, bitmap.data(), one));
        set_bit(bitmap.data(), position);
      }
      // No other bit matters.
      for (std::uint8_t &byte : bitmap)
        byte = static_cast<std::uint8_t>(~byte);
      EXPECT_FALSE(foreign_contains(geometry, bitmap.data(), one));
      for (const std::uint64_t position : positions)
        set_bit(bitmap.data(), position);
      EXPECT_TRUE(foreign_contains(geometry, bitmap.data(), one));
    }
  }
}

// The expected positions follow the descriptions in doc/format.md. They use 128-bit arithmetic
// instead of 64 bits that wrap.
TEST(Foreign, PositionsAreTheSpecified) {
  using Wide = unsigned __int128;
  const Wide word = Wide{1} << 64;
  for (const Geometry &geometry : geometries({1, 3, 1000, 1U << 24})) {
    SCOPED_TRACE(testing::PrintToString(geometry));
    for (const Digest &one : random_digests(9, 50)) {
      std::vector<std::uint64_t> wanted, positions(geometry.k);
      const Wide a = one.first % (Wide{1} << 32), b = one.first >> 32;
      for (std::uint64_t i = 0; i < geometry.k; i++) {
        if (geometry.layout == Layout::parquet) {
          static const std::uint64_t kSalt[] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                                0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
          const Wide block = b * geometry.units / (Wide{1} << 32);
          const Wide bit = a * kSalt[i] % (Wide{1} << 32) / (1 << 27);
          wanted.push_back(static_cast<std::uint64_t>(block * 256 + 32 * i + bit));
        } else if (geometry.layout == Layout::hive) {
          const auto positive = [](Wide c) {
            c %= Wide{1} << 32;
            return c >= Wide{1} << 31 ? (Wide{1} << 32) - 1 - c : c;
          };
          const Wide block = positive(a + b) % geometry.units, c = positive(a + (i + 2) * b);
          wanted.push_back(static_cast<std::uint64_t>(block * 512 + c % 8 * 64 + c / 8 % 64));
        } else if (geometry.layout == Layout::spark_v2) {
          // A signed half as a number mod 2^64.
          const auto number = [&](std::uint64_t half) {
            return half % (Wide{1} << 32) + (half >> 31 & 1) * (word - (Wide{1} << 32));
          };
          const Wide c = (number(one.first) * 0x7FFFFFFF + Wide{i + 1} * number(one.second)) % word;
          const Wide flipped = c >= word / 2 ? word - 1 - c : c;
          wanted.push_back(static_cast<std::uint64_t>(flipped % geometry.bits()));
        } else if (geometry.layout == Layout::guava_mitz32 || geometry.layout == Layout::spark) {
          const Wide step = geometry.layout == Layout::spark ? one.second % (Wide{1} << 32) : b;
          const Wide c = (a + (i + 1) * step) % (Wide{1} << 32);
          const Wide flipped = c >= Wide{1} << 31 ? (Wide{1} << 32) - 1 - c : c;
          wanted.push_back(static_cast<std::uint64_t>(flipped % geometry.bits()));
        } else {
          const bool from_one = geometry.layout == Layout::datasketches;
          Wide c = (one.first + Wide{from_one ? i + 1 : i} * one.second) % word;
          if (from_one)
            c /= 2;
          else if (geometry.layout != Layout::redis)
            c %= word / 2;
          wanted.push_back(static_cast<std::uint64_t>(c % geometry.bits()));
        }
      }
      foreign_positions(geometry, one, positions.data());
      EXPECT_EQ(positions, wanted);
    }
  }
}

TEST(Foreign, ManyAreAddedLikeOneByOne) {
  for (const Geometry &geometry : geometries({1, 1000, 4096}))
    for (const std::size_t count : {0, 1, 2, 3, 63, 64, 65, 600}) {
      SCOPED_TRACE(testing::PrintToString(geometry));
      const std::vector<Digest> digests = random_digests(count, count);
      Bytes one_by_one(geometry.bytes());
      for (const Digest &one : digests) {
        const std::uint64_t words[] = {one.first, one.second};
        foreign_add_many(geometry, one_by_one.data(), words, 1);
      }
      EXPECT_EQ(with_digests(geometry, digests), one_by_one) << count;
    }
}

TEST(Foreign, Folds) {
  for (const Geometry &geometry : geometries({24, 840})) {
    SCOPED_TRACE(testing::PrintToString(geometry));
    const std::vector<Digest> digests = random_digests(4, geometry.k > 100 ? 3 : 60);
    const Bytes bitmap = with_digests(geometry, digests);
    const std::size_t unit = geometry.unit_bytes();
    for (const std::uint32_t d : {1U, 2U, 3U, 4U, 6U, 24U, geometry.units}) {
      Geometry folded = geometry;
      folded.units /= d;
      Bytes parts(folded.bytes());
      for (std::size_t i = 0; i < bitmap.size(); i++) {
        // Either d parts of the length of the result are OR-ed, or d neighbours.
        const bool in_parts = choice_of(geometry.layout) == Choice::remainder;
        const std::size_t to = in_parts ? i % parts.size() : i / unit / d * unit + i % unit;
        parts[to] = static_cast<std::uint8_t>(parts[to] | bitmap[i]);
      }
      EXPECT_EQ(parts, with_digests(folded, digests)) << d;
    }
  }
}

TEST(Foreign, FoldGeometryCountsInUnits) {
  Geometry folded;
  ASSERT_TRUE(fold_geometry({Layout::redis, 7, 150}, 400, &folded));
  EXPECT_EQ(folded, (Geometry{Layout::redis, 7, 50}));
  ASSERT_TRUE(fold_geometry({Layout::parquet, 8, 64}, 400, &folded));
  EXPECT_EQ(folded, (Geometry{Layout::parquet, 8, 8}));
  EXPECT_FALSE(fold_geometry({Layout::parquet, 8, 64}, 31, &folded));
  EXPECT_EQ(folded, (Geometry{Layout::parquet, 8, 1}));
  EXPECT_FALSE(fold_geometry({Layout::guava, 3, 64}, 7, &folded));
  EXPECT_TRUE(fold_geometry({Layout::guava, 3, 64}, 8, &folded));
}

// --- Estimates ---

TEST(ForeignEstimate, LengthsNeedNotBeWholeLines) {
  for (const Kernel *kernel : all_kernels()) {
    SCOPED_TRACE(kernel->name);
    for (const std::size_t bytes :
         {8,   16,  24,   32,   40,   48,   56,    64,    72,    96,
          120, 128, 1000, 4088, 4096, 4104, 32760, 32768, 32776, 100000}) {
      SCOPED_TRACE(bytes);
      Random random(bytes);
      Bytes a(bytes + 16), b(bytes + 16); // followed by bytes that must not change
      for (std::size_t i = 0; i < a.size(); i++) {
        a[i] = static_cast<std::uint8_t>(random.next() & random.next());
        b[i] = static_cast<std::uint8_t>(random.next() & random.next());
      }
      Bytes either = a, both = a;
      std::uint64_t set = 0;
      for (std::size_t i = 0; i < bytes; i++) {
        either[i] = static_cast<std::uint8_t>(a[i] | b[i]);
        both[i] = static_cast<std::uint8_t>(a[i] & b[i]);
        for (int bit = 0; bit < 8; bit++)
          set += a[i] >> bit & 1;
      }
      EXPECT_EQ(count_set(*kernel, a.data(), bytes), set);
      Bytes united = a, common = a;
      unite(*kernel, united.data(), b.data(), bytes);
      EXPECT_EQ(united, either);
      intersect(*kernel, common.data(), b.data(), bytes);
      EXPECT_EQ(common, both);
    }
  }
}

// Sizes for 20000 integers at rates of about 1 % and less.
std::vector<Geometry> estimated_geometries() {
  std::vector<Geometry> all(6);
  EXPECT_TRUE(size_foreign(Layout::guava, 20000, 0.01, &all[0]));
  EXPECT_TRUE(size_foreign(Layout::guava_mitz32, 20000, 0.03, &all[1]));
  EXPECT_TRUE(size_foreign(Layout::parquet, 20000, 0.02, &all[2]));
  EXPECT_TRUE(size_foreign(Layout::redis, 20000, 0.01, &all[3]));
  EXPECT_TRUE(size_foreign(Layout::datasketches, 20000, 0.01, &all[4]));
  // The number of blocks is not even. Hive's hashes fill an even number of blocks less evenly.
  all[5] = {Layout::hive, 4, 245};
  return all;
}

TEST(ForeignEstimate, CountsAndRatesAreTheMeasured) {
  constexpr std::int64_t kValues = 20000, kProbes = 1000000 / SAMPLE_DIVISOR;
  for (const Geometry &geometry : estimated_geometries()) {
    SCOPED_TRACE(testing::PrintToString(geometry));
    const Layout layout = geometry.layout;
    const Family kept = layout == Layout::redis ? Family::string : Family::integer;
    const Bytes bitmap = with_digests(geometry, digests_of(scheme_of(layout, kept), Family::integer,
                                                           mapped(0, kValues - 1, of_integer)));
    Survey survey(best_kernel(), geometry);
    survey.read(bitmap.data(), geometry.units);
    const auto set = static_cast<double>(survey.bits_set());
    EXPECT_EQ(survey.bits_set(), count_set(kScalarKernel, bitmap.data(), bitmap.size()));
    EXPECT_NEAR(estimate_count(geometry, survey.bits_set()) / kValues, 1.0, 0.03);
    const auto expected = static_cast<double>(expected_bits(geometry, kValues));
    EXPECT_NEAR(set, expected, 6 + 3 * std::sqrt(expected));
    EXPECT_NEAR(estimate_count(geometry, expected_bits(geometry, kValues)) / kValues, 1.0, 1e-4);

    std::int64_t positives = 0;
    for (std::int64_t i = kValues; i < kValues + kProbes; i++) {
      std::uint8_t number[8], scratch[scratch_bytes(sizeof number)];
      store(number, static_cast<std::uint64_t>(i));
      const Encoded value =
          encode(layout, 0, {Family::integer, kept, number, sizeof number, scratch});
      positives += foreign_contains(geometry, bitmap.data(), value.digests[0]);
    }
    const double measured = static_cast<double>(positives) / static_cast<double>(kProbes);
    EXPECT_GT(measured, 0.002);
    EXPECT_NEAR(survey.rate() / measured, 1.0, 0.05);
  }
}

TEST(ForeignEstimate, OfNoneAndOfAll) {
  for (const Geometry &geometry : geometries({1, 3, 64})) {
    SCOPED_TRACE(testing::PrintToString(geometry));
    EXPECT_EQ(estimate_count(geometry, 0), 0.0);
    EXPECT_TRUE(std::isfinite(estimate_count(geometry, geometry.bits() - 1)));
    EXPECT_EQ(estimate_count(geometry, geometry.bits()), kInfinity);
    EXPECT_EQ(expected_bits(geometry, 0), 0U);
    EXPECT_EQ(expected_bits(geometry, kMaxBits), geometry.bits());
    for (const std::uint8_t byte : {0x00, 0xFF}) {
      Survey survey(best_kernel(), geometry);
      survey.read(Bytes(geometry.bytes(), byte).data(), geometry.units);
      EXPECT_EQ(survey.rate(), byte == 0 ? 0.0 : 1.0);
      EXPECT_EQ(survey.bits_set(), byte == 0 ? 0 : geometry.bits());
    }
  }
}

// Bitmaps with a known answer: half of each word's bits are set, or half of the bitmap.
TEST(ForeignEstimate, RatesOfKnownBits) {
  const Geometry flat = {Layout::redis, 3, 4}, blocks = {Layout::parquet, 8, 2};
  Bytes bitmap(flat.bytes());
  std::fill_n(bitmap.begin(), 8, 0xFF);
  Survey of_flat(best_kernel(), flat);
  of_flat.read(bitmap.data(), flat.units);
  EXPECT_DOUBLE_EQ(of_flat.rate(), 1.0 / 64);

  bitmap.assign(blocks.bytes(), 0x0F); // half of every word
  std::fill_n(bitmap.begin() + 32, 4, 0x00);
  Survey of_blocks(best_kernel(), blocks);
  of_blocks.read(bitmap.data(), blocks.units);
  EXPECT_DOUBLE_EQ(of_blocks.rate(), (1.0 / 256 + 0) / 2);
}

TEST(ForeignEstimate, DoesNotDependOnPartsOrKernel) {
  for (const Geometry &geometry :
       {Geometry{Layout::guava, 7, 1501}, Geometry{Layout::parquet, 8, 1501}}) {
    const Bytes bitmap = with_digests(geometry, random_digests(3, 8000));
    Survey whole(kScalarKernel, geometry);
    whole.read(bitmap.data(), geometry.units);
    for (const Kernel *kernel : all_kernels())
      for (const std::size_t part : {1, 3, 7, 8, 513, 1500}) {
        Survey survey(*kernel, geometry);
        for (std::size_t unit = 0; unit < geometry.units; unit += part)
          survey.read(bitmap.data() + unit * geometry.unit_bytes(),
                      std::min<std::size_t>(part, geometry.units - unit));
        EXPECT_EQ(survey.bits_set(), whole.bits_set());
        EXPECT_EQ(survey.rate(), whole.rate());
      }
  }
}

// rate() is the rate "of all units read so far", not of all units.
TEST(ForeignEstimate, IsOfTheUnitsReadSoFar) {
  for (const Geometry &geometry : {Geometry{Layout::guava, 2, 4}, Geometry{Layout::redis, 2, 4},
                                   Geometry{Layout::parquet, 8, 4}}) {
    Bytes bitmap(geometry.bytes());
    std::fill_n(bitmap.begin(), geometry.unit_bytes(), 0xFF);
    Survey survey(best_kernel(), geometry);
    survey.read(bitmap.data(), 1);
    EXPECT_EQ(survey.rate(), 1.0) << testing::PrintToString(geometry);
  }
}

// --- Stored values ---

// A family that a filter with values can have.
Family some_family(const Scheme &scheme) {
  for (const Family family : {Family::integer, Family::text, Family::floating})
    if (stored_family(scheme, family) != Family::none)
      return stored_family(scheme, family);
  ADD_FAILURE() << scheme.name;
  return Family::none;
}

Header stored_header(const Geometry &geometry, Family family) {
  return {geometry, {family, 0}, 0, {100, 0.01}};
}

Finding check(const Header &header, std::uint8_t bits = 0x11) {
  Bytes payload(header.payload_bytes(), bits);
  write_header(payload.data(), header);
  Header read;
  const Finding finding = validate(payload.data(), payload.size(), &read);
  if (finding.ok()) {
    EXPECT_EQ(read.geometry, header.geometry);
    EXPECT_EQ(read.element_type.family, header.element_type.family);
  }
  return finding;
}

TEST(ForeignFormat, HashFunctionsOfLayouts) {
  for (const Scheme &scheme : foreign_schemes())
    for (int k = 0; k < 256; k++) {
      const Finding finding = check(
          stored_header({scheme.layout, static_cast<std::uint8_t>(k), 3}, some_family(scheme)));
      const bool good = scheme.layout == Layout::parquet ? k == 8
                        : scheme.layout == Layout::hive  ? k > 0 && k < 128
                                                         : k != 0;
      EXPECT_EQ(finding.text, good ? nullptr : Fault::bad_k) << scheme.name << ", k " << k;
      EXPECT_EQ(finding.found, good ? 0U : static_cast<unsigned>(k));
    }
}

TEST(ForeignFormat, SeedsAreZero) {
  for (const Scheme &scheme : foreign_schemes())
    for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{1} << 63}) {
      SCOPED_TRACE(scheme.name);
      Header header = stored_header({scheme.layout, 8, 3}, some_family(scheme));
      header.seed = seed;
      const bool seeded =
          scheme.layout == Layout::datasketches || (scheme.layout == Layout::spark_v2 && seed == 1);
      EXPECT_EQ(check(header).text, seeded ? nullptr : Fault::bad_seed);
      EXPECT_EQ(check(header).found, seeded ? 0 : seed);
      header.seed = 0;
      EXPECT_EQ(check(header).text, nullptr);
    }
}

// The second version of Spark has a signed seed of 32 bits.
TEST(ForeignFormat, SeedsOfSpark) {
  Header header = stored_header({Layout::spark_v2, 8, 3}, Family::integer);
  for (const std::int64_t seed : {INT64_C(0), INT64_C(1), INT64_C(-1), INT64_C(1234567),
                                  std::int64_t{INT32_MAX}, std::int64_t{INT32_MIN}}) {
    header.seed = static_cast<std::uint64_t>(seed);
    EXPECT_EQ(check(header).text, nullptr) << seed;
  }
  for (const std::int64_t seed : {std::int64_t{INT32_MAX} + 1, std::int64_t{INT32_MIN} - 1,
                                  std::int64_t{UINT32_MAX}, INT64_MAX, INT64_MIN}) {
    header.seed = static_cast<std::uint64_t>(seed);
    EXPECT_EQ(check(header).text, Fault::bad_seed) << seed;
    EXPECT_EQ(check(header).found, header.seed);
  }
}

// A header can have a flag for a system's files only in that system's layout, and only if it is no
// chain. The link of the filter does not have the flag.
TEST(ForeignFormat, FlagsOfSystems) {
  for (const Scheme &scheme : foreign_schemes())
    for (int flag = 0x10; flag < 0x100; flag *= 2) {
      SCOPED_TRACE(scheme.name);
      Header header = stored_header({scheme.layout, 8, 3}, some_family(scheme));
      header.flags = static_cast<std::uint8_t>(flag);
      const bool good = (row_of(scheme.layout).flags & flag) != 0;
      EXPECT_EQ(check(header).text, good ? nullptr : Fault::unknown_flags) << flag;
      EXPECT_EQ(check(header).found, good ? 0U : static_cast<unsigned>(flag));
      if (!good)
        continue;
      EXPECT_EQ(flag, kFlagUncounted);
      header.flags = kFlagUncounted | kFlagSelfSized;
      Bytes payload(header.payload_bytes());
      write_header(payload.data(), header);
      Header read;
      ASSERT_TRUE(parse(payload.data(), payload.size(), &read).ok());
      EXPECT_EQ(read.flags, kFlagUncounted | kFlagSelfSized);
      EXPECT_EQ(read_link(payload.data(), read, 0).flags, kFlagSelfSized);
    }
}

// A filter has either no family yet, or a family under which a scheme of its layout keeps values.
TEST(ForeignFormat, FamiliesOfLayouts) {
  for (const LayoutRow &row : kLayoutRows) {
    const bool ours = row.system == System::ours;
    const std::vector<Family> known = ours ? std::vector<Family>{} : families_of(row.layout);
    for (int number = 0; number <= static_cast<int>(kLastFamily); number++) {
      const auto family = static_cast<Family>(number);
      if (row.layout == Layout::cuckoo)
        continue; // not every bitmap is a valid cuckoo table
      Header header = stored_header({row.layout, 8, 3}, family);
      header.element_type.shape = is_composed(family) ? 1 : 0;
      const bool good = ours ? number < static_cast<int>(Family::string)
                             : std::count(known.begin(), known.end(), family) == 1;
      const Finding finding = check(header, is_open(family) ? 0x00 : 0x11);
      EXPECT_EQ(finding.text, good ? nullptr : Fault::bad_family)
          << "layout " << static_cast<int>(row.layout) << ", family " << number;
      EXPECT_EQ(finding.found, good ? 0U : static_cast<unsigned>(number));
    }
  }
}

TEST(ForeignFormat, SizesOfLayouts) {
  for (const Scheme &scheme : foreign_schemes()) {
    SCOPED_TRACE(scheme.name);
    const auto most = static_cast<std::uint32_t>(kMaxBits / row_of(scheme.layout).unit_bits);
    std::uint8_t head[kHeaderBytes];
    Header header = stored_header({scheme.layout, 8, most}, some_family(scheme)), read;
    write_header(head, header);
    EXPECT_EQ(header.payload_bytes(), kHeaderBytes + kMaxBits / 8);
    EXPECT_TRUE(parse(head, header.payload_bytes(), &read).ok());
    EXPECT_EQ(parse(head, header.payload_bytes() - 1, &read).text, Fault::wrong_length);
    for (const std::uint32_t units : {0U, most + 1, ~0U}) {
      header.geometry.units = units;
      write_header(head, header);
      const Finding finding = parse(head, header.payload_bytes(), &read);
      EXPECT_EQ(finding.text, Fault::bad_units) << units;
      EXPECT_EQ(finding.found, units);
    }
  }
}

// Stray bits are also found in the last bytes, which are no whole line. If the encoding already
// decides the family, a filter without values is checked like any other.
TEST(ForeignFormat, FindsStrayBits) {
  for (const Geometry &geometry : geometries({1, 3, 9}))
    for (const Family family : families_of(geometry.layout)) {
      SCOPED_TRACE(testing::PrintToString(geometry));
      SCOPED_TRACE(static_cast<int>(family));
      const bool open = family == Family::none || family == Family::open_int32;
      Header header = stored_header(geometry, family), read;
      Bytes payload(header.payload_bytes());
      write_header(payload.data(), header);
      EXPECT_TRUE(validate(payload.data(), payload.size(), &read).ok());
      payload.back() = 0x81;
      const Finding finding = validate(payload.data(), payload.size(), &read);
      EXPECT_EQ(finding.text, open ? Fault::stray_bits : nullptr);
      EXPECT_EQ(finding.found, open ? 2U : 0U);
    }
}

// Checks a value of several links. Each link has its own pattern of bits.
Finding check_links(const Scheme &scheme, const std::vector<Link> &links, std::uint8_t flags = 0,
                    const std::vector<std::uint8_t> &patterns = {}) {
  const bool grows = (flags & kFlagGrow) != 0;
  Header header = {{scheme.layout, 0, 0},
                   {some_family(scheme), 0},
                   0,
                   grows ? Capacity{100, 0.01} : Capacity{},
                   static_cast<std::uint8_t>(kFlagChain | flags),
                   static_cast<std::uint32_t>(links.size())};
  Bytes payload(header.head_bytes());
  write_header(payload.data(), header);
  for (std::size_t i = 0; i < links.size(); i++) {
    write_link(payload.data(), static_cast<int>(i), links[i]);
    payload.resize(payload.size() + links[i].geometry.bytes(),
                   patterns.empty() ? static_cast<std::uint8_t>(0x11 + i) : patterns[i]);
  }
  Header read;
  const Finding finding = validate(payload.data(), payload.size(), &read);
  if (finding.ok()) {
    EXPECT_EQ(read.payload_bytes(), payload.size());
    for (std::size_t i = 0; i < links.size(); i++)
      EXPECT_EQ(read_link(payload.data(), read, static_cast<int>(i)).geometry, links[i].geometry);
  }
  return finding;
}

Link link_of(Layout layout, std::uint32_t units, std::uint8_t flags = kFlagSelfSized) {
  return {{layout, 8, units}, flags, {100, 0.01}};
}

TEST(ForeignFormat, LinksOfOneLayout) {
  for (const Scheme &scheme : foreign_schemes()) {
    SCOPED_TRACE(scheme.name);
    const Layout layout = scheme.layout;
    const Link small = link_of(layout, 3), large = link_of(layout, 5);
    EXPECT_EQ(check_links(scheme, {small, large}).text, nullptr);
    EXPECT_EQ(check_links(scheme, {small, small, large}).text, nullptr);
    EXPECT_EQ(check_links(scheme, {large, small}).text, Fault::bad_order);
    EXPECT_EQ(check_links(scheme, {small, small}, 0, {2, 1}).text, Fault::bad_order);
    EXPECT_EQ(check_links(scheme, {small, small}, 0, {1, 1}).text, Fault::bad_order);
    EXPECT_EQ(check_links(scheme, {link_of(layout, 3, 0), small}).text, Fault::bad_order);
    Link without = large;
    without.geometry.k = 0;
    EXPECT_EQ(check_links(scheme, {small, without}).text, Fault::bad_k);
    if (layout == Layout::parquet) {
      without.geometry.k = 7;
      EXPECT_EQ(check_links(scheme, {small, without}).text, Fault::bad_k);
    }
  }
}

// All links of a value must have hashes of one system.
TEST(ForeignFormat, LinksOfTwoLayoutsAreRefused) {
  std::vector<Scheme> schemes = foreign_schemes();
  schemes.push_back(scheme_named("lines"));
  for (const Scheme &scheme : schemes)
    for (const Scheme &another : schemes) {
      const Layout a = scheme.layout, b = another.layout;
      if (a == b)
        continue;
      // The wrong layout is in the first place, in the second, or in both.
      const Link good = link_of(a, 3), other = link_of(b, 1000), smaller = link_of(b, 1);
      EXPECT_EQ(check_links(scheme, {good, other}).text, Fault::unknown_layout);
      EXPECT_EQ(check_links(scheme, {smaller, good}).text, Fault::unknown_layout);
      EXPECT_EQ(check_links(scheme, {smaller, other}).text, Fault::unknown_layout);
      EXPECT_EQ(check_links(scheme, {smaller, other}).found, static_cast<unsigned>(b));
    }
}

// A filter of another system's layout cannot grow, because next_link() knows only our own layouts.
TEST(ForeignFormat, LinksDoNotGrow) {
  EXPECT_EQ(check_links(scheme_named("lines"), {link_of(Layout::lines, 3)}, kFlagGrow).text,
            nullptr);
  for (const Scheme &scheme : foreign_schemes()) {
    SCOPED_TRACE(scheme.name);
    const Link small = link_of(scheme.layout, 3), large = link_of(scheme.layout, 5);
    EXPECT_EQ(check_links(scheme, {small}, kFlagGrow).text, Fault::unknown_flags);
    EXPECT_EQ(check_links(scheme, {small, large}, kFlagGrow).text, Fault::unknown_flags);
    EXPECT_EQ(check_links(scheme, {small, large}, kFlagUncounted).text, Fault::unknown_flags);
  }
}

} // namespace
} // namespace bloomfilter
