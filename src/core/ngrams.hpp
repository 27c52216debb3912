// The n-grams of text: every four bytes in a row, with A–Z folded to a–z.
//
// An index keeps the n-grams of its values. A condition on text (a LIKE pattern, a regular
// expression) says which bytes a value must have in a row, so it is true only for values that have
// all n-grams of these bytes. Here are the n-grams of both sides. They are right for each other:
// a value for which the condition is true has all n-grams that are found in the condition.
//
// Bytes and not characters: LIKE compares bytes, in every encoding, so an n-gram may begin or end
// within a character.
//
// Conditions that ignore case compare other texts than the stored ones: ILIKE compares what lower()
// makes of both sides. For most characters, that is as good as folding A–Z, if only n-grams of four
// ASCII bytes are looked for. But lower() makes ASCII letters of some other characters, too:
//
//   U+212A (Kelvin)              k
//   U+0130 (I with a dot)        i; in ICU i U+0307, except for Turkish and Azeri
//   I U+0307 (the same)          i U+0307; in ICU i, for Turkish and Azeri
//   U+00CC, U+00CD, U+0128       i and two marks; in ICU, for Lithuanian
//
// So a value in UTF-8 that has such a character has a *second form*, in which an ASCII letter takes
// the place of each. Its n-grams are kept as well. Then all ASCII n-grams of lower(value) are
// there, whatever the collation. (For `I` itself, Turkish collations have U+0131, which is not
// ASCII.) No library is asked, so a new version of one cannot break an index, unless it lowers
// another character to ASCII. sql/ngrams.sql looks for such characters under all collations of a
// server.
//
// What this is bad at: conditions without four certain bytes in a row have no n-gram, and every
// value may fulfil them. So may every value fulfil a condition that ignores the case of letters
// outside ASCII.
//
// Tests: test/unit/ngrams_test.cpp, test/fuzz/fuzz_ngrams.cpp, sql/ngrams.sql.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bloomfilter {

constexpr std::size_t kNgramBytes = 4;

// A–Z becomes a–z.
inline std::uint8_t folded(std::uint8_t byte) {
  const bool is_capital = static_cast<std::uint8_t>(byte - 'A') < 26;
  return static_cast<std::uint8_t>(byte | is_capital << 5);
}

// Calls use(ngram) for all n-grams of the bytes, in their order. The first byte of an n-gram is the
// highest byte of its number.
template <typename Use>
void for_each_ngram(const std::uint8_t *bytes, std::size_t size, Use &&use) {
  if (size < kNgramBytes)
    return;
  std::uint32_t ngram = 0;
  for (std::size_t i = 0; i < kNgramBytes - 1; i++)
    ngram = ngram << 8 | folded(bytes[i]);
  for (std::size_t i = kNgramBytes - 1; i < size; i++) {
    ngram = ngram << 8 | folded(bytes[i]);
    use(ngram);
  }
}

// True if a text in UTF-8 has a second form.
bool has_second_form(const std::uint8_t *text, std::size_t size);
// Writes the second form of a text, and returns its size, which is at most that of the text.
std::size_t write_second_form(const std::uint8_t *text, std::size_t size, std::uint8_t *form);

// The n-grams that a condition looks for. If there are none, any value may fulfil the condition.
struct NeedleNgrams {
  // Each n-gram that is looked for costs time, and few are enough to find rare values. So a long
  // condition has only some of its n-grams here, from all its parts.
  static constexpr int kMost = 64;

  std::uint32_t items[kMost]; // without duplicates
  int count;
};

// Which bytes of a condition may be no bytes of a value for which it is true.
struct UncertainBytes {
  bool non_ascii;
  bool capital_i;
};

// Of a text that the value has in it.
NeedleNgrams ngrams_of_part(const std::uint8_t *part, std::size_t size);
// Of a LIKE pattern whose escape character is `\`. The pattern of an ILIKE must be in lower case.
NeedleNgrams ngrams_of_like(const std::uint8_t *pattern, std::size_t size,
                            UncertainBytes uncertain);
// Of a regular expression. It has n-grams only if it consists of literal characters, escaped
// punctuation, `.`, `^`, `$`, and the quantifiers `*`, `+`, `?`. An expression that is not valid
// may have n-grams, too.
NeedleNgrams ngrams_of_regex(const std::uint8_t *pattern, std::size_t size,
                             UncertainBytes uncertain, bool is_utf8);

} // namespace bloomfilter
