// A reader of Thrift's compact protocol (thrift-compact-protocol.md). It has only what is needed to
// find a few fields and skip all others.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bloomfilter {

class ThriftReader {
public:
  enum Type : std::uint8_t {
    stop = 0,
    yes = 1,
    no = 2,
    i8 = 3,
    i16 = 4,
    i32 = 5,
    i64 = 6,
    f64 = 7,
    binary = 8,
    list = 9,
    set = 10,
    map = 11,
    structure = 12,
    uuid = 13,
  };

  ThriftReader(const std::uint8_t *bytes, std::size_t length)
      : begin_(bytes), at_(bytes), end_(bytes + length), good_(true) {}

  // False after a byte that made no sense or was missing.
  bool good() const { return good_; }
  std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }

  // Reads the head of a struct's next field and returns its type. `*id` must be the number of the
  // field before, and becomes the number of this one.
  Type field(std::int64_t *id) {
    const std::uint8_t head = byte();
    const auto type = static_cast<Type>(head & 0x0F);
    if (type == stop)
      return stop;
    if (head >> 4 != 0)
      *id += head >> 4;
    else
      *id = integer();
    if (*id != static_cast<std::int16_t>(*id))
      good_ = false;
    return type;
  }

  std::int64_t integer() { // zigzag
    const std::uint64_t coded = varint();
    return static_cast<std::int64_t>(coded >> 1) ^ -static_cast<std::int64_t>(coded & 1);
  }

  void skip(Type type, int depth = 0) {
    if (depth > 16)
      good_ = false;
    if (!good_)
      return;
    switch (type) {
    case yes:
    case no:
      break; // the type of a boolean field has its value
    case i8:
      advance(1);
      break;
    case i16:
    case i32:
    case i64:
      varint();
      break;
    case f64:
      advance(8);
      break;
    case uuid:
      advance(16);
      break;
    case binary:
      advance(varint());
      break;
    case list:
    case set:
      skip_list(depth);
      break;
    case map:
      skip_map(depth);
      break;
    case structure: {
      std::int64_t id = 0;
      for (Type of_field = field(&id); good_ && of_field != stop; of_field = field(&id))
        skip(of_field, depth + 1);
      break;
    }
    default:
      good_ = false;
    }
  }

private:
  std::uint8_t byte() {
    if (at_ == end_) {
      good_ = false;
      return 0;
    }
    return *at_++;
  }
  void advance(std::uint64_t count) {
    if (count > static_cast<std::uint64_t>(end_ - at_))
      good_ = false;
    else
      at_ += count;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t part = byte();
      value |= static_cast<std::uint64_t>(part & 0x7F) << shift;
      if (part < 0x80)
        return value;
    }
    good_ = false;
    return 0;
  }
  // In lists and maps, a boolean takes one byte. Every item takes at least one byte, so a count
  // above the number of bytes left is wrong.
  void skip_items(std::uint64_t count, Type type, int depth) {
    if (count > static_cast<std::uint64_t>(end_ - at_))
      good_ = false;
    for (; good_ && count > 0; count--)
      skip(type == yes || type == no ? i8 : type, depth + 1);
  }
  void skip_list(int depth) {
    const std::uint8_t head = byte();
    const std::uint64_t count = head >> 4 == 15 ? varint() : head >> 4;
    skip_items(count, static_cast<Type>(head & 0x0F), depth);
  }
  void skip_map(int depth) {
    const std::uint64_t count = varint();
    if (count == 0)
      return;
    const std::uint8_t types = byte();
    if (count > static_cast<std::uint64_t>(end_ - at_))
      good_ = false;
    for (std::uint64_t i = 0; good_ && i < count; i++) {
      skip_items(1, static_cast<Type>(types >> 4), depth);
      skip_items(1, static_cast<Type>(types & 0x0F), depth);
    }
  }

  const std::uint8_t *begin_, *at_, *end_;
  bool good_;
};

} // namespace bloomfilter
