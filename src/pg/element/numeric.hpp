// numeric, read directly in its stored form.
//
// The function that the server offers for this, numeric_send(), makes a message of each value, and
// the macros of utils/adt/numeric.c are private to that file. But the stored form cannot change:
// pg_upgrade takes tables over as they are, so every server since 9.1 reads what every other has
// stored.
//
//   u16  header: 00 or 01 in the upper two bits: the long form, with the sign there and the scale,
//        which is not hashed, below; 10: the short form, with sign, scale and weight; 11: no number
//   i16  weight, of the long form only
//   i16  digits, to base 10000, up to the end
//
// All of these are in the machine's byte order, at any alignment.
#ifndef BLOOMFILTER_PG_ELEMENT_NUMERIC_HPP
#define BLOOMFILTER_PG_ELEMENT_NUMERIC_HPP

#include "pg/server.hpp"

#include "core/bytes.hpp"

namespace bloomfilter {

// A numeric in its canonical form, except for the order of bytes.
struct StoredNumeric {
  const uint8 *digits; // in the stored value, without zeros at either end
  Size count;
  uint16 sign;
  int16 weight;

  Size length() const { return sizeof sign + sizeof weight + count * sizeof(uint16); }

  static uint16 word_at(const uint8 *from) {
    uint16 word;
    memcpy(&word, from, sizeof word);
    return word;
  }
  uint16 digit(Size i) const { return word_at(digits + i * sizeof(uint16)); }

  void trim() {
    while (count > 0 && digit(0) == 0) {
      digits += sizeof(uint16);
      count--;
      weight--;
    }
    while (count > 0 && digit(count - 1) == 0)
      count--;
  }

  // The canonical bytes, `length()` of them.
  void write(uint8 *to) const {
    store(to, sign);
    store(to + sizeof sign, weight);
    to += sizeof sign + sizeof weight;
    for (Size i = 0; i < count; i++)
      store(to + i * sizeof(uint16), digit(i));
  }
};

// Reads a value that is neither compressed nor out of line.
inline StoredNumeric read_numeric(const struct varlena *stored) {
  constexpr uint16 kForm = 0xC000, kShort = 0x8000, kNoNumber = 0xC000, kWhichNoNumber = 0xF000;
  constexpr uint16 kShortNegative = 0x2000, kShortWeight = 0x003F, kShortWeightNegative = 0x0040;
  constexpr uint16 kPositive = 0, kNegative = 0x4000; // in the long form as in the canonical one

  const auto *bytes = reinterpret_cast<const uint8 *>(VARDATA_ANY(stored));
  const uint8 *end = bytes + VARSIZE_ANY_EXHDR(stored);
  const uint16 header = StoredNumeric::word_at(bytes);
  bytes += sizeof header;
  StoredNumeric numeric = {bytes, 0, kPositive, 0};
  switch (header & kForm) {
  case kNoNumber:
    numeric.sign = header & kWhichNoNumber;
    return numeric;
  case kShort:
    numeric.sign = header & kShortNegative ? kNegative : kPositive;
    numeric.weight = static_cast<int16>((header & kShortWeight) -
                                        (header & kShortWeightNegative ? kShortWeightNegative : 0));
    break;
  default:
    numeric.sign = header & kForm;
    numeric.weight = static_cast<int16>(StoredNumeric::word_at(bytes));
    numeric.digits += sizeof numeric.weight;
  }
  numeric.count = (end - numeric.digits) / sizeof(uint16);
  numeric.trim();
  return numeric.count > 0 ? numeric : StoredNumeric{numeric.digits, 0, kPositive, 0};
}

} // namespace bloomfilter

#endif
