// Numerics, read directly in their stored form.
//
// The server offers a function for this, numeric_send(), but it makes a message of each value. The
// macros of utils/adt/numeric.c are private to that file. The stored form cannot change, because
// pg_upgrade takes tables over as they are. So every server since 9.1 reads what every other one
// has stored.
//
//   u16  header; its upper two bits are:
//          00 or 01   the long form: they are the sign, and the bits below are the scale, which is
//                     not hashed
//          10         the short form: sign, scale and weight are in the header
//          11         no number: NaN or an infinity
//   i16  weight, of the long form only
//   i16  digits, to base 10000, up to the end
//
// All of these are in the machine's byte order, at any alignment.
#pragma once

#include "pg/server.hpp"

#include "core/bytes.hpp"

namespace bloomfilter {

// A numeric in its canonical form, except for the order of bytes.
struct StoredNumeric {
  const uint8 *digits; // in the stored value; neither the first nor the last one is 0
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

  // Writes the canonical bytes, `length()` of them.
  void write(uint8 *to) const {
    store(to, sign);
    store(to + sizeof sign, weight);
    to += sizeof sign + sizeof weight;
    for (Size i = 0; i < count; i++)
      store(to + i * sizeof(uint16), digit(i));
  }

  // Writes the canonical bytes and zeros after them, 16 bytes in all. Returns false if there are
  // more than 16 canonical bytes. The bytes are put together in registers and stored at once. The
  // reason is that hashing reads many bytes at once. If the bytes had just been stored a few at a
  // time, the processor would have to wait for them.
  bool write_short(uint8 *to) const {
    typedef uint64 Both __attribute__((vector_size(16)));
    if (length() > sizeof(Both))
      return false;
    const uint64 head = sign | static_cast<uint32>(static_cast<uint16>(weight)) << 16;
    const uint64 low = four_digits(digits, Min(count, 4));
    const uint64 high = count > 4 ? four_digits(digits + 4 * sizeof(uint16), count - 4) : 0;
    const Both both = {little_endian(head | low << 32), little_endian(low >> 32 | high << 32)};
    memcpy(to, &both, sizeof both);
    return true;
  }

private:
  // Up to four stored digits. The first digit is in the lowest bits.
  static uint64 four_digits(const uint8 *from, Size count) {
    const uint64 stored = load_first(from, count * sizeof(uint16));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    constexpr uint64 kLowBytes = UINT64CONST(0x00FF00FF00FF00FF);
    return (stored & kLowBytes) << 8 | (stored >> 8 & kLowBytes);
#else
    return stored;
#endif
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
  uint16 sign = header & kForm;
  int weight = 0;
  const bool is_number = sign != kNoNumber;
  if (likely(sign == kShort)) {
    sign = header & kShortNegative ? kNegative : kPositive;
    weight = (header & kShortWeight) - (header & kShortWeightNegative ? kShortWeightNegative : 0);
  } else if (is_number) {
    weight = static_cast<int16>(StoredNumeric::word_at(bytes));
    bytes += sizeof(int16);
  } else {
    sign = header & kWhichNoNumber;
    end = bytes;
  }
  Size count = (end - bytes) / sizeof(uint16);
  for (; count > 0 && StoredNumeric::word_at(bytes) == 0; count--) {
    bytes += sizeof(uint16);
    weight--;
  }
  while (count > 0 && StoredNumeric::word_at(bytes + (count - 1) * sizeof(uint16)) == 0)
    count--;
  if (unlikely(count == 0) && is_number) {
    sign = kPositive;
    weight = 0;
  }
  return {bytes, count, sign, static_cast<int16>(weight)};
}

} // namespace bloomfilter
