// Fuzzes the n-grams of conditions. The input is a pattern, a zero byte and numbers that choose a
// value for which the pattern matches. The value must have all n-grams of the pattern. A byte that
// is not ASCII stands for a character.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "core/ngrams.hpp"
#include "unit/matching.hpp"

using namespace bloomfilter;

namespace {

const std::string kBeyondAscii[] = {"\u00E9", "\u0307", "\u0130", "\u212A"};

void check(const NeedleNgrams &needle, const std::string &value) {
  std::set<std::uint32_t> kept;
  const auto keep = [&](const std::uint8_t *text, std::size_t size) {
    for_each_ngram(text, size, [&](std::uint32_t ngram) { kept.insert(ngram); });
  };
  const auto *bytes = reinterpret_cast<const std::uint8_t *>(value.data());
  keep(bytes, value.size());
  std::string form(value.size(), '\0');
  auto *form_bytes = reinterpret_cast<std::uint8_t *>(&form[0]);
  const std::size_t form_size = write_second_form(bytes, value.size(), form_bytes);
  if (form_size > value.size())
    std::abort();
  form.resize(form_size);
  if (has_second_form(bytes, value.size()) != (form != value))
    std::abort();
  if (needle.count > NeedleNgrams::kMost)
    std::abort();
  for (int i = 0; i < needle.count; i++)
    if (kept.count(needle.items[i]) == 0)
      std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *input, std::size_t length) {
  const std::uint8_t *end = input + length, *next = std::find(input, end, 0);
  std::string pattern;
  for (const std::uint8_t *byte = input; byte < next; byte++)
    pattern += *byte < 0x80 ? std::string(1, static_cast<char>(*byte)) : kBeyondAscii[*byte % 4];
  const auto *bytes = reinterpret_cast<const std::uint8_t *>(pattern.data());
  const auto choose = [&](std::size_t below) {
    return next < end ? *next++ % below : std::size_t{0};
  };
  const Characters alphabet = {"a", "B", "%", "\\", "I", "\u0307", "\u0130", "\u212A"};

  bool ends_well;
  const Pattern items = like_pattern(pattern, &ends_well);
  const NeedleNgrams like = ngrams_of_like(bytes, pattern.size(), {});
  check(ends_well ? like : NeedleNgrams{}, matching_text(items, alphabet, choose));

  Pattern simple;
  const bool is_simple = simple_regex(pattern, &simple);
  const NeedleNgrams regex = ngrams_of_regex(bytes, pattern.size(), {}, true);
  if (!is_simple && regex.count > 0)
    std::abort();
  check(regex, matching_text(simple, alphabet, choose));
  return 0;
}
