// LIKE and simple regular expressions, as PostgreSQL's documentation defines them: by trying
// everything. The tests of n-grams compare with it. It is slow, and shares no code with the core.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bloomfilter {

using Characters = std::vector<std::string>;

// The characters of a text in UTF-8.
inline Characters characters_of(const std::string &text) {
  Characters characters;
  for (const char byte : text) {
    if ((byte & 0xC0) != 0x80)
      characters.emplace_back();
    characters.back() += byte;
  }
  return characters;
}

enum class Case { matters, ignored };

inline bool same(const std::string &a, const std::string &b, Case letter_case) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return a == b || (letter_case == Case::ignored && a.size() == 1 && b.size() == 1 &&
                    lower(a[0]) == lower(b[0]));
}

// An item of a pattern, and how often it stands there: `least` times or, if it repeats, any number
// above that.
struct PatternItem {
  enum { character, any, start, end } what;
  std::string text; // of a character
  std::size_t least;
  std::size_t most;
};
using Pattern = std::vector<PatternItem>;
constexpr std::size_t kAnyNumber = ~std::size_t{0};

// The same as matches(), for the rest of the pattern and of the text.
inline bool matches_from(const Pattern &pattern, std::size_t item, const Characters &text,
                         std::size_t at, bool to_end, Case letter_case) {
  if (item == pattern.size())
    return !to_end || at == text.size();
  const PatternItem &next = pattern[item];
  const auto rest = [&](std::size_t from) {
    return matches_from(pattern, item + 1, text, from, to_end, letter_case);
  };
  if (next.what == PatternItem::start || next.what == PatternItem::end)
    return at == (next.what == PatternItem::start ? 0 : text.size()) && rest(at);
  for (std::size_t count = 0; count <= next.most; count++) {
    if (count >= next.least && rest(at + count))
      return true;
    if (at + count == text.size() ||
        (next.what == PatternItem::character && !same(next.text, text[at + count], letter_case)))
      return false;
  }
  return false;
}

// A LIKE pattern. Sets `ends_well` to false if it ends with `\`; it then matches nothing.
inline Pattern like_pattern(const std::string &text, bool *ends_well) {
  Pattern pattern;
  *ends_well = true;
  const Characters all = characters_of(text);
  for (std::size_t i = 0; i < all.size(); i++) {
    if (all[i] == "%") {
      pattern.push_back({PatternItem::any, "", 0, kAnyNumber});
    } else if (all[i] == "_") {
      pattern.push_back({PatternItem::any, "", 1, 1});
    } else if (all[i] != "\\") {
      pattern.push_back({PatternItem::character, all[i], 1, 1});
    } else if (++i < all.size()) {
      pattern.push_back({PatternItem::character, all[i], 1, 1});
    } else {
      *ends_well = false;
    }
  }
  return pattern;
}

inline bool is_like(const std::string &text, const std::string &pattern, Case letter_case) {
  bool ends_well;
  const Pattern items = like_pattern(pattern, &ends_well);
  return ends_well && matches_from(items, 0, characters_of(text), 0, true, letter_case);
}

inline bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// A regular expression of literal characters, escaped punctuation, `.`, `^`, `$` and the
// quantifiers
// `*`, `+`, `?`, with `?` after them. False for any other.
inline bool simple_regex(const std::string &text, Pattern *pattern) {
  const Characters all = characters_of(text);
  const auto is = [&](std::size_t i, const char *any_of) {
    return i < all.size() && all[i].size() == 1 &&
           std::string(any_of).find(all[i]) != std::string::npos;
  };
  for (std::size_t i = 0; i < all.size(); i++) {
    if (is(i, "|()[{*+?"))
      return false;
    PatternItem item = {PatternItem::character, all[i], 1, 1};
    if (is(i, "^")) {
      item.what = PatternItem::start;
    } else if (is(i, "$")) {
      item.what = PatternItem::end;
    } else if (is(i, ".")) {
      item.what = PatternItem::any;
    } else if (is(i, "\\")) {
      if (++i == all.size() || all[i].size() > 1 || is_letter_or_digit(all[i][0]))
        return false;
      item.text = all[i];
    }
    const bool repeats = item.what == PatternItem::character || item.what == PatternItem::any;
    if (repeats && is(i + 1, "*+?")) {
      i++;
      item.least = is(i, "+") ? 1 : 0;
      item.most = is(i, "?") ? 1 : kAnyNumber;
      i += is(i + 1, "?") ? 1 : 0;
    }
    pattern->push_back(item);
  }
  return true;
}

// True if a part of the text matches the regular expression.
inline bool has_match(const std::string &text, const Pattern &pattern, Case letter_case) {
  const Characters all = characters_of(text);
  for (std::size_t from = 0; from <= all.size(); from++)
    if (matches_from(pattern, 0, all, from, false, letter_case))
      return true;
  return false;
}

// A text that matches a pattern. choose(n) returns a number below n.
template <typename Choose>
std::string matching_text(const Pattern &pattern, const Characters &alphabet, Choose choose) {
  std::string text;
  for (const PatternItem &item : pattern) {
    if (item.what == PatternItem::start || item.what == PatternItem::end)
      continue;
    const std::size_t few = item.least + 2 < item.most ? item.least + 2 : item.most;
    for (std::size_t left = item.least + choose(few - item.least + 1); left > 0; left--)
      text += item.what == PatternItem::any ? alphabet[choose(alphabet.size())] : item.text;
  }
  return text;
}

} // namespace bloomfilter
