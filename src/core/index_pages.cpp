#include "core/index_pages.hpp"

#include <cstring>

#include "core/counting.hpp"
#include "core/hash.hpp"

namespace bloomfilter {
namespace {

// A group is made in memory, so filters beyond this are not put into groups.
constexpr std::size_t kMaxGroupedBytes = 32 * 1024 * 1024;

// A group of so many columns leaves at most a fifth of each page empty.
bool fills_pages(int columns) {
  return columns * lines_per_page(columns) * 5 >= kPageColumns * 4;
}

// Does a group use more than half of its pages, the last of which may have few lines?
bool is_worth_its_pages(const GroupKey &key, int columns) {
  return std::uint64_t{key.lines()} * static_cast<unsigned>(columns) * 2 >
         std::uint64_t{group_pages(key, columns)} * kPageColumns;
}

bool is_sound_key(const GroupKey &key) {
  const Geometry geometry = key.geometry();
  for (const std::uint8_t byte : key.zero)
    if (byte != 0)
      return false;
  return (key.layout == Layout::lines || key.layout == Layout::pages) &&
         is_possible_k(key.layout, key.k) && key.units > 0 &&
         geometry.bytes() <= kMaxGroupedBytes && key.family <= kLastFamily &&
         is_family_of(key.layout, key.family) && is_shape_of(key.family, key.shape);
}

} // namespace

Header GroupKey::header() const {
  Header header = {};
  header.geometry = geometry();
  header.element = {family, shape};
  header.seed = seed;
  header.link_count = 1;
  return header;
}

bool operator==(const GroupKey &a, const GroupKey &b) {
  return a.seed == b.seed && a.units == b.units && a.shape == b.shape && a.layout == b.layout &&
         a.k == b.k && a.family == b.family;
}

bool key_of(const Header &header, GroupKey *key) {
  const Layout layout = header.geometry.layout;
  const Kind kind = kind_of(layout);
  if (header.is_chain() || is_foreign(layout) || kind == Kind::cuckoo)
    return false;
  const Geometry geometry =
      kind == Kind::counting ? plain_geometry(header.geometry) : header.geometry;
  *key = {header.seed,
          geometry.units,
          header.element.shape,
          geometry.layout,
          geometry.k,
          header.element.family,
          {}};
  return geometry.bytes() <= kMaxGroupedBytes;
}

std::uint64_t key_hash(const GroupKey &key) {
  const std::uint64_t hash = hash_bytes(&key, sizeof key, 0);
  return hash != 0 ? hash : 1;
}

bool is_index_page(const std::uint8_t *page, PageKind kind) {
  const IndexPageHead *head = head_of(page);
  return head->magic == kIndexMagic && head->version == kIndexVersion && head->kind == kind &&
         (kind == PageKind::list ? head->count <= kListEntries : head->count == 0);
}

bool is_sound_slot(const GroupSlot &slot, std::uint32_t blocks) {
  if (slot.state == SlotState::none)
    return true;
  const std::uint32_t end = slot.state == SlotState::space ? kNoBlock : blocks;
  if (slot.start == 0 || slot.pages == 0 || slot.pages > end || slot.start > end - slot.pages)
    return false;
  if (slot.state == SlotState::space)
    return true;
  if (slot.state != SlotState::group || slot.columns == 0 || slot.columns > kPageColumns ||
      !is_sound_key(slot.key) || slot.pages != group_pages(slot.key, slot.columns))
    return false;
  int live = 0;
  for (int column = 0; column < kPageColumns; column++)
    if (!slot.rows[column].is_none()) {
      if (column >= slot.columns)
        return false;
      live++;
    }
  return live == slot.live && live > 0;
}

bool is_page_of(const std::uint8_t *page, const GroupSlot &slot, std::uint32_t place) {
  return is_index_page(page, PageKind::lines) && head_of(page)->group == slot.number &&
         head_of(page)->place == place;
}

int columns_for(const GroupKey &key, int waiting, int most) {
  for (int columns = waiting < most ? waiting : most; columns > 0; columns--)
    if (fills_pages(columns))
      return is_worth_its_pages(key, columns) ? columns : 0;
  return 0;
}

int least_columns(const GroupKey &key) {
  int least = 1;
  while (least < kPageColumns && columns_for(key, least, kPageColumns) == 0)
    least++;
  return least;
}

std::uint32_t group_pages(const GroupKey &key, int columns) {
  const auto lines = static_cast<std::uint32_t>(lines_per_page(columns));
  return (key.lines() + lines - 1) / lines;
}

LinePlace line_place(int columns, std::uint32_t line) {
  const auto lines = static_cast<std::uint32_t>(lines_per_page(columns));
  return {line / lines,
          kContentAt + std::size_t{line % lines} * static_cast<unsigned>(columns) * kLineBytes};
}

Columns live_columns(const GroupSlot &slot) {
  Columns live = {};
  if (slot.live == slot.columns) {
    live.words[0] = slot.columns >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << slot.columns) - 1;
    live.words[1] = slot.columns <= 64 ? 0 : (std::uint64_t{1} << (slot.columns - 64)) - 1;
    return live;
  }
  for (int column = 0; column < slot.columns; column++)
    if (!slot.rows[column].is_none())
      live.add(column);
  return live;
}

namespace {

AskedLine asked_line(std::size_t offset, std::uint32_t word, int count) {
  AskedLine asked;
  asked.line = static_cast<std::uint32_t>(offset / kLineBytes);
  asked.count = count;
  for (int i = 0; i < count; i++)
    asked.bits[i] = static_cast<std::uint16_t>(bit_position(word, i));
  return asked;
}

} // namespace

int asked_lines(const GroupKey &key, std::uint64_t hash, AskedLine *asked) {
  const std::size_t unit = unit_offset(key.geometry(), hash);
  const std::uint32_t x = first_word(hash), y = second_word(hash);
  if (key.layout == Layout::lines) {
    asked[0] = asked_line(unit, x, key.k);
    return 1;
  }
  asked[0] = asked_line(unit + first_line_offset(x), x, key.k / 2);
  asked[1] = asked_line(unit + second_line_offset(y), y, key.k / 2);
  return 2;
}

namespace {

// How many bits are looked at in every line, without a branch that the processor would mispredict:
// one line in eight or fewer is left.
constexpr int kFirstBits = 3;

// Far enough ahead for a line to arrive from memory before its turn comes.
constexpr int kLinesAhead = 24;

struct BitPlace {
  std::size_t byte;
  unsigned shift;
};

// The columns, of 64 from `lines` on at most, whose line has all of the first bits.
std::uint64_t columns_with_first(const std::uint8_t *lines, int columns, const AskedLine &asked) {
  BitPlace places[kFirstBits]; // some twice, if fewer are asked for
  for (int i = 0; i < kFirstBits; i++) {
    const unsigned bit = asked.bits[i % asked.count];
    places[i] = {bit / 8, bit % 8};
  }
  std::uint64_t found = 0;
  for (int column = 0; column < columns; column++, lines += kLineBytes) {
    __builtin_prefetch(lines + kLinesAhead * kLineBytes); // harmless behind the last one
    std::uint64_t all = 1;
    for (const BitPlace &place : places)
      all &= std::uint64_t{lines[place.byte]} >> place.shift;
    found |= all << column;
  }
  return found;
}

bool has_bits(const std::uint8_t *line, const AskedLine &asked) {
  for (int i = kFirstBits; i < asked.count; i++)
    if ((line[asked.bits[i] / 8] >> asked.bits[i] % 8 & 1) == 0)
      return false;
  return true;
}

} // namespace

Columns columns_with(const std::uint8_t *lines, int columns, const AskedLine &asked) {
  Columns found = {};
  for (int first = 0; first < columns; first += 64) {
    const int count = columns - first < 64 ? columns - first : 64;
    std::uint64_t left = columns_with_first(lines + first * kLineBytes, count, asked);
    for (; left != 0; left &= left - 1) {
      const int column = first + __builtin_ctzll(left);
      if (has_bits(lines + column * kLineBytes, asked))
        found.add(column);
    }
  }
  return found;
}

} // namespace bloomfilter
