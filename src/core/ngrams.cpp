// See ngrams.hpp.

#include "core/ngrams.hpp"

#include "core/bytes.hpp"

namespace bloomfilter {
namespace {

// --- the second form -----------------------------------------------------------------------------

// A character that lower() makes an ASCII letter of.
struct Special {
  std::uint8_t letter; // 0: it is none
  std::size_t size;    // in bytes
};

constexpr Special kNone = {0, 0};

// The special character that begins at `at`. `left` is the number of bytes from there on.
Special special_at(const std::uint8_t *at, std::size_t left) {
  if (left < 2)
    return kNone;
  switch (at[0]) {
  case 'I': // and U+0307
    return left >= 3 && at[1] == 0xCC && at[2] == 0x87 ? Special{'i', 3} : kNone;
  case 0xC3: // U+00CC, U+00CD
    return at[1] == 0x8C || at[1] == 0x8D ? Special{'i', 2} : kNone;
  case 0xC4: // U+0128, U+0130
    return at[1] == 0xA8 || at[1] == 0xB0 ? Special{'i', 2} : kNone;
  case 0xE2: // U+212A
    return left >= 3 && at[1] == 0x84 && at[2] == 0xAA ? Special{'k', 3} : kNone;
  default:
    return kNone;
  }
}

// --- the bytes that a condition is certain of ----------------------------------------------------

// Calls use(ngram) for the n-grams of runs of bytes.
template <typename Use> class Runs {
public:
  Runs(UncertainBytes uncertain, Use use) : uncertain_(uncertain), use_(use) {}

  void add(std::uint8_t byte) {
    if ((uncertain_.non_ascii && byte >= 0x80) || (uncertain_.capital_i && byte == 'I')) {
      cut();
      return;
    }
    ngram_ = ngram_ << 8 | folded(byte);
    if (++length_ >= kNgramBytes)
      use_(ngram_);
  }
  // The next byte begins a run.
  void cut() { length_ = 0; }

private:
  UncertainBytes uncertain_;
  Use use_;
  std::uint32_t ngram_ = 0;
  std::size_t length_ = 0;
};

// Calls use(ngram) for the n-grams of a LIKE pattern. A `\` at the end is no byte of a value: the
// server raises an error when it compares a value with it.
template <typename Use>
void for_each_like_ngram(const std::uint8_t *pattern, std::size_t size, UncertainBytes uncertain,
                         Use use) {
  Runs<Use> runs(uncertain, use);
  for (std::size_t i = 0; i < size; i++) {
    if (pattern[i] == '%' || pattern[i] == '_') {
      runs.cut();
      continue;
    }
    if (pattern[i] == '\\' && ++i == size)
      return;
    runs.add(pattern[i]);
  }
}

bool is_alphanumeric(std::uint8_t byte) {
  const std::uint8_t letter = folded(byte);
  return (letter >= 'a' && letter <= 'z') || (byte >= '0' && byte <= '9');
}

// Reads a regular expression from start to end.
class RegexReader {
public:
  RegexReader(const std::uint8_t *pattern, std::size_t size, bool is_utf8)
      : pattern_(pattern), size_(size), next_(0), is_utf8_(is_utf8) {}

  // Calls use(ngram) for the n-grams. Returns false if the expression is not simple. The n-grams up
  // to there are then not certain.
  template <typename Use> bool read(UncertainBytes uncertain, Use use) {
    Runs<Use> runs(uncertain, use);
    while (next_ < size_) {
      const std::size_t start = next_;
      switch (read_item()) {
      case Item::other:
        return false;
      case Item::anchor:
        runs.cut();
        break;
      case Item::any_character:
        runs.cut();
        (void)read_quantifier();
        break;
      case Item::literal: {
        const std::size_t first = pattern_[start] == '\\' ? start + 1 : start, end = next_;
        const std::uint8_t quantifier = read_quantifier();
        if (quantifier == 0 || quantifier == '+')
          for (std::size_t i = first; i < end; i++)
            runs.add(pattern_[i]);
        if (quantifier != 0)
          runs.cut();
        break;
      }
      }
    }
    return true;
  }

private:
  enum class Item { literal, any_character, anchor, other };

  Item read_item() {
    switch (pattern_[next_]) {
    case '^':
    case '$':
      next_++;
      return Item::anchor;
    case '.':
      next_++;
      return Item::any_character;
    case '|':
    case '(':
    case ')':
    case '[':
    case '{':
    case '*': // A quantifier belongs to the item before it, which has been read together with it.
    case '+': // Others are errors, or begin a "director" such as `***=`.
    case '?':
      return Item::other;
    case '\\':
      // Whether a letter outside ASCII is alphanumeric depends on the server.
      if (next_ + 1 == size_ || is_alphanumeric(pattern_[next_ + 1]) || pattern_[next_ + 1] >= 0x80)
        return Item::other;
      next_ += 2;
      return Item::literal;
    default:
      next_++;
      while (is_utf8_ && next_ < size_ && (pattern_[next_] & 0xC0) == 0x80)
        next_++; // the rest of the character
      return Item::literal;
    }
  }

  // Reads a quantifier, if there is one, and a `?` after it, which makes it not greedy. Returns 0
  // or the quantifier.
  std::uint8_t read_quantifier() {
    if (next_ == size_)
      return 0;
    const std::uint8_t quantifier = pattern_[next_];
    if (quantifier != '*' && quantifier != '+' && quantifier != '?')
      return 0;
    next_++;
    if (next_ < size_ && pattern_[next_] == '?')
      next_++;
    return quantifier;
  }

  const std::uint8_t *pattern_;
  std::size_t size_, next_;
  bool is_utf8_;
};

// --- a few of many n-grams -----------------------------------------------------------------------

// Takes every n-gram, or every second, or so on, such that there is room for the last one.
class Selection {
public:
  explicit Selection(std::size_t of)
      : taken_{}, step_((of + NeedleNgrams::kMost - 1) / NeedleNgrams::kMost), skipped_(0) {}

  void offer(std::uint32_t ngram) {
    if (++skipped_ < step_)
      return;
    skipped_ = 0;
    for (int i = 0; i < taken_.count; i++)
      if (taken_.items[i] == ngram)
        return;
    taken_.items[taken_.count++] = ngram;
  }
  const NeedleNgrams &taken() const { return taken_; }

private:
  NeedleNgrams taken_;
  std::size_t step_, skipped_;
};

// The n-grams for which for_each(use) calls use(ngram). It is called twice.
template <typename ForEach> NeedleNgrams selected(ForEach for_each) {
  std::size_t count = 0;
  for_each([&](std::uint32_t) { count++; });
  Selection selection(count);
  for_each([&](std::uint32_t ngram) { selection.offer(ngram); });
  return selection.taken();
}

} // namespace

bool has_second_form(const std::uint8_t *text, std::size_t size) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  for (std::size_t i = 0; i < size; i++) {
    // Most text is ASCII. So words of ASCII bytes are skipped, and `I` U+0307 is found by the mark.
    while (size - i > kWord && (load<std::uint64_t>(text + i) & 0x8080808080808080) == 0)
      i += kWord;
    const std::size_t start = text[i] == 0xCC && i > 0 ? i - 1 : i;
    if (special_at(text + start, size - start).letter != 0)
      return true;
  }
  return false;
}

std::size_t write_second_form(const std::uint8_t *text, std::size_t size, std::uint8_t *form) {
  std::size_t written = 0;
  for (std::size_t i = 0; i < size;) {
    const Special special = special_at(text + i, size - i);
    form[written++] = special.letter != 0 ? special.letter : text[i];
    i += special.letter != 0 ? special.size : 1;
  }
  return written;
}

NeedleNgrams ngrams_of_part(const std::uint8_t *part, std::size_t size) {
  return selected([=](auto use) { for_each_ngram(part, size, use); });
}

NeedleNgrams ngrams_of_like(const std::uint8_t *pattern, std::size_t size,
                            UncertainBytes uncertain) {
  return selected([=](auto use) { for_each_like_ngram(pattern, size, uncertain, use); });
}

NeedleNgrams ngrams_of_regex(const std::uint8_t *pattern, std::size_t size,
                             UncertainBytes uncertain, bool is_utf8) {
  if (!RegexReader(pattern, size, is_utf8).read(uncertain, [](std::uint32_t) {}))
    return {};
  return selected(
      [=](auto use) { (void)RegexReader(pattern, size, is_utf8).read(uncertain, use); });
}

} // namespace bloomfilter
