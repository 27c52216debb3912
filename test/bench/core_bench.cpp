// Measures the core alone: nanoseconds per insert and lookup, gigabytes per second of union and
// count.
//
// A benchmark is named operation/kernel/values/1-in-n, where 1-in-n is the false positive rate.
// Operations get hashes, as in PostgreSQL, and do not wait for each other's results. Only chained
// lookups wait for the one before, to measure how long a lookup waits for memory. A filter is
// filled once and shared, because inserting its values again costs the same and changes nothing.
//
// Beside the kernels, this measures lookups that are inlined into their loop. It also measures
// Boost.Bloom if its headers are found. Boost.Bloom's lookups are inlined, too, and its blocks have
// 64 bytes, as here.
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

#include "core/bitmap.hpp"
#include "core/counting.hpp"
#include "core/cuckoo.hpp"
#include "core/estimate.hpp"
#include "core/hash.hpp"
#include "core/links.hpp"
#include "core/sizing.hpp"
#include "core/structure.hpp"
#include "inlined.hpp"

#if __has_include(<boost/bloom.hpp>)
#include <boost/bloom.hpp>
#endif

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

// Returns a number of hashes that touch more lines than a cache holds.
std::size_t sample_size(std::uint64_t values) {
  return std::min<std::uint64_t>(values, 1 << 20);
}

std::int64_t items(const benchmark::State &state, std::size_t count) {
  return state.iterations() * static_cast<std::int64_t>(count);
}

constexpr std::size_t kBatch = 256; // as in bf_contains_each() and bf_add_all()

// The kernel and the filter of a benchmark.
struct Case {
  const Kernel &kernel;
  std::uint64_t values, one_in;

  Filter &filter() const { return Filter::of(values, one_in); }
  std::size_t lines() const { return filter().geometry().bytes() / kLineBytes; }
};

void lookup(benchmark::State &state, const Case &of, std::uint64_t first) {
  Filter &filter = of.filter();
  const Geometry geometry = filter.geometry();
  const auto hashes = hashes_from(first, sample_size(of.values));
  const HashTest contains = of.kernel.contains_for(geometry);
  for (auto _ : state) {
    std::size_t found = 0;
    for (const std::uint64_t hash : hashes)
      found += contains(geometry, filter.bitmap(), hash);
    benchmark::DoNotOptimize(found);
  }
  state.SetItemsProcessed(items(state, hashes.size()));
}

void hit(benchmark::State &state, const Case &of) {
  lookup(state, of, 0);
}

void miss(benchmark::State &state, const Case &of) {
  lookup(state, of, kAbsent);
}

void lookup_inlined(benchmark::State &state, const Case &of, std::uint64_t first) {
  Filter &filter = of.filter();
  const auto hashes = hashes_from(first, sample_size(of.values));
  for (auto _ : state)
    benchmark::DoNotOptimize(
        count_inlined(filter.geometry(), filter.bitmap(), hashes.data(), hashes.size()));
  state.SetItemsProcessed(items(state, hashes.size()));
}

void hit_inlined(benchmark::State &state, const Case &of) {
  lookup_inlined(state, of, 0);
}

void miss_inlined(benchmark::State &state, const Case &of) {
  lookup_inlined(state, of, kAbsent);
}

// Each lookup's hash depends on the answer of the lookup before.
void chained(benchmark::State &state, const Case &of) {
  Filter &filter = of.filter();
  const Geometry geometry = filter.geometry();
  const auto hashes = hashes_from(0, sample_size(of.values));
  const HashTest contains = of.kernel.contains_for(geometry);
  for (auto _ : state) {
    std::uint64_t wrong = 0; // always 0, but the processor cannot know
    for (const std::uint64_t hash : hashes)
      wrong |= !contains(geometry, filter.bitmap(), hash ^ wrong);
    benchmark::DoNotOptimize(wrong);
  }
  state.SetItemsProcessed(items(state, hashes.size()));
}

void lookup_many(benchmark::State &state, const Case &of, std::uint64_t first) {
  Filter &filter = of.filter();
  const auto hashes = hashes_from(first, sample_size(of.values) / kBatch * kBatch);
  bool answers[kBatch];
  for (auto _ : state)
    for (std::size_t i = 0; i < hashes.size(); i += kBatch) {
      of.kernel.contains_many(filter.geometry(), filter.bitmap(), &hashes[i], kBatch, answers);
      benchmark::DoNotOptimize(answers);
    }
  state.SetItemsProcessed(items(state, hashes.size()));
}

void hit_many(benchmark::State &state, const Case &of) {
  lookup_many(state, of, 0);
}

void miss_many(benchmark::State &state, const Case &of) {
  lookup_many(state, of, kAbsent);
}

void insert(benchmark::State &state, const Case &of) {
  Filter &filter = of.filter();
  const auto hashes = hashes_from(0, sample_size(of.values) / kBatch * kBatch);
  for (auto _ : state)
    for (std::size_t i = 0; i < hashes.size(); i += kBatch)
      of.kernel.add_many(filter.geometry(), filter.bitmap(), &hashes[i], kBatch);
  state.SetItemsProcessed(items(state, hashes.size()));
}

void unite(benchmark::State &state, const Case &of) {
  std::vector<std::uint8_t> target(of.lines() * kLineBytes);
  for (auto _ : state) {
    of.kernel.unite(target.data(), of.filter().bitmap(), of.lines());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(items(state, target.size()));
}

void popcount(benchmark::State &state, const Case &of) {
  for (auto _ : state)
    benchmark::DoNotOptimize(count_set(of.kernel, of.filter().bitmap(), of.lines() * kLineBytes));
  state.SetBytesProcessed(items(state, of.lines() * kLineBytes));
}

#if __has_include(<boost/bloom.hpp>)

struct Identity {
  using is_avalanching = void; // the inserted values are hashes already
  std::size_t operator()(std::uint64_t hash) const { return hash; }
};
using Boost =
    boost::bloom::filter<std::uint64_t, 1, boost::bloom::fast_multiblock64<8>, 0, Identity>;

void register_boost(const std::string &size, std::uint64_t values, std::uint64_t one_in) {
  static std::map<std::string, Boost> filters;
  const std::size_t capacity = Boost::capacity_for(values, 1.0 / static_cast<double>(one_in));
  char bits[64];
  std::snprintf(bits, sizeof bits, "Boost.Bloom with %.2f bits per value",
                static_cast<double>(capacity) / static_cast<double>(values));
  const auto add = [&](const char *operation, std::uint64_t first, auto run) {
    const std::string name = std::string(operation) + "/" + bits + "/" + size;
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State &state) {
      const auto [entry, empty] = filters.try_emplace(size, capacity);
      Boost &filter = entry->second;
      constexpr std::size_t kChunk = 1 << 16;
      for (std::uint64_t at = 0; empty && at < values; at += kChunk)
        for (const std::uint64_t hash :
             hashes_from(at, std::min<std::uint64_t>(kChunk, values - at)))
          filter.insert(hash);
      const auto hashes = hashes_from(first, sample_size(values));
      for (auto _ : state)
        run(filter, hashes);
      state.SetItemsProcessed(items(state, hashes.size()));
    });
  };
  using Hashes = std::vector<std::uint64_t>;
  const auto one_by_one = [](Boost &filter, const Hashes &hashes) {
    std::size_t found = 0;
    for (const std::uint64_t hash : hashes)
      found += filter.may_contain(hash);
    benchmark::DoNotOptimize(found);
  };
  const auto together = [](Boost &filter, const Hashes &hashes) {
    std::size_t found = 0;
    filter.may_contain(hashes.begin(), hashes.end(),
                       [&found](std::uint64_t, bool answer) { found += answer; });
    benchmark::DoNotOptimize(found);
  };
  add("hit", 0, one_by_one);
  add("miss", kAbsent, one_by_one);
  add("hit_many", 0, together);
  add("miss_many", kAbsent, together);
  add("insert", 0, [](Boost &filter, const Hashes &hashes) {
    filter.insert(hashes.begin(), hashes.end());
    benchmark::ClobberMemory();
  });
}

#else

void register_boost(const std::string &, std::uint64_t, std::uint64_t) {}

#endif

// --- the types side by side ----------------------------------------------------------------------

// Measures operations on a filter of each type, for a million values at a rate of 1 / one_in. The
// order of the values does not depend on their places in the filter.
class Types {
public:
  Types(Layout layout, std::uint64_t values, std::uint64_t one_in) : layout_(layout) {
    if (!size_for(layout, values, 1.0 / static_cast<double>(one_in), &geometry_))
      std::abort();
    empty_.resize(geometry_.bytes());
  }
  std::vector<std::uint8_t> empty() const { return empty_; }

  void add(std::vector<std::uint8_t> &filter, const std::vector<std::uint64_t> &hashes) const {
    switch (kind_of(layout_)) {
    case Kind::bloom:
      best_kernel().add_many(geometry_, filter.data(), hashes.data(), hashes.size());
      break;
    case Kind::counting:
      counting_add_many(geometry_, filter.data(), hashes.data(), hashes.size());
      break;
    case Kind::cuckoo:
      for (const std::uint64_t hash : hashes)
        if (!cuckoo_add(geometry_, filter.data(), cuckoo_place(geometry_, hash)))
          std::abort();
    }
  }
  bool contains(const std::vector<std::uint8_t> &filter, std::uint64_t hash) const {
    return structure_contains(best_kernel(), geometry_, filter.data(), {hash, 0});
  }
  void remove(std::vector<std::uint8_t> &filter, std::uint64_t hash) const {
    if (layout_ == Layout::cuckoo)
      cuckoo_remove(geometry_, filter.data(), hash);
    else
      counting_remove(geometry_, filter.data(), hash);
  }

private:
  Layout layout_;
  Geometry geometry_{};
  std::vector<std::uint8_t> empty_;
};

void register_types() {
  constexpr std::uint64_t kValues = 1'000'000;
  const std::pair<const char *, Layout> all[] = {{"bloomfilter", Layout::lines},
                                                 {"countingbloomfilter", Layout::counting_lines},
                                                 {"cuckoofilter", Layout::cuckoo}};
  for (const std::uint64_t one_in : {100, 1'000, 10'000})
    for (const auto &[name, layout] : all) {
      const Types types(layout, kValues, one_in);
      const auto enter = [&, name = name](const char *operation, auto run) {
        const std::string title = std::string(operation) + "/" + name + "/" +
                                  std::to_string(kValues) + "/" + std::to_string(one_in);
        benchmark::RegisterBenchmark(title.c_str(), [=](benchmark::State &state) {
          const auto hashes = hashes_from(0, kValues);
          auto filter = types.empty();
          types.add(filter, hashes);
          run(state, types, filter, hashes);
          state.SetItemsProcessed(items(state, hashes.size()));
        });
      };
      using Bytes = std::vector<std::uint8_t>;
      using Hashes = std::vector<std::uint64_t>;
      enter("type_add",
            [](benchmark::State &state, const Types &of, Bytes &filter, const Hashes &hashes) {
              for (auto _ : state) {
                state.PauseTiming();
                filter = of.empty();
                state.ResumeTiming();
                of.add(filter, hashes);
              }
            });
      const auto look_up = [](std::uint64_t first) {
        return [first](benchmark::State &state, const Types &of, Bytes &filter, const Hashes &) {
          const auto hashes = hashes_from(first, kValues);
          for (auto _ : state) {
            std::size_t found = 0;
            for (const std::uint64_t hash : hashes)
              found += of.contains(filter, hash);
            benchmark::DoNotOptimize(found);
          }
        };
      };
      enter("type_hit", look_up(0));
      enter("type_miss", look_up(kAbsent));
      if (layout != Layout::lines)
        enter("type_remove",
              [](benchmark::State &state, const Types &of, Bytes &filter, const Hashes &hashes) {
                const Bytes full = filter;
                for (auto _ : state) {
                  state.PauseTiming();
                  filter = full;
                  state.ResumeTiming();
                  for (const std::uint64_t hash : hashes)
                    of.remove(filter, hash);
                }
              });
    }
}

using Run = void (*)(benchmark::State &, const Case &);

void register_case(const std::string &name, Run run, const Case &of) {
  benchmark::RegisterBenchmark(name.c_str(), run, of);
}

void register_all() {
  for (const std::uint64_t values : {10'000, 1'000'000, 100'000'000})
    for (const std::uint64_t one_in : {100, 10'000}) {
      const std::string size = std::to_string(values) + "/" + std::to_string(one_in);
      for (const char *name : {"scalar", "avx2", "avx512", "neon"}) {
        const Kernel *kernel = find_kernel(name);
        if (!kernel)
          continue;
        const auto add = [&](const char *operation, Run run) {
          register_case(std::string(operation) + "/" + name + "/" + size, run,
                        {*kernel, values, one_in});
        };
        add("insert", insert);
        add("hit", hit);
        add("miss", miss);
        add("hit_many", hit_many);
        add("miss_many", miss_many);
        add("union", unite);
        add("popcount", popcount);
      }
      Geometry geometry;
      if (size_for_capacity(values, 1.0 / static_cast<double>(one_in), &geometry) &&
          is_inlined(geometry)) {
        const Case of = {best_kernel(), values, one_in};
        register_case(std::string("hit/inlined ") + best_kernel().name + "/" + size, hit_inlined,
                      of);
        register_case(std::string("miss/inlined ") + best_kernel().name + "/" + size, miss_inlined,
                      of);
      }
      register_boost(size, values, one_in);
    }
  for (const std::uint64_t values : {100'000, 1'000'000, 10'000'000})
    register_case(std::string("chained/") + best_kernel().name + "/" + std::to_string(values) +
                      "/100",
                  chained, {best_kernel(), values, 100});
  register_types();
}

} // namespace
} // namespace bloomfilter

// With --kernel, prints the name of the kernel that this machine uses.
int main(int argc, char **argv) {
  if (argc == 2 && std::strcmp(argv[1], "--kernel") == 0)
    return std::puts(bloomfilter::best_kernel().name) < 0;
  bloomfilter::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 1;
  benchmark::RunSpecifiedBenchmarks();
}
