// Tests the stored bytes: one header written out by hand, and every way in which bytes can be
// wrong.

#include "core/format.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "unit/support.hpp"

namespace bloomfilter {
namespace {

using Bytes = std::vector<std::uint8_t>;

bool operator==(const Header &a, const Header &b) {
  return a.geometry == b.geometry && a.element_type == b.element_type && a.flags == b.flags &&
         a.link_count == b.link_count && a.seed == b.seed &&
         a.capacity.values == b.capacity.values &&
         double_bits(a.capacity.rate) == double_bits(b.capacity.rate);
}

// A filter of integers: two lines, k = 6.
Header lines_header() {
  return {{Layout::lines, 6, 2}, {Family::integer, 0}, 0, {100, 0.01}};
}
// A self-sized filter of arrays: three pages, k = 12.
Header pages_header() {
  return {{Layout::pages, 12, 3}, {Family::array, 0xC0FFEE}, ~0ULL, {500, 1e-4}, kFlagSelfSized};
}

// A filter with some bits set.
Bytes filter(const Header &header) {
  Bytes payload(header.payload_bytes(), 0x11);
  write_header(payload.data(), header);
  return payload;
}

Bytes lines_filter() {
  return filter(lines_header());
}
Bytes pages_filter() {
  return filter(pages_header());
}
// A filter of 32-bit integers: two blocks.
Bytes parquet_filter() {
  return filter({{Layout::parquet, 8, 2}, {Family::int32, 0}, 0, {100, 0.01}});
}

// A filter of several links. Each link has its own pattern of bits.
Bytes linked_filter(Header header, const std::vector<Link> &links) {
  header.geometry.layout = Layout::lines;
  header.link_count = static_cast<std::uint32_t>(links.size());
  header.flags |= kFlagChain;
  Bytes payload(header.head_bytes());
  write_header(payload.data(), header);
  for (std::size_t i = 0; i < links.size(); i++) {
    write_link(payload.data(), static_cast<int>(i), links[i]);
    payload.resize(payload.size() + links[i].geometry.bytes(), static_cast<std::uint8_t>(0x11 + i));
  }
  return payload;
}

// Two self-sized links, then a link of the same geometry that is not self-sized, then a page.
Bytes chain() {
  const Geometry line = {Layout::lines, 6, 1};
  return linked_filter({{}, {Family::integer, 0}, 7, {}},
                       {{line, kFlagSelfSized, {10, 0.01}},
                        {line, kFlagSelfSized, {20, 0.02}},
                        {line, 0, {30, 0.03}},
                        {{Layout::pages, 12, 1}, kFlagIntersection, {}}});
}
// A filter that grows, with one link.
Bytes growing() {
  return linked_filter({{}, {Family::integer, 0}, 7, {100, 0.04}, kFlagGrow},
                       {{{Layout::lines, 6, 1}, kFlagSelfSized, {100, 0.01}}});
}
// The filter of no rows. It grows, and it is self-sized until it has a value.
Bytes of_no_rows() {
  Bytes payload = linked_filter({{}, {}, 0, {100, 0.01}, kFlagGrow | kFlagSelfSized},
                                {{{Layout::lines, 6, 3}, kFlagSelfSized, {100, 0.0025}}});
  std::fill(payload.begin() + 36 + 24, payload.end(), std::uint8_t{0});
  return payload;
}
constexpr std::size_t kEntry = 36, kChainBitmaps = 36 + 4 * 24;

Finding validate(const Bytes &payload) {
  Header header;
  return bloomfilter::validate(payload.data(), payload.size(), &header);
}

// Byte by byte as in the table in doc/format.md, where offsets are 4 bytes greater.
TEST(Format, GoldenHeader) {
  const Bytes golden = {
      1,                                              // 0 version
      2,                                              // 1 layout: pages
      21,                                             // 2 family: array
      12,                                             // 3 k
      0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, // 4 seed 0x0102030405060708
      0x40, 0x42, 0x0F, 0,    0,    0,    0,    0,    // 12 expected 1 000 000
      0x7B, 0x14, 0xAE, 0x47, 0xE1, 0x7A, 0x84, 0x3F, // 20 rate 0.01 = 0x3F847AE147AE147B
      0x03, 0,    0,    0,                            // 28 units 3
      0x02,                                           // 32 flags: self-sized
      0xEF, 0xCD, 0xAB,                               // 33 shape 0xABCDEF
  };
  ASSERT_EQ(golden.size(), kHeaderBytes);
  const Header header = {{Layout::pages, 12, 3},
                         {Family::array, 0xABCDEF},
                         0x0102030405060708,
                         {1000000, 0.01},
                         kFlagSelfSized};

  Bytes payload(header.payload_bytes());
  write_header(payload.data(), header);
  EXPECT_EQ(Bytes(payload.begin(), payload.begin() + kHeaderBytes), golden);
  EXPECT_TRUE(std::all_of(payload.begin() + kHeaderBytes, payload.end(),
                          [](std::uint8_t byte) { return byte == 0; }));

  Header read;
  ASSERT_TRUE(parse(payload.data(), payload.size(), &read).ok());
  EXPECT_TRUE(read == header);
}

TEST(Format, FamiliesAreNumberedForEver) {
  static const Family families[] = {
      Family::none,        Family::integer, Family::floating,   Family::numeric,
      Family::text,        Family::bytea,   Family::uuid,       Family::boolean,
      Family::char_,       Family::oid,     Family::date,       Family::timestamp,
      Family::timestamptz, Family::time,    Family::timetz,     Family::interval,
      Family::inet,        Family::macaddr, Family::macaddr8,   Family::jsonb,
      Family::enum_,       Family::array,   Family::range,      Family::multirange,
      Family::row,         Family::hash,    Family::string,     Family::int32,
      Family::utf16,       Family::float32, Family::open_int32,
  };
  int number = 0;
  for (const Family family : families) {
    EXPECT_EQ(static_cast<int>(family), number);
    EXPECT_EQ(is_composed(family), number >= 21 && number <= 24) << number;
    number++;
  }
  EXPECT_EQ(static_cast<int>(kLastFamily), number - 1);
}

TEST(Format, AcceptsAndReadsBack) {
  Header headers[] = {lines_header(), pages_header(), lines_header(), lines_header(),
                      lines_header(), pages_header(), pages_header()};
  headers[2].capacity = {};
  headers[3].capacity = {kMaxBits, 1e-9};
  headers[4].capacity.rate = 0.5, headers[4].element_type.family = Family::hash,
  headers[4].geometry.k = 1;
  headers[5].element_type.family = Family::row, headers[5].element_type.shape = 1,
  headers[5].geometry.k = 2;
  headers[6].element_type.shape = 0xFFFFFF, headers[6].geometry.k = 16;
  for (const Header &header : headers) {
    SCOPED_TRACE(&header - headers);
    const Bytes payload = filter(header);
    Header parsed, validated;
    EXPECT_TRUE(parse(payload.data(), payload.size(), &parsed).ok());
    EXPECT_TRUE(bloomfilter::validate(payload.data(), payload.size(), &validated).ok());
    EXPECT_TRUE(parsed == header);
    EXPECT_TRUE(validated == header);
  }
}

TEST(Format, AcceptsTheEmptyFilterOfNoFamily) {
  Header header = lines_header();
  header.element_type.family = Family::none;
  Bytes payload(header.payload_bytes());
  write_header(payload.data(), header);
  EXPECT_TRUE(validate(payload).ok());
}

// Parsing takes constant time, so it must not read the bitmap. The buffer holds only the header.
TEST(Format, ParsesTheLargestFilter) {
  for (const Geometry &geometry :
       {Geometry{Layout::lines, 6, 1U << 23}, Geometry{Layout::pages, 12, 1U << 20}}) {
    Header header = lines_header(), read;
    header.geometry = geometry;
    std::uint8_t bytes[kHeaderBytes];
    write_header(bytes, header);
    EXPECT_EQ(header.payload_bytes(), kHeaderBytes + kMaxBits / 8);
    EXPECT_TRUE(parse(bytes, header.payload_bytes(), &read).ok());
    EXPECT_TRUE(read == header);
  }
}

void put_rate(Bytes &payload, double rate) {
  store(&payload[20], double_bits(rate));
}
void put_expected(Bytes &payload, std::uint64_t expected) {
  store(&payload[12], expected);
}
void put_units(Bytes &payload, std::uint32_t units) {
  store(&payload[28], units);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A defect of a filter. Without the defect, the filter is good.
struct Defect {
  const char *name;
  Bytes (*good)();
  void (*damage)(Bytes &payload);
  const char *text;
  std::uint64_t found, wanted;
};

const Defect kDefects[] = {
    {"nothing", lines_filter, [](Bytes &b) { b.clear(); }, Fault::truncated, 0, 36},
    {"cut in the header", lines_filter, [](Bytes &b) { b.resize(35); }, Fault::truncated, 35, 36},

    {"version 0", lines_filter, [](Bytes &b) { b[0] = 0; }, Fault::unknown_version, 0, 1},
    {"version 2", lines_filter, [](Bytes &b) { b[0] = 2; }, Fault::unknown_version, 2, 1},
    {"layout 0", lines_filter, [](Bytes &b) { b[1] = 0; }, Fault::unknown_layout, 0, 0},
    {"layout 11", lines_filter, [](Bytes &b) { b[1] = 11; }, Fault::unknown_layout, 11, 0},
    {"layout 5, once guava_chars", lines_filter, [](Bytes &b) { b[1] = 5; }, Fault::unknown_layout,
     5, 0},
    {"layout 11, once parquet_float", lines_filter, [](Bytes &b) { b[1] = 11; },
     Fault::unknown_layout, 11, 0},
    {"family 31", lines_filter, [](Bytes &b) { b[2] = 31; }, Fault::unknown_family, 31, 0},
    {"integers of 32 bits of our own", lines_filter, [](Bytes &b) { b[2] = 27; }, Fault::bad_family,
     27, 0},
    {"floats of 32 bits of Guava", lines_filter, [](Bytes &b) { b[1] = 3, b[2] = 29; },
     Fault::bad_family, 29, 0},
    {"UTF-16 of Parquet", lines_filter, [](Bytes &b) { b[1] = 9, b[2] = 28; }, Fault::bad_family,
     28, 0},
    {"byte strings of our own", lines_filter, [](Bytes &b) { b[2] = 26; }, Fault::bad_family, 26,
     0},
    {"array of Guava", pages_filter, [](Bytes &b) { b[1] = 3; }, Fault::bad_family, 21, 0},
    {"Guava with a seed", lines_filter, [](Bytes &b) { b[1] = 3, b[4] = 7; }, Fault::bad_seed, 7,
     0},
    {"Parquet's k 6", lines_filter, [](Bytes &b) { b[1] = 9; }, Fault::bad_k, 6, 0},
    {"Guava's k 0", lines_filter, [](Bytes &b) { b[1] = 3, b[3] = 0; }, Fault::bad_k, 0, 0},
    {"family 255", lines_filter, [](Bytes &b) { b[2] = 255; }, Fault::unknown_family, 255, 0},

    {"k 0", lines_filter, [](Bytes &b) { b[3] = 0; }, Fault::bad_k, 0, 0},
    {"k 17", lines_filter, [](Bytes &b) { b[3] = 17; }, Fault::bad_k, 17, 0},
    {"k 0 in pages", pages_filter, [](Bytes &b) { b[3] = 0; }, Fault::bad_k, 0, 0},
    {"k 18 in pages", pages_filter, [](Bytes &b) { b[3] = 18; }, Fault::bad_k, 18, 0},
    {"odd k in pages", pages_filter, [](Bytes &b) { b[3] = 7; }, Fault::bad_k, 7, 0},

    {"capacity without rate", lines_filter, [](Bytes &b) { put_rate(b, 0.0); }, Fault::bad_capacity,
     100, 0},
    {"rate without capacity", lines_filter, [](Bytes &b) { put_expected(b, 0); },
     Fault::bad_capacity, 0, 0},
    {"capacity past the cap", lines_filter, [](Bytes &b) { put_expected(b, kMaxBits + 1); },
     Fault::bad_capacity, kMaxBits + 1, 0},
    {"rate above 0.5", lines_filter, [](Bytes &b) { put_rate(b, 0.50001); }, Fault::bad_capacity,
     100, 0},
    {"rate below 1e-9", lines_filter, [](Bytes &b) { put_rate(b, 0.9999e-9); }, Fault::bad_capacity,
     100, 0},
    {"negative rate", lines_filter, [](Bytes &b) { put_rate(b, -0.01); }, Fault::bad_capacity, 100,
     0},
    {"infinite rate", lines_filter, [](Bytes &b) { put_rate(b, kInfinity); }, Fault::bad_capacity,
     100, 0},
    {"NaN", lines_filter, [](Bytes &b) { put_rate(b, kNaN); }, Fault::bad_capacity, 100, 0},
    {"negative zero", lines_filter, [](Bytes &b) { put_expected(b, 0), put_rate(b, -0.0); },
     Fault::bad_capacity, 0, 0},

    {"growing without links", lines_filter, [](Bytes &b) { b[32] = 0x04; }, Fault::unknown_flags,
     0x04, 0},
    {"links without entries", lines_filter, [](Bytes &b) { b[32] = 0x01, b[3] = 0; },
     Fault::bad_capacity, 100, 0},
    {"flag 16", lines_filter, [](Bytes &b) { b[32] = 0x10; }, Fault::unknown_flags, 0x10, 0},
    {"flag 128", lines_filter, [](Bytes &b) { b[32] = 0x80; }, Fault::unknown_flags, 0x80, 0},
    {"an unknown flag beside a known", lines_filter, [](Bytes &b) { b[32] = 0x12; },
     Fault::unknown_flags, 0x12, 0},

    {"shape of integers", lines_filter, [](Bytes &b) { b[35] = 1; }, Fault::bad_shape, 0x010000, 0},
    {"shape of the last family", lines_filter, [](Bytes &b) { b[2] = 25, b[33] = 1; },
     Fault::bad_shape, 1, 0},
    {"array without shape", pages_filter, [](Bytes &b) { b[33] = b[34] = b[35] = 0; },
     Fault::bad_shape, 0, 0},
    {"row without shape", lines_filter, [](Bytes &b) { b[2] = 24; }, Fault::bad_shape, 0, 0},

    {"no units", lines_filter, [](Bytes &b) { put_units(b, 0); }, Fault::bad_units, 0, 0},
    {"lines past the cap", lines_filter, [](Bytes &b) { put_units(b, (1U << 23) + 1); },
     Fault::bad_units, (1U << 23) + 1, 0},
    {"pages past the cap", pages_filter, [](Bytes &b) { put_units(b, (1U << 20) + 1); },
     Fault::bad_units, (1U << 20) + 1, 0},
    {"lines that overflow 32 bits", lines_filter, [](Bytes &b) { put_units(b, (1U << 26) + 2); },
     Fault::bad_units, (1U << 26) + 2, 0},
    {"as many units as fit", pages_filter, [](Bytes &b) { put_units(b, ~0U); }, Fault::bad_units,
     ~0U, 0},

    {"a unit too many", lines_filter, [](Bytes &b) { put_units(b, 3); }, Fault::wrong_length, 164,
     228},
    {"a unit too few", lines_filter, [](Bytes &b) { put_units(b, 1); }, Fault::wrong_length, 164,
     100},
    {"a byte too many", lines_filter, [](Bytes &b) { b.push_back(0); }, Fault::wrong_length, 165,
     164},
    {"a byte too few", lines_filter, [](Bytes &b) { b.pop_back(); }, Fault::wrong_length, 163, 164},
    {"header alone", lines_filter, [](Bytes &b) { b.resize(36); }, Fault::wrong_length, 36, 164},
    {"lines called pages", lines_filter, [](Bytes &b) { b[1] = 2; }, Fault::wrong_length, 164,
     36 + 2 * 512},

    {"first bit without family", lines_filter,
     [](Bytes &b) { b[2] = 0, std::fill(b.begin() + 36, b.end(), 0), b[36] = 0x01; },
     Fault::stray_bits, 1, 0},
    {"last bit without family", lines_filter,
     [](Bytes &b) { b[2] = 0, std::fill(b.begin() + 36, b.end(), 0), b.back() = 0x80; },
     Fault::stray_bits, 1, 0},
    {"many bits without family", lines_filter, [](Bytes &b) { b[2] = 0; }, Fault::stray_bits,
     2 * 128, 0},

    {"bits of integers of 32 bits or dates", parquet_filter, [](Bytes &b) { b[2] = 30; },
     Fault::stray_bits, 2 * 64, 0},
    {"the last bit of these", parquet_filter,
     [](Bytes &b) { b[2] = 30, std::fill(b.begin() + 36, b.end(), 0), b.back() = 0x80; },
     Fault::stray_bits, 1, 0},

    {"links in pages", chain, [](Bytes &b) { b[1] = 2; }, Fault::unknown_layout, 2, 0},
    {"links with k", chain, [](Bytes &b) { b[3] = 6; }, Fault::bad_k, 6, 0},
    {"links with a capacity", chain, [](Bytes &b) { put_expected(b, 9), put_rate(b, 0.01); },
     Fault::bad_capacity, 9, 0},
    {"growing without a capacity", growing, [](Bytes &b) { put_expected(b, 0), put_rate(b, 0.0); },
     Fault::bad_capacity, 0, 0},
    {"growing with a capacity alone", growing, [](Bytes &b) { put_rate(b, 0.0); },
     Fault::bad_capacity, 100, 0},
    {"own links", chain, [](Bytes &b) { b[32] |= kFlagSelfSized; }, Fault::unknown_flags, 0x03, 0},
    {"own links that grow, with values", growing, [](Bytes &b) { b[32] |= kFlagSelfSized; },
     Fault::unknown_flags, 0x07, 0},
    {"no rows, and a family", of_no_rows, [](Bytes &b) { b[2] = 1; }, Fault::unknown_flags, 0x07,
     0},
    {"no rows, and two links", of_no_rows, [](Bytes &b) { put_units(b, 2); }, Fault::unknown_flags,
     0x07, 0},
    {"no rows, and does not grow", of_no_rows,
     [](Bytes &b) { b[32] = kFlagChain | kFlagSelfSized; }, Fault::unknown_flags, 0x03, 0},
    {"no rows, and an intersection", of_no_rows, [](Bytes &b) { b[32] |= kFlagIntersection; },
     Fault::unknown_flags, 0x0F, 0},
    {"no rows, and a bit", of_no_rows, [](Bytes &b) { b[36 + 24] = 1; }, Fault::stray_bits, 1, 0},
    {"no links", growing, [](Bytes &b) { put_units(b, 0); }, Fault::bad_links, 0, kMaxLinks},
    {"a single link that does not grow", growing,
     [](Bytes &b) { b[32] = kFlagChain, put_expected(b, 0), put_rate(b, 0.0); }, Fault::bad_links,
     1, kMaxLinks},
    {"65 links", chain, [](Bytes &b) { put_units(b, 65); }, Fault::bad_links, 65, kMaxLinks},
    {"cut in the entries", chain, [](Bytes &b) { b.resize(36 + 4 * 24 - 1); }, Fault::truncated,
     131, 132},
    {"more links than entries", growing, [](Bytes &b) { put_units(b, 5); }, Fault::truncated, 124,
     156},
    {"a byte too few in links", chain, [](Bytes &b) { b.pop_back(); }, Fault::wrong_length, 835,
     836},
    {"a byte too many in links", chain, [](Bytes &b) { b.push_back(0); }, Fault::wrong_length, 837,
     836},

    {"layout 0 of a link", chain, [](Bytes &b) { b[kEntry + 21] = 0x02; }, Fault::unknown_layout, 0,
     0},
    {"layout 11 of a link", chain, [](Bytes &b) { b[kEntry + 21] = 0xB2; }, Fault::unknown_layout,
     11, 0},
    {"Guava's layout of a link", chain, [](Bytes &b) { b[kEntry + 21] = 0x32; },
     Fault::unknown_layout, 3, 0},
    {"reserved byte of a link", chain, [](Bytes &b) { b[kEntry + 22] = 1; }, Fault::reserved_bits,
     1, 0},
    {"the other one", chain, [](Bytes &b) { b[kEntry + 23] = 1; }, Fault::reserved_bits, 0x100, 0},
    {"k 17 of a link", chain, [](Bytes &b) { b[kEntry + 20] = 17; }, Fault::bad_k, 17, 0},
    {"k 0 of a link", chain, [](Bytes &b) { b[kEntry + 20] = 0; }, Fault::bad_k, 0, 0},
    {"a link's capacity without rate", chain, [](Bytes &b) { store(&b[kEntry + 8], 0.0); },
     Fault::bad_capacity, 10, 0},
    {"a link of links", chain, [](Bytes &b) { b[kEntry + 21] = 0x11; }, Fault::unknown_flags, 1, 0},
    {"a link that grows", chain, [](Bytes &b) { b[kEntry + 21] = 0x14; }, Fault::unknown_flags, 4,
     0},
    {"no units of a link", chain, [](Bytes &b) { store(&b[kEntry + 16], 0U); }, Fault::bad_units, 0,
     0},
    {"links past the cap", chain,
     [](Bytes &b) { store(&b[kEntry + 48 + 16], 1U << 23), store(&b[kEntry + 72 + 16], 1U << 20); },
     Fault::bad_units, 2 + (2U << 23), 0},

    {"larger link first", chain, [](Bytes &b) { store(&b[kEntry + 16], 2U); }, Fault::bad_order, 4,
     0},
    {"two links to be one", chain, [](Bytes &b) { b[kEntry + 21] = 0x10; }, Fault::bad_order, 4, 0},
    {"own links in no order", chain, [](Bytes &b) { b[kChainBitmaps] = 0x13; }, Fault::bad_order, 4,
     0},
    {"an own link twice", chain,
     [](Bytes &b) { std::fill_n(b.begin() + kChainBitmaps, 128, std::uint8_t{0x12}); },
     Fault::bad_order, 4, 0},
    {"bits of links without family", chain, [](Bytes &b) { b[2] = 0; }, Fault::stray_bits,
     64 * (2 + 2 + 3) + 512 * 2, 0},
};

TEST(Format, FindsEachDefect) {
  std::set<const char *> seen;
  for (const Defect &defect : kDefects) {
    SCOPED_TRACE(defect.name);
    Bytes payload = defect.good();
    ASSERT_TRUE(validate(payload).ok());
    defect.damage(payload);
    const Finding finding = validate(payload);
    EXPECT_EQ(finding.text, defect.text) << finding.text;
    EXPECT_EQ(finding.found, defect.found);
    EXPECT_EQ(finding.wanted, defect.wanted);
    seen.insert(defect.text);
  }
  EXPECT_EQ(seen.size(), 16U); // every Fault of a bloomfilter has an example
}

// parse() finds every defect that does not need the bitmap.
TEST(Format, ParseFindsTheSame) {
  for (const Defect &defect : kDefects) {
    SCOPED_TRACE(defect.name);
    Bytes payload = defect.good();
    defect.damage(payload);
    Header header;
    const Finding finding = parse(payload.data(), payload.size(), &header);
    const bool of_bits = defect.text == Fault::stray_bits || defect.text == Fault::bad_order;
    EXPECT_TRUE(finding.text == defect.text || (finding.ok() && of_bits));
  }
}

// A payload with the head that is written from the result of parsing it.
Bytes rewritten(const Bytes &payload) {
  Header header;
  EXPECT_TRUE(parse(payload.data(), payload.size(), &header).ok());
  Bytes written = payload;
  std::fill_n(written.begin(), header.head_bytes(), std::uint8_t{0});
  write_header(written.data(), header);
  if (header.is_chain())
    for (int i = 0; i < header.links(); i++)
      write_link(written.data(), i, read_link(payload.data(), header, i));
  return written;
}

// No bit of the head is ignored: flipping it makes a defect or another head.
TEST(Format, EveryBitOfTheHeadCounts) {
  for (const Bytes &good : {lines_filter(), pages_filter(), chain(), growing(), of_no_rows()}) {
    Header header;
    ASSERT_TRUE(bloomfilter::validate(good.data(), good.size(), &header).ok());
    EXPECT_EQ(rewritten(good), good);
    int refused = 0;
    for (std::size_t bit = 0; bit < 8 * header.head_bytes(); bit++) {
      SCOPED_TRACE(bit);
      Bytes payload = good;
      payload[bit / 8] = static_cast<std::uint8_t>(payload[bit / 8] ^ 1U << bit % 8);
      if (!validate(payload).ok()) {
        refused++;
        continue;
      }
      EXPECT_EQ(rewritten(payload), payload);
    }
    EXPECT_GT(refused, 0);
  }
}

// Byte by byte as in the table in doc/format.md.
TEST(Format, GoldenLink) {
  const Bytes golden = {
      0x40, 0x42, 0x0F, 0,    0,    0,    0,    0,    // 0 expected 1 000 000
      0x7B, 0x14, 0xAE, 0x47, 0xE1, 0x7A, 0x84, 0x3F, // 8 rate 0.01
      0x03, 0x02, 0x01, 0,                            // 16 units 0x010203
      12,                                             // 20 k
      0x2A,                                           // 21 layout pages; self-sized, intersection
      0,    0,                                        // 22 reserved
  };
  ASSERT_EQ(golden.size(), kLinkBytes);
  Bytes payload(kMaxHeadBytes, 0xFF);
  write_link(payload.data(), 2,
             {{Layout::pages, 12, 0x010203}, kFlagSelfSized | kFlagIntersection, {1000000, 0.01}});
  const auto entry = payload.begin() + 36 + 2 * 24;
  EXPECT_EQ(Bytes(entry, entry + 24), golden);
  EXPECT_EQ(std::count(payload.begin(), payload.end(), 0xFF), kMaxHeadBytes - 24);
}

// The greatest number of links and bits. The buffer holds only the head.
TEST(Format, ParsesTheLongestHead) {
  Header header = {{Layout::lines, 0, 0}, {Family::text, 0}, 1, {}, kFlagChain, kMaxLinks}, read;
  constexpr std::size_t kMaxPayload = kMaxHeadBytes + kMaxBits / 8;
  std::uint8_t head[kMaxHeadBytes];
  write_header(head, header);
  for (int i = 0; i < kMaxLinks; i++)
    write_link(head, i, {{Layout::lines, 6, (1U << 23) / kMaxLinks}, kFlagSelfSized, {1, 0.01}});
  const Finding finding = parse(head, kMaxPayload, &read);
  EXPECT_TRUE(finding.ok()) << finding.text;
  EXPECT_EQ(read.links(), kMaxLinks);
  EXPECT_EQ(read.payload_bytes(), kMaxPayload);

  // The largest links come first, each with the offset of its bitmap.
  std::size_t end = kMaxPayload;
  int links = 0;
  EXPECT_FALSE(any_link(head, read, [&](const Link &link, std::size_t offset) {
    EXPECT_EQ(offset + link.geometry.bytes(), end);
    end = offset;
    links++;
    return false;
  }));
  EXPECT_EQ(end, kMaxHeadBytes);
  EXPECT_EQ(links, kMaxLinks);
}

TEST(Format, ReadsAndWritesAtAnyAlignment) {
  const Header header = pages_header();
  const Bytes payload = filter(header);
  for (std::size_t offset = 0; offset < 16; offset++) {
    SCOPED_TRACE(offset);
    Bytes memory(offset + payload.size());
    std::copy(payload.begin(), payload.end(), memory.begin() + static_cast<long>(offset));
    Header read;
    EXPECT_TRUE(bloomfilter::validate(&memory[offset], payload.size(), &read).ok());
    EXPECT_TRUE(read == header);
    std::fill_n(memory.begin() + static_cast<long>(offset), kHeaderBytes, std::uint8_t{0});
    write_header(&memory[offset], header);
    EXPECT_TRUE(
        std::equal(payload.begin(), payload.end(), memory.begin() + static_cast<long>(offset)));
  }
}

// Numbers of every width, on machines of either byte order.
TEST(Bytes, AreLittleEndian) {
  std::uint8_t bytes[8] = {};
  store<std::uint8_t>(bytes, 0xA1);
  EXPECT_EQ(bytes[0], 0xA1);
  EXPECT_EQ(load<std::uint8_t>(bytes), 0xA1);
  store<std::uint16_t>(bytes, 0xB1B2);
  EXPECT_EQ(Bytes(bytes, bytes + 2), (Bytes{0xB2, 0xB1}));
  EXPECT_EQ(load<std::uint16_t>(bytes), 0xB1B2);
  store<std::uint32_t>(bytes, 0xC1C2C3C4);
  EXPECT_EQ(Bytes(bytes, bytes + 4), (Bytes{0xC4, 0xC3, 0xC2, 0xC1}));
  EXPECT_EQ(load<std::uint32_t>(bytes), 0xC1C2C3C4);
  store<std::uint64_t>(bytes, 0xD1D2D3D4D5D6D7D8);
  EXPECT_EQ(Bytes(bytes, bytes + 8), (Bytes{0xD8, 0xD7, 0xD6, 0xD5, 0xD4, 0xD3, 0xD2, 0xD1}));
  EXPECT_EQ(load<std::uint64_t>(bytes), 0xD1D2D3D4D5D6D7D8);
}

} // namespace
} // namespace bloomfilter
