// Writes the files of test/golden/datasketches that C++ makes: datasketches_golden FOLDER. The
// values are the same as in Golden.java.

#include <bloom_filter.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

using datasketches::bloom_filter;

struct Kind {
  const char *name, *strangers;
  bool (*use)(bloom_filter &filter, int i, bool add); // adds item i, or probes the filter for it
};

template <typename Item> bool apply(bloom_filter &filter, const Item &item, bool add) {
  if (!add)
    return filter.query(item);
  filter.update(item);
  return true;
}

bool use_int64(bloom_filter &filter, int i, bool add) {
  return apply(filter, std::int64_t{i} * 1000003 - 500, add);
}
bool use_double(bloom_filter &filter, int i, bool add) {
  return apply(filter, 0.25 * i - 10, add);
}
bool use_string(bloom_filter &filter, int i, bool add) {
  return apply(filter, "user-" + std::to_string(i), add);
}
bool use_bytes(bloom_filter &filter, int i, bool add) {
  std::string bytes;
  for (int j = 0; j < 1 + i % 40; j++)
    bytes += static_cast<char>(7 * i + 13 * j + (i >> 5));
  if (!add)
    return filter.query(bytes.data(), bytes.size());
  filter.update(bytes.data(), bytes.size());
  return true;
}
bool use_edges(bloom_filter &filter, int i, bool add) {
  static const std::int64_t edges[] = {0,         1,         -1,        127,       -128,
                                       32767,     -32768,    INT32_MAX, INT32_MIN, 1LL << 31,
                                       1LL << 32, INT64_MAX, INT64_MIN};
  return apply(filter, edges[i], add);
}
bool use_double_edges(bloom_filter &filter, int i, bool add) {
  using Limits = std::numeric_limits<double>;
  static const double edges[] = {0.0,
                                 -Limits::quiet_NaN(),
                                 Limits::infinity(),
                                 -Limits::infinity(),
                                 Limits::denorm_min(),
                                 -Limits::denorm_min(),
                                 Limits::max(),
                                 -Limits::max(),
                                 0.1,
                                 1.0 / 3};
  return apply(filter, edges[i], add);
}
bool use_minus_zero(bloom_filter &filter, int, bool add) {
  return apply(filter, -0.0, add);
}
bool use_unicode(bloom_filter &filter, int i, bool add) {
  static const std::string texts[] = {
      "",         "a",     "ab",     "abc", "abcd",   "abcde", "abcdefg",
      "abcdefgh", "naïve", "日本語", "😀",   "Zażółć", "ÿþ",    std::string(1000, 'x')};
  return apply(filter, texts[i], add);
}

const Kind kInt64 = {"int64", "int64", use_int64}, kDouble = {"double", "double", use_double},
           kString = {"string", "string", use_string}, kBytes = {"bytes", "bytes", use_bytes},
           kEdges = {"edges", "int64", use_edges},
           kDoubleEdges = {"double_edges", "double", use_double_edges},
           kMinusZero = {"minus_zero", "double", use_minus_zero},
           kUnicode = {"unicode", "string", use_unicode};

struct Golden {
  std::string folder;
  std::ofstream manifest;

  // If `counted` is false, the file has -1 for the number of bits that are set.
  void write(const std::string &name, bloom_filter filter, bool counted, const Kind &kind, int n) {
    for (int i = 0; i < n; i++)
      kind.use(filter, i, true);
    bloom_filter copy = filter;
    const auto set = static_cast<unsigned long long>(copy.get_bits_used());
    if (counted)
      filter.get_bits_used();
    const auto bytes = filter.serialize();
    std::ofstream file(folder + "/cpp_" + name + ".ds", std::ios::binary);
    file.write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    manifest << "{\"file\":\"cpp_" << name << ".ds\",\"values\":\"" << kind.name << "\",\"n\":" << n
             << ",\"by\":\"C++\",\"seed\":" << static_cast<long long>(filter.get_seed())
             << ",\"k\":" << filter.get_num_hashes() << ",\"bits\":" << filter.get_capacity()
             << ",\"bits_set\":" << set << ",\"counted\":" << (counted ? "true" : "false")
             << ",\"strangers\":\"" << kind.strangers
             << "\",\"from\":1000000,\"count\":20000,\"false_positives\":[";
    const Kind *asked = nullptr;
    for (const Kind *each : {&kInt64, &kDouble, &kString, &kBytes})
      if (std::string(each->name) == kind.strangers)
        asked = each;
    const char *before = "";
    for (int i = 1000000; i < 1020000; i++)
      if (asked->use(filter, i, false)) {
        manifest << before << i;
        before = ",";
      }
    manifest << "]}\n";
  }
};

int main(int, char **arguments) {
  using Builder = bloom_filter::builder;
  const std::string folder = arguments[1];
  Golden golden = {folder, std::ofstream(folder + "/cpp.jsonl")};
  for (const Kind &kind : {kInt64, kDouble, kString, kBytes})
    golden.write(std::string(kind.name) + "_acc1000_0.01_seed123456789012345",
                 Builder::create_by_accuracy(1000, 0.01, 123456789012345), false, kind, 1000);
  golden.write("edges_acc100_0.001_seed-1", Builder::create_by_accuracy(100, 0.001, ~0ULL), true,
               kEdges, 13);
  golden.write("double_edges_acc100_0.05_seed0", Builder::create_by_accuracy(100, 0.05, 0), true,
               kDoubleEdges, 10);
  golden.write("minus_zero_size64_2_seed3", Builder::create_by_size(64, 2, 3), true, kMinusZero, 1);
  golden.write("unicode_acc20_0.0001_seed7", Builder::create_by_accuracy(20, 0.0001, 7), true,
               kUnicode, 14);
  golden.write("int64_size64_1_seed0", Builder::create_by_size(64, 1, 0), true, kInt64, 1);
  golden.write("int64_size6400_255_seed9001", Builder::create_by_size(6400, 255, 9001), true,
               kInt64, 10);
  golden.write("string_empty_size100_3_seed5", Builder::create_by_size(100, 3, 5), true, kString,
               0);
  golden.write("int64_acc20000_0.03_seed0", Builder::create_by_accuracy(20000, 0.03, 0), false,
               kInt64, 20000);
  return 0;
}
