// Rebuilds whole filters bit for bit from the files that test/golden/README.md describes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/counting.hpp"
#include "core/cuckoo.hpp"
#include "core/format.hpp"
#include "core/sizing.hpp"
#include "core/structure.hpp"
#include "unit/support.hpp"

namespace bloomfilter {
namespace {

std::string hex(const std::uint8_t *bytes, std::size_t length) {
  std::string text;
  char digits[3];
  for (std::size_t i = 0; i < length; i++) {
    std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
    text += digits;
  }
  return text;
}

std::string read_golden(const std::string &name) {
  std::ifstream file(SOURCE_DIR "/test/golden/core/" + name);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

struct Golden {
  const char *file;
  Layout layout; // the profile of the filter's layout
  Family family;
  std::uint64_t seed, expected;
  double rate;
  std::uint64_t (*hash)(int value, std::uint64_t seed); // for the values 1 ... 100
};

std::uint64_t hash_of_integer(int value, std::uint64_t seed) {
  return hash_integer(value, seed);
}

std::uint64_t hash_of_text(int value, std::uint64_t seed) {
  const std::string text = "value " + std::to_string(value);
  return hash_bytes(text.data(), text.size(), seed);
}

void add_golden(const Kernel &kernel, const Geometry &geometry, std::uint8_t *bitmap, int value,
                std::uint64_t hash) {
  switch (kind_of(geometry.layout)) {
  case Kind::counting:
    for (int times = 0; times < value % 20 + 1; times++)
      counting_add_many(geometry, bitmap, &hash, 1);
    break;
  case Kind::cuckoo:
    EXPECT_TRUE(cuckoo_add(geometry, bitmap, cuckoo_place(geometry, hash)));
    break;
  default:
    add(kernel, geometry, bitmap, hash);
  }
}

class GoldenFilter : public testing::TestWithParam<Golden> {};

TEST_P(GoldenFilter, IsRebuilt) {
  const Golden &golden = GetParam();
  Header header = {{}, {golden.family, 0}, golden.seed, {golden.expected, golden.rate}};
  ASSERT_TRUE(size_for(golden.layout, golden.expected, golden.rate, &header.geometry));

  for (const Kernel *kernel : all_kernels()) {
    SCOPED_TRACE(kernel->name);
    std::vector<std::uint8_t> payload(header.payload_bytes());
    std::uint8_t *bitmap = payload.data() + kHeaderBytes;
    std::string text;
    write_header(payload.data(), header);
    for (int value = 1; value <= 100; value++) {
      const std::uint64_t hash = golden.hash(value, golden.seed);
      char line[64];
      std::snprintf(line, sizeof line, "hash %d %016llx\n", value,
                    static_cast<unsigned long long>(hash));
      text += line;
      add_golden(*kernel, header.geometry, bitmap, value, hash);
    }
    text += "header " + hex(payload.data(), kHeaderBytes) + "\n";
    const std::size_t bytes = header.geometry.bytes();
    for (std::size_t i = 0; i < bytes; i += kLineBytes)
      text += "line " + hex(bitmap + i, std::min<std::size_t>(kLineBytes, bytes - i)) + "\n";
    EXPECT_EQ(text, read_golden(golden.file));
  }
}

INSTANTIATE_TEST_SUITE_P(Core, GoldenFilter,
                         testing::Values(Golden{"lines.txt", Layout::lines, Family::integer, 0, 100,
                                                0.01, hash_of_integer},
                                         Golden{"pages.txt", Layout::lines, Family::text, 42, 400,
                                                1e-4, hash_of_text},
                                         Golden{"counting_lines.txt", Layout::counting_lines,
                                                Family::integer, 0, 100, 0.01, hash_of_integer},
                                         Golden{"counting_pages.txt", Layout::counting_lines,
                                                Family::text, 42, 400, 1e-4, hash_of_text},
                                         Golden{"cuckoo.txt", Layout::cuckoo, Family::integer, 0,
                                                100, 0.01, hash_of_integer}),
                         [](const auto &info) {
                           const std::string file = info.param.file;
                           return file.substr(0, file.find('.'));
                         });

} // namespace
} // namespace bloomfilter
