// The core alone: nanoseconds per insert and lookup, gigabytes per second of union and count.
//
// A benchmark is named operation/kernel/values/1-in-n, where 1-in-n is the false positive rate.
// Hashes are given, as PostgreSQL's side gives them; operations do not wait for each other's
// result. A filter is filled once and shared: inserting its values again costs the same and changes
// nothing.
#include "core/kernel.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/hash.hpp"
#include "core/sizing.hpp"

namespace bloomfilter {
namespace {

constexpr std::uint64_t kAbsent = 1ULL << 40; // no value of any filter is so large

std::uint64_t hash_of(std::uint64_t value) {
  return hash_bytes(&value, sizeof value, 0);
}

std::vector<std::uint64_t> hashes_from(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> hashes(count);
  for (std::uint64_t &hash : hashes)
    hash = hash_of(first++);
  return hashes;
}

// The bitmap of the values 0 ... values - 1.
class Filter {
public:
  Filter(std::uint64_t values, std::uint64_t one_in) {
    constexpr std::size_t kChunk = 1 << 16;
    if (!size_for_capacity(values, 1.0 / static_cast<double>(one_in), &geometry_))
      std::abort();
    bitmap_.reset(static_cast<std::uint8_t *>(std::aligned_alloc(kLineBytes, geometry_.bytes())));
    std::memset(bitmap_.get(), 0, geometry_.bytes());
    for (std::uint64_t first = 0; first < values; first += kChunk) {
      const auto hashes = hashes_from(first, std::min<std::uint64_t>(kChunk, values - first));
      best_kernel().add_many(geometry_, bitmap_.get(), hashes.data(), hashes.size());
    }
  }

  const Geometry &geometry() const { return geometry_; }
  std::uint8_t *bitmap() { return bitmap_.get(); }

  static Filter &of(std::uint64_t values, std::uint64_t one_in) {
    static std::map<std::pair<std::uint64_t, std::uint64_t>, Filter> filters;
    return filters.try_emplace({values, one_in}, values, one_in).first->second;
  }

private:
  struct Free {
    void operator()(std::uint8_t *memory) const { std::free(memory); }
  };
  Geometry geometry_{};
  std::unique_ptr<std::uint8_t, Free> bitmap_;
};

// Enough hashes to touch more lines than a cache holds.
std::size_t sample_size(std::uint64_t values) {
  return std::min<std::uint64_t>(values, 1 << 20);
}

void lookup(benchmark::State &state, const Kernel &kernel, std::uint64_t values,
            std::uint64_t one_in, std::uint64_t first) {
  Filter &filter = Filter::of(values, one_in);
  const Geometry geometry = filter.geometry();
  const auto hashes = hashes_from(first, sample_size(values));
  for (auto _ : state) {
    std::size_t found = 0;
    for (const std::uint64_t hash : hashes)
      found += kernel.contains(geometry, filter.bitmap(), hash);
    benchmark::DoNotOptimize(found);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(hashes.size()));
}

void insert(benchmark::State &state, const Kernel &kernel, std::uint64_t values,
            std::uint64_t one_in, std::size_t batch) {
  Filter &filter = Filter::of(values, one_in);
  const Geometry geometry = filter.geometry();
  const auto hashes = hashes_from(0, sample_size(values) / batch * batch);
  for (auto _ : state)
    for (std::size_t i = 0; i < hashes.size(); i += batch)
      if (batch == 1)
        kernel.add(geometry, filter.bitmap(), hashes[i]);
      else
        kernel.add_many(geometry, filter.bitmap(), &hashes[i], batch);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(hashes.size()));
}

void unite(benchmark::State &state, std::uint64_t values, std::uint64_t one_in) {
  Filter &filter = Filter::of(values, one_in);
  const std::size_t bytes = filter.geometry().bytes();
  std::vector<std::uint8_t> target(bytes);
  for (auto _ : state) {
    unite_bits(target.data(), filter.bitmap(), bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void count(benchmark::State &state, std::uint64_t values, std::uint64_t one_in) {
  Filter &filter = Filter::of(values, one_in);
  const std::size_t bytes = filter.geometry().bytes();
  for (auto _ : state)
    benchmark::DoNotOptimize(count_bits(filter.bitmap(), bytes));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void register_all() {
  constexpr std::size_t kBatch = 256; // as the aggregate inserts
  for (const std::uint64_t values : {10'000, 1'000'000, 100'000'000})
    for (const std::uint64_t one_in : {100, 10'000}) {
      const std::string size = std::to_string(values) + "/" + std::to_string(one_in);
      for (const char *name : {"scalar", "avx2", "avx512", "neon"}) {
        const Kernel *kernel = find_kernel(name);
        if (!kernel)
          continue;
        const auto add = [&](const char *operation, auto run, std::uint64_t argument) {
          benchmark::RegisterBenchmark(
              (std::string(operation) + "/" + name + "/" + size).c_str(),
              [=](benchmark::State &state) { run(state, *kernel, values, one_in, argument); });
        };
        add("insert", insert, kBatch);
        add("insert_single", insert, 1);
        add("hit", lookup, 0);
        add("miss", lookup, kAbsent);
      }
      benchmark::RegisterBenchmark(("union/best/" + size).c_str(), unite, values, one_in);
      benchmark::RegisterBenchmark(("popcount/best/" + size).c_str(), count, values, one_in);
    }
}

} // namespace
} // namespace bloomfilter

// --kernel prints the name of the kernel that this machine gets.
int main(int argc, char **argv) {
  if (argc == 2 && std::strcmp(argv[1], "--kernel") == 0)
    return std::puts(bloomfilter::best_kernel().name) < 0;
  bloomfilter::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 1;
  benchmark::RunSpecifiedBenchmarks();
}
