// See iso8601.hpp. A literal is scanned once to check its form. T and Z are replaced in a copy.

#include "pg/element/iso8601.hpp"

extern "C" {
#include "lib/stringinfo.h"
}

namespace bloomfilter {

namespace {

bool is_digit(char character) {
  return character >= '0' && character <= '9';
}

// Scans a text from `at` on. Each function looks for what its name says. If it finds that, it moves
// `at` past it and returns true.
struct Scanner {
  const char *at;

  bool character(char expected) {
    const bool found = *at == expected;
    at += found;
    return found;
  }

  bool pair() {
    const bool found = is_digit(at[0]) && is_digit(at[1]);
    at += found ? 2 : 0;
    return found;
  }

  bool digits(int least) {
    const char *start = at;
    while (is_digit(*at))
      at++;
    return at - start >= least;
  }

  bool date() { return digits(4) && character('-') && pair() && character('-') && pair(); }

  bool time() {
    if (!pair() || !character(':') || !pair())
      return false;
    return !character(':') || (pair() && (!character('.') || digits(1)));
  }

  bool separated_time() { return (character('T') || character(' ')) && time(); }

  bool offset() {
    if (character('Z'))
      return true;
    if ((!character('+') && !character('-')) || !pair())
      return false;
    const bool minutes = character(':') || is_digit(*at);
    return !minutes || (pair() && (!character(':') || pair()));
  }

  bool end(bool needs_offset) {
    character(' ');
    if (*at == '\0')
      return !needs_offset;
    return offset() && *at == '\0';
  }
};

char *without_letters(const char *literal) {
  StringInfoData text;
  initStringInfo(&text);
  for (; *literal != '\0'; literal++)
    if (*literal == 'Z')
      appendStringInfoString(&text, "+00");
    else
      appendStringInfoChar(&text, *literal == 'T' ? ' ' : *literal);
  return text.data;
}

char *date_and_time(const char *literal, bool needs_offset) {
  Scanner scanner = {literal};
  if (!scanner.date())
    return nullptr;
  Scanner timed = scanner;
  const bool found = timed.separated_time() ? timed.end(needs_offset) : scanner.end(needs_offset);
  return found ? without_letters(literal) : nullptr;
}

} // namespace

char *iso_date(const char *literal) {
  return date_and_time(literal, false);
}

char *iso_date_with_offset(const char *literal) {
  return date_and_time(literal, true);
}

char *iso_time(const char *literal) {
  Scanner scanner = {literal};
  return scanner.time() && scanner.end(false) ? without_letters(literal) : nullptr;
}

} // namespace bloomfilter
