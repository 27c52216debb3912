// Tests n-grams: a value for which a condition is true has all n-grams of the condition.

#include "core/ngrams.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "unit/matching.hpp"
#include "unit/support.hpp"

namespace bloomfilter {
namespace {

using Ngrams = std::set<std::string>;

const std::uint8_t *bytes_of(const std::string &text) {
  return reinterpret_cast<const std::uint8_t *>(text.data());
}

// Four bytes of a number, the highest one first.
std::string text_of(std::uint32_t ngram) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8)
    text += static_cast<char>(ngram >> shift);
  return text;
}

Ngrams set_of(const NeedleNgrams &ngrams) {
  Ngrams set;
  for (int i = 0; i < ngrams.count; i++)
    EXPECT_TRUE(set.insert(text_of(ngrams.items[i])).second) << "twice";
  return set;
}

std::string folded_text(std::string text) {
  for (char &c : text)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return text;
}

Ngrams specified_ngrams(const std::string &text) {
  Ngrams set;
  const std::string folded = folded_text(text);
  for (std::size_t i = 0; i + 4 <= folded.size(); i++)
    set.insert(folded.substr(i, 4));
  return set;
}

Ngrams ngrams_of_runs(const std::vector<std::string> &runs) {
  Ngrams set;
  for (const std::string &run : runs)
    set.merge(specified_ngrams(run));
  return set;
}

Ngrams ngrams_of(const std::string &text) {
  Ngrams set;
  for_each_ngram(bytes_of(text), text.size(),
                 [&](std::uint32_t ngram) { set.insert(text_of(ngram)); });
  return set;
}

// Both functions get bytes without a zero byte after them. AddressSanitizer watches their ends.
bool has_form(const std::string &text) {
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  return has_second_form(bytes.data(), bytes.size());
}

std::string second_form_of(const std::string &text) {
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  std::vector<std::uint8_t> form(text.size());
  form.resize(write_second_form(bytes.data(), bytes.size(), form.data()));
  return {form.begin(), form.end()};
}

// What an index keeps of a value.
Ngrams kept_of(const std::string &value) {
  Ngrams kept = ngrams_of(value);
  if (has_form(value))
    kept.merge(ngrams_of(second_form_of(value)));
  return kept;
}

constexpr UncertainBytes kNone = {false, false}, kNonAscii = {true, false},
                         kNonAsciiAndCapitalI = {true, true};

Ngrams like(const std::string &pattern, UncertainBytes uncertain = kNone) {
  return set_of(ngrams_of_like(bytes_of(pattern), pattern.size(), uncertain));
}
Ngrams regex(const std::string &pattern, UncertainBytes uncertain = kNone, bool is_utf8 = true) {
  return set_of(ngrams_of_regex(bytes_of(pattern), pattern.size(), uncertain, is_utf8));
}

bool has_all(const Ngrams &of, const Ngrams &in) {
  return std::includes(in.begin(), in.end(), of.begin(), of.end());
}

template <typename T> const T &one_of(const std::vector<T> &items, Random *random) {
  return items[random->next() % items.size()];
}

std::string random_text(const Characters &alphabet, std::size_t most, Random *random) {
  std::string text;
  for (std::size_t left = random->next() % (most + 1); left > 0; left--)
    text += one_of(alphabet, random);
  return text;
}

// --- values --------------------------------------------------------------------------------------

TEST(Ngrams, OnlyCapitalsAreFolded) {
  for (int byte = 0; byte < 256; byte++) {
    const int expected = byte >= 'A' && byte <= 'Z' ? byte + 32 : byte;
    EXPECT_EQ(folded(static_cast<std::uint8_t>(byte)), expected);
  }
}

TEST(Ngrams, EveryFourBytesInOrder) {
  const std::string text = "Ab\xC3\x9Fz\x80";
  for (std::size_t size = 0; size <= text.size(); size++) {
    std::vector<std::string> found, expected;
    for_each_ngram(bytes_of(text), size,
                   [&](std::uint32_t ngram) { found.push_back(text_of(ngram)); });
    for (std::size_t i = 0; i + 4 <= size; i++)
      expected.push_back(folded_text(text).substr(i, 4));
    EXPECT_EQ(found, expected) << size;
  }
}

const std::vector<std::pair<std::string, std::string>> kSpecials = {
    {"\u212A", "k"}, {"\u0130", "i"}, {"\u00CC", "i"},
    {"\u00CD", "i"}, {"\u0128", "i"}, {"I\u0307", "i"}};

TEST(Ngrams, SecondFormOfEachSpecialCharacterWhereverItIs) {
  for (const auto &[special, letter] : kSpecials)
    for (std::size_t before = 0; before < 20; before++)
      for (std::size_t after = 0; after < 20; after++) {
        const std::string head(before, 'x'), tail(after, 'y');
        const std::string text = head + special + tail;
        ASSERT_TRUE(has_form(text)) << text;
        ASSERT_EQ(second_form_of(text), head + letter + tail);
        for (std::size_t cut = 1; cut < special.size(); cut++) {
          const std::string damaged = head + special.substr(0, cut);
          ASSERT_FALSE(has_form(damaged));
          ASSERT_EQ(second_form_of(damaged), damaged);
        }
      }
}

TEST(Ngrams, OtherTextsHaveNoSecondForm) {
  for (const char *text :
       {"", "I", "plain ASCII text, and more of it", "i\u0307", "J\u0307", "I\u0308", "I \u0307",
        "\u0307", "\u00CB", "\u00CE", "\u0127", "\u0129", "\u012F", "\u0131", "\u2129", "\u212B",
        "\u017F", "\u0412\u043E\u0442 \u0440\u0443\u0441\u0441\u043A\u0438\u0439",
        "\u65E5\u672C"}) {
    EXPECT_FALSE(has_form(text)) << text;
    EXPECT_EQ(second_form_of(text), text);
  }
}

// lower() as libraries do it for the characters in question. Other characters outside ASCII keep
// their bytes here; no n-gram of ASCII bytes has part of them.
using Lowering = std::vector<std::pair<std::string, std::string>>;
const Lowering kC = {};
const Lowering kLibc = {{"\u212A", "k"}, {"\u0130", "i"}};
const Lowering kLibcTurkish = {{"\u212A", "k"}, {"\u0130", "i"}, {"I", "\u0131"}};
const Lowering kIcu = {{"\u212A", "k"}, {"\u0130", "i\u0307"}};
const Lowering kIcuTurkish = {{"\u212A", "k"}, {"\u0130", "i"}, {"I\u0307", "i"}, {"I", "\u0131"}};
const Lowering kIcuLithuanian = {{"\u212A", "k"},
                                 {"\u0130", "i\u0307"},
                                 {"\u00CC", "i\u0307\u0300"},
                                 {"\u00CD", "i\u0307\u0301"},
                                 {"\u0128", "i\u0307\u0303"},
                                 {"I\u0301", "i\u0307\u0301"},
                                 {"I\u0307", "i\u0307\u0307"}};

std::string lowered(const std::string &text, const Lowering &lowering) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto special = std::find_if(lowering.begin(), lowering.end(), [&](const auto &pair) {
      return text.compare(i, pair.first.size(), pair.first) == 0;
    });
    result += special == lowering.end() ? text.substr(i, 1) : special->second;
    i += special == lowering.end() ? 1 : special->first.size();
  }
  return folded_text(result);
}

const Characters kCaseAlphabet = {"I", "I",      "i",      "K",      "k",      "x",       "J",
                                  "a", "\u0130", "\u0131", "\u00CC", "\u00CD", "\u0128",  "\u0307",
                                  "S", "\u212A", "\u017F", "\u00DF", "\u0301", "I\u0307", " "};

TEST(Ngrams, AllAsciiNgramsOfEveryLowerCaseAreKept) {
  Random random(1);
  int lacking = 0;
  for (int round = 0; round < 5000; round++) {
    const std::string value = random_text(kCaseAlphabet, 12, &random);
    const Ngrams kept = kept_of(value), first = ngrams_of(value);
    for (const Lowering *lowering :
         {&kC, &kLibc, &kLibcTurkish, &kIcu, &kIcuTurkish, &kIcuLithuanian})
      for (const std::string &ngram : ngrams_of(lowered(value, *lowering)))
        if (std::all_of(ngram.begin(), ngram.end(), [](char c) { return c >= 0; })) {
          ASSERT_TRUE(kept.count(ngram)) << value << ": " << ngram;
          lacking += first.count(ngram) == 0 ? 1 : 0;
        }
  }
  EXPECT_GT(lacking, 500); // the second form was needed
}

// --- LIKE ----------------------------------------------------------------------------------------

TEST(Ngrams, OfLikePatterns) {
  static const struct {
    std::string pattern;
    std::vector<std::string> runs;
  } cases[] = {
      {"", {}},
      {"abc", {}},
      {"abcd", {"abcd"}},
      {"ABCD", {"abcd"}},
      {"%abcde%", {"abcde"}},
      {"%abc%def%", {}},
      {"%abcd%efgh", {"abcd", "efgh"}},
      {"ab_cd", {}},
      {"abcd_efgh", {"abcd", "efgh"}},
      {"%%%", {}},
      {"ab\\cd", {"abcd"}},
      {"ab\\%cd", {"ab%cd"}},
      {"ab\\_cd", {"ab_cd"}},
      {"ab\\\\cd", {"ab\\cd"}},
      {"ab\\\\%cd", {}},
      {"abcd\\", {"abcd"}},
      {"abcd\\\\", {"abcd\\"}},
      {"\\", {}},
      {"%\\", {}},
      {"%\\%abc", {"%abc"}},
      {"\u00E9\u00E9", {"\u00E9\u00E9"}},
      {"ab\\\u00E9", {"ab\u00E9"}},
      {"\u65E5_\u672C", {}},
  };
  for (const auto &[pattern, runs] : cases)
    EXPECT_EQ(like(pattern), ngrams_of_runs(runs)) << pattern;
}

TEST(Ngrams, OfLikePatternsWithUncertainBytes) {
  EXPECT_EQ(like("abcd\u00E9fghi\\\u00E9jk", kNonAscii), ngrams_of_runs({"abcd", "fghi"}));
  EXPECT_EQ(like("\u0438\u043C\u044F", kNonAscii), Ngrams());
  EXPECT_EQ(like("abcdIefgh", kNonAscii), specified_ngrams("abcdIefgh"));
}

const Characters kAlphabet = {"a", "b", "A", "%", "_", "\\", ".", "\u00E9", "\u65E5"};

TEST(Ngrams, ValuesThatMatchLikeHaveAllNgrams) {
  Random random(2);
  int matching = 0, looked_for = 0;
  for (int round = 0; round < 10000; round++) {
    const std::string pattern = random_text(kAlphabet, 10, &random);
    bool ends_well;
    std::string value = random_text(kAlphabet, 6, &random);
    if (round % 2 == 0)
      value = matching_text(like_pattern(pattern, &ends_well), kAlphabet,
                            [&](std::size_t below) { return random.next() % below; });
    if (!is_like(value, pattern, Case::matters))
      continue;
    matching++;
    looked_for += like(pattern).empty() ? 0 : 1;
    ASSERT_TRUE(has_all(like(pattern), ngrams_of(value))) << pattern << " matches " << value;
  }
  EXPECT_GT(matching, 2000);
  EXPECT_GT(looked_for, 1000);
}

TEST(Ngrams, ValuesThatMatchILikeHaveAllNgrams) {
  Random random(3);
  const Characters alphabet = {"a", "B", "b", "A", "%", "_", "\\", "\u212A", "\u0130", "k", "i"};
  int matching = 0;
  for (int round = 0; round < 5000; round++) {
    const std::string pattern = random_text(alphabet, 10, &random);
    bool ends_well;
    const std::string value =
        matching_text(like_pattern(pattern, &ends_well), alphabet,
                      [&](std::size_t below) { return random.next() % below; });
    for (const Lowering *lowering : {&kC, &kLibc, &kIcu, &kIcuTurkish}) {
      const std::string lower = lowered(pattern, *lowering);
      if (!is_like(lowered(value, *lowering), lower, Case::matters))
        continue;
      matching++;
      ASSERT_TRUE(has_all(like(lower, kNonAscii), kept_of(value))) << pattern << " and " << value;
    }
  }
  EXPECT_GT(matching, 2000);
}

// --- regular expressions -------------------------------------------------------------------------

TEST(Ngrams, OfRegularExpressions) {
  static const struct {
    std::string pattern;
    std::vector<std::string> runs;
  } cases[] = {
      {"", {}},
      {"abc", {}},
      {"abcd", {"abcd"}},
      {"foobar.*barfoo", {"foobar", "barfoo"}},
      {"^GET /api", {"GET /api"}},
      {"timeout$", {"timeout"}},
      {"abcd.efgh", {"abcd", "efgh"}},
      {"ab.cd", {}},
      {"abcde*fghij", {"abcd", "fghij"}},
      {"abcde?fghij", {"abcd", "fghij"}},
      {"abcde+fghij", {"abcde", "fghij"}},
      {"abcde*?fghij", {"abcd", "fghij"}},
      {"abcde+?fghij", {"abcde", "fghij"}},
      {"abcde\?\?fghij", {"abcd", "fghij"}},
      {"abcd.+?efgh", {"abcd", "efgh"}},
      {"abcd^efgh", {"abcd", "efgh"}},
      {"ab\\.cd", {"ab.cd"}},
      {"ab\\(cd\\)", {"ab(cd)"}},
      {"abcd\\.*efgh", {"abcd", "efgh"}},
      {"abc\\.+efgh", {"abc.", "efgh"}},
      {"ab\\\\cd", {"ab\\cd"}},
      {"ab\\{cd}", {"ab{cd}"}},
      {"ab]cd}", {"ab]cd}"}},
      {"ab\ncd%_", {"ab\ncd%_"}},
      {"abc\u00E9*defg", {"defg"}},
      {"abcd\u00E9?", {"abcd"}},
      {"ab\u00E9+", {"ab\u00E9"}},
      {"\u65E5\u672C*abcd", {"abcd"}},
      {"a\u65E5\u672C*", {"a\u65E5"}},
  };
  for (const auto &[pattern, runs] : cases)
    EXPECT_EQ(regex(pattern), ngrams_of_runs(runs)) << pattern;
}

TEST(Ngrams, OtherRegularExpressionsHaveNone) {
  for (const char *pattern :
       {"abcd|efgh",  "abcd(efgh)", "(abcd)?efgh", "abcd)",    "abcd[ef]gh",  "abcde{0}",
        "abcd{",      "***=abcd",   "***:abcd",    "***abcd",  "*abcd",       "+abcd",
        "?abcd",      "(?i)abcd",   "^*abcd",      "$?abcd",   "abcd**",      "abcd*+",
        "abcd\?\?\?", "abcd.*?*",   "abcd\\",      "abcd\\d",  "abcd\\1",     "abcd\\mefgh",
        "\\x41bcdef", "abcd\\Z",    "abcd\\w*",    "\\abcdef", "abcd\\\u00E9"})
    EXPECT_EQ(regex(pattern), Ngrams()) << pattern;
}

TEST(Ngrams, OfRegularExpressionsWithUncertainBytes) {
  EXPECT_EQ(regex("abcd\u00E9fghi", kNonAscii), ngrams_of_runs({"abcd", "fghi"}));
  EXPECT_EQ(regex("abcd\u00E9*fghi", kNonAscii), ngrams_of_runs({"abcd", "fghi"}));
  EXPECT_EQ(regex("abcdIefghi", kNonAscii), specified_ngrams("abcdIefghi"));
  EXPECT_EQ(regex("abcdIefghi", kNonAsciiAndCapitalI), ngrams_of_runs({"abcd", "efghi"}));
}

// In an encoding where a character is a byte, a quantifier takes one byte away.
TEST(Ngrams, OfRegularExpressionsInSingleByteEncodings) {
  EXPECT_EQ(regex("abcd\xE9\xA9*", kNone, false), specified_ngrams("abcd\xE9"));
  EXPECT_EQ(regex("abcd\xE9\xA9*", kNonAscii, false), specified_ngrams("abcd"));
}

TEST(Ngrams, ValuesThatMatchARegularExpressionHaveAllNgrams) {
  Random random(4);
  const Characters alphabet = {"a", "b", "A", "B", "c", "%", "\u00E9", "\u65E5", "."};
  const Characters specials = {".", "*", "+", "?", "^", "$", "\\", "|", "(", "[", "{", "\\."};
  int matching = 0, looked_for = 0;
  for (int round = 0; round < 20000; round++) {
    std::string pattern;
    for (std::size_t left = random.next() % 12; left > 0; left--)
      pattern += one_of(random.next() % 4 == 0 ? specials : alphabet, &random);
    Pattern items;
    if (!simple_regex(pattern, &items)) {
      EXPECT_EQ(regex(pattern), Ngrams()) << pattern;
      continue;
    }
    const auto choose = [&](std::size_t below) { return random.next() % below; };
    const std::string value = random_text(alphabet, 2, &random) +
                              matching_text(items, alphabet, choose) +
                              random_text(alphabet, 2, &random);
    for (const Case letter_case : {Case::matters, Case::ignored}) {
      if (!has_match(value, items, letter_case))
        continue;
      const Ngrams needle = regex(pattern, letter_case == Case::matters ? kNone : kNonAscii);
      matching++;
      looked_for += needle.empty() ? 0 : 1;
      ASSERT_TRUE(has_all(needle, ngrams_of(value))) << pattern << " matches " << value;
    }
  }
  EXPECT_GT(matching, 2000);
  EXPECT_GT(looked_for, 500);
}

// --- long needles --------------------------------------------------------------------------------

TEST(Ngrams, OfAPart) {
  EXPECT_EQ(set_of(ngrams_of_part(bytes_of("Ab%_\\"), 5)), specified_ngrams("ab%_\\"));
  EXPECT_EQ(ngrams_of_part(bytes_of("abc"), 3).count, 0);
}

// A long needle has few of its n-grams, but some from each part of it.
TEST(Ngrams, LongNeedlesHaveSome) {
  Random random(5);
  for (std::size_t size : {66, 67, 68, 130, 131, 132, 1000, 20000}) {
    std::string needle;
    while (needle.size() < size)
      needle += static_cast<char>('a' + random.next() % 26);
    const Ngrams found = set_of(ngrams_of_part(bytes_of(needle), size));
    EXPECT_TRUE(has_all(found, specified_ngrams(needle))) << size;
    EXPECT_EQ(set_of(ngrams_of_part(bytes_of(needle), size)), like("%" + needle + "%"));
    EXPECT_EQ(regex(needle), found);
    EXPECT_LE(found.size(), std::size_t{NeedleNgrams::kMost});
    EXPECT_GE(found.size(), std::size_t{NeedleNgrams::kMost / 2 - 1});
    for (std::size_t part = 0; part < 4; part++) {
      Ngrams of_part = specified_ngrams(needle.substr(part * (size / 4), size / 4)), both;
      std::set_intersection(found.begin(), found.end(), of_part.begin(), of_part.end(),
                            std::inserter(both, both.end()));
      EXPECT_GE(both.size(), std::size_t{5}) << size << ", part " << part;
    }
  }
  const std::string same(20000, 'a');
  EXPECT_EQ(like(same), Ngrams({"aaaa"}));
}

} // namespace
} // namespace bloomfilter
