// Tests partial states and hashed values: one of each written out by hand, and every way in which
// their bytes can be wrong.

#include "core/partial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/structure.hpp"
#include "unit/support.hpp"

namespace bloomfilter {
namespace {

using Bytes = std::vector<std::uint8_t>;

Header header_for(std::uint64_t values, std::uint8_t flags) {
  Header header = {{Layout::lines, 0, 0}, {Family::integer, 0}, 0, {values, 0.01}, flags};
  EXPECT_TRUE(size_for(Layout::lines, values, 0.01, &header.geometry));
  return header;
}

void append(Bytes *payload, const std::vector<std::uint64_t> &hashes) {
  for (const std::uint64_t hash : hashes) {
    payload->resize(payload->size() + sizeof hash);
    store(&(*payload)[payload->size() - sizeof hash], hash);
  }
}

Bytes head(const Partial &partial) {
  Bytes payload(kPartialHead);
  write_partial_head(payload.data(), partial);
  return payload;
}

// A self-sized state.
Bytes own() {
  Bytes payload = head({header_for(1, kFlagSelfSized), Content::hashes});
  append(&payload, {1, 2, ~0ULL});
  return payload;
}
// A state of two values for a capacity of 1000. The bitmap for this capacity takes as many bytes as
// 160 hashes.
Bytes sized() {
  Bytes payload = head({header_for(1000, 0), Content::hashes});
  append(&payload, {7, 1ULL << 63});
  return payload;
}
Bytes bitmap() {
  const Header header = header_for(1000, 0);
  Bytes payload = head({header, Content::bitmap});
  payload.resize(payload.size() + header.geometry.bytes(), 0x11);
  return payload;
}

Bytes no_rows() {
  Header header = header_for(1000, 0);
  header.element_type = {};
  return head({header, Content::no_rows});
}

Finding validate(const Bytes &payload) {
  Partial partial;
  return validate_partial(payload.data(), payload.size(), &partial);
}

// Byte by byte as in the table in doc/format.md.
TEST(Partial, Golden) {
  const Bytes golden = {
      1,                                              // 0 version
      0,                                              // 1 content: hashes
      0,    0,                                        // 2 reserved
      1,                                              // 4 a filter's header: version
      1,                                              // 5 layout: lines
      1,                                              // 6 family: integer
      6,                                              // 7 k
      0,    0,    0,    0,    0,    0,    0,    0,    // 8 seed
      0xE8, 0x03, 0,    0,    0,    0,    0,    0,    // 16 expected 1000
      0x7B, 0x14, 0xAE, 0x47, 0xE1, 0x7A, 0x84, 0x3F, // 24 rate 0.01
      20,   0,    0,    0,                            // 32 units
      0,                                              // 36 flags
      0,    0,    0,                                  // 37 shape
      7,    0,    0,    0,    0,    0,    0,    0,    // 40 hashes
      0,    0,    0,    0,    0,    0,    0,    0x80,
  };
  EXPECT_EQ(sized(), golden);
}

TEST(Partial, AcceptsAndReadsBack) {
  Bytes empty = own();
  empty.resize(kPartialHead);
  Bytes of_no_family = empty;
  of_no_family[6] = 0;
  for (const Bytes &payload : {own(), sized(), bitmap(), no_rows(), empty, of_no_family}) {
    Partial parsed, validated;
    ASSERT_TRUE(parse_partial(payload.data(), payload.size(), &parsed).ok());
    ASSERT_TRUE(validate_partial(payload.data(), payload.size(), &validated).ok());
    EXPECT_EQ(parsed.content, validated.content);
    Bytes written = head(parsed);
    EXPECT_TRUE(std::equal(written.begin(), written.end(), payload.begin()));
  }
  Partial partial;
  ASSERT_TRUE(parse_partial(own().data(), own().size(), &partial).ok());
  EXPECT_TRUE(partial.header.is_self_sized());
  ASSERT_TRUE(parse_partial(bitmap().data(), bitmap().size(), &partial).ok());
  EXPECT_FALSE(partial.header.is_self_sized());
  EXPECT_EQ(partial.content, Content::bitmap);
}

// A state has the content that takes fewer bytes. A self-sized state always has hashes.
TEST(Partial, ContentIsTheSmaller) {
  const Geometry geometry = header_for(1000, 0).geometry;
  const std::uint64_t as_many = geometry.bytes() / 8;
  EXPECT_EQ(content_for(false, geometry, 0), Content::hashes);
  EXPECT_EQ(content_for(false, geometry, as_many - 1), Content::hashes);
  EXPECT_EQ(content_for(false, geometry, as_many), Content::bitmap);
  EXPECT_EQ(content_for(true, geometry, 1ULL << 40), Content::hashes);
}

struct Defect {
  const char *name;
  Bytes (*good)();
  void (*damage)(Bytes &payload);
  const char *text;
  std::uint64_t found, wanted;
};

const Defect kDefects[] = {
    {"nothing", own, [](Bytes &b) { b.clear(); }, Fault::truncated, 0, 40},
    {"cut in the head", own, [](Bytes &b) { b.resize(39); }, Fault::truncated, 39, 40},
    {"version 0", own, [](Bytes &b) { b[0] = 0; }, Fault::unknown_version, 0, 1},
    {"version 2", own, [](Bytes &b) { b[0] = 2; }, Fault::unknown_version, 2, 1},
    {"content 3", own, [](Bytes &b) { b[1] = 3; }, Fault::unknown_content, 3, 0},
    {"no rows of its own size", own,
     [](Bytes &b) {
       b[1] = 2;
       b.resize(kPartialHead);
     },
     Fault::unknown_content, 2, 0},
    {"no rows of a family", sized,
     [](Bytes &b) {
       b[1] = 2;
       b.resize(kPartialHead);
     },
     Fault::unknown_content, 2, 0},
    {"no rows, and a hash", no_rows, [](Bytes &b) { b.resize(b.size() + 8); }, Fault::wrong_length,
     48, 40},
    {"bitmap of its own size", own,
     [](Bytes &b) {
       b[1] = 1;
       b.resize(kPartialHead + 64);
     },
     Fault::unknown_content, 1, 0},
    {"reserved byte", own, [](Bytes &b) { b[2] = 1; }, Fault::reserved_bits, 1, 0},
    {"the other one", own, [](Bytes &b) { b[3] = 1; }, Fault::reserved_bits, 256, 0},
    {"version of the header", own, [](Bytes &b) { b[4] = 2; }, Fault::unknown_version, 2, 1},
    {"layout of Guava", sized, [](Bytes &b) { b[5] = 3; }, Fault::unknown_layout, 3, 0},
    {"counters", sized, [](Bytes &b) { b[5] = 0x11; }, Fault::unknown_layout, 0x11, 0},
    {"a cuckoo filter", sized, [](Bytes &b) { b[5] = 0x21; }, Fault::unknown_layout, 0x21, 0},
    {"byte strings", sized, [](Bytes &b) { b[6] = 26; }, Fault::bad_family, 26, 0},
    {"another k", sized, [](Bytes &b) { b[7] = 5; }, Fault::bad_units, 20, 0},
    {"seed", sized, [](Bytes &b) { b[8] = 7; }, Fault::bad_seed, 7, 0},
    {"capacity unknown", sized,
     [](Bytes &b) {
       store<std::uint64_t>(&b[16], 0);
       store<std::uint64_t>(&b[24], 0);
     },
     Fault::bad_capacity, 0, 0},
    {"own for two values", own, [](Bytes &b) { b[16] = 2; }, Fault::bad_capacity, 2, 0},
    {"another capacity", sized, [](Bytes &b) { b[17] = 4; }, Fault::bad_units, 20, 0},
    {"other units", sized, [](Bytes &b) { b[32] = 21; }, Fault::bad_units, 21, 0},
    {"intersection", sized, [](Bytes &b) { b[36] = 0x08; }, Fault::unknown_flags, 0x08, 0},
    {"growing", own, [](Bytes &b) { b[36] = 0x06; }, Fault::unknown_flags, 0x06, 0},
    {"shape of integers", own, [](Bytes &b) { b[37] = 1; }, Fault::bad_shape, 1, 0},
    {"half a hash", own, [](Bytes &b) { b.pop_back(); }, Fault::wrong_length, 63, 56},
    {"hashes as many as the bitmap", sized,
     [](Bytes &b) {
       for (std::uint64_t i = 2; i < 160; i++)
         append(&b, {(1ULL << 63) + i});
     },
     Fault::too_many_hashes, 160, 1280},
    {"a bitmap too short", bitmap, [](Bytes &b) { b.pop_back(); }, Fault::wrong_length,
     kPartialHead + 1279, kPartialHead + 1280},
    {"a bitmap too long", bitmap, [](Bytes &b) { b.push_back(0); }, Fault::wrong_length,
     kPartialHead + 1281, kPartialHead + 1280},
    {"hashes of no family", own, [](Bytes &b) { b[6] = 0; }, Fault::stray_hashes, 24, 0},
    {"bits of no family", bitmap, [](Bytes &b) { b[6] = 0; }, Fault::stray_hashes, 1280, 0},
    {"hashes out of order", own, [](Bytes &b) { b[40] = 3; }, Fault::bad_hashes, 1, 0},
    {"a hash twice", own, [](Bytes &b) { std::fill(b.begin() + 48, b.end(), 9); },
     Fault::bad_hashes, 2, 0},
};

// parse_partial() takes constant time. It finds all defects, except those in the order of the
// hashes.
TEST(Partial, RejectsEveryDefect) {
  for (const Defect &defect : kDefects) {
    SCOPED_TRACE(defect.name);
    Bytes payload = defect.good();
    ASSERT_TRUE(validate(payload).ok());
    defect.damage(payload);
    const Finding finding = validate(payload);
    EXPECT_EQ(finding.text, defect.text);
    EXPECT_EQ(finding.found, defect.found);
    EXPECT_EQ(finding.wanted, defect.wanted);
    Partial partial;
    const Finding parsed = parse_partial(payload.data(), payload.size(), &partial);
    EXPECT_EQ(parsed.text, defect.text == Fault::bad_hashes ? nullptr : defect.text);
  }
}

// A filter is not accepted as a partial state, nor a partial state as a filter.
TEST(Partial, IsNoFilter) {
  for (const Bytes &payload : {own(), sized(), bitmap()}) {
    Header header;
    EXPECT_FALSE(parse(payload.data(), payload.size(), &header).ok());
    EXPECT_TRUE(parse_head(payload.data() + 4, payload.size() - 4, &header).ok());
    EXPECT_FALSE(validate(Bytes(payload.begin() + 4, payload.end())).ok());
  }
}

Bytes value_bytes(const HashedValue &value) {
  Bytes bytes(kHashedValueBytes);
  write_hashed_value(bytes.data(), value);
  return bytes;
}

TEST(HashedValue, Golden) {
  const Bytes golden = {
      24,   0,    0,    0,                            // 0 family: row
      0xEF, 0xCD, 0xAB, 0,                            // 4 shape
      0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, // 8 hash
      0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, // 16 the same
  };
  const std::uint64_t hash = 0x0102030405060708;
  const HashedValue value = {{Family::row, 0xABCDEF}, hash, hash};
  EXPECT_EQ(value_bytes(value), golden);
  HashedValue read;
  ASSERT_TRUE(read_hashed_value(golden.data(), golden.size(), &read).ok());
  EXPECT_TRUE(read == value);
}

TEST(HashedValue, RejectsEveryDefect) {
  const HashedValue text = {{Family::text, 0}, 1, 2};
  const struct {
    const char *name;
    void (*damage)(Bytes &bytes);
    const char *text;
  } defects[] = {
      {"too short", [](Bytes &b) { b.pop_back(); }, Fault::wrong_length},
      {"too long", [](Bytes &b) { b.push_back(0); }, Fault::wrong_length},
      {"reserved", [](Bytes &b) { b[3] = 1; }, Fault::reserved_bits},
      {"family 31", [](Bytes &b) { b[0] = 31; }, Fault::unknown_family},
      {"no family", [](Bytes &b) { b[0] = 0; }, Fault::bad_family},
      {"family of another system", [](Bytes &b) { b[0] = 26; }, Fault::bad_family},
      {"shape of text", [](Bytes &b) { b[4] = 1; }, Fault::bad_shape},
      {"array without shape", [](Bytes &b) { b[0] = 21; }, Fault::bad_shape},
      {"shape of 25 bits", [](Bytes &b) { b[0] = 21, b[7] = 1; }, Fault::bad_shape},
      {"second hash of an integer", [](Bytes &b) { b[0] = 1; }, Fault::bad_second},
  };
  HashedValue read;
  ASSERT_TRUE(read_hashed_value(value_bytes(text).data(), kHashedValueBytes, &read).ok());
  for (const auto &defect : defects) {
    SCOPED_TRACE(defect.name);
    Bytes bytes = value_bytes(text);
    defect.damage(bytes);
    EXPECT_EQ(read_hashed_value(bytes.data(), bytes.size(), &read).text, defect.text);
  }
}

} // namespace
} // namespace bloomfilter
