// See index_pages.hpp.

#include "core/index_pages.hpp"

#include "core/bytes.hpp"
#include "core/counting.hpp"
#include "core/hash.hpp"

namespace bloomfilter {
namespace {

// Filters larger than this are in no group, because a group is made in memory.
constexpr std::size_t kMaxGroupedBytes = 32 * 1024 * 1024;

// True if a group of `columns` columns leaves at most a fifth of each page empty.
bool fills_pages(int columns) {
  return columns * lines_per_page(columns) * 5 >= kPageColumns * 4;
}

// True if a group uses more than half of its pages. The last page may have few lines.
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
  header.element_type = {family, shape};
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
  if (header.is_chain() || !has<Ability::grouped_in_index>(layout))
    return false;
  const Geometry geometry = structure_of(layout) == Structure::counters
                                ? plain_geometry(header.geometry)
                                : header.geometry;
  *key = {header.seed,
          geometry.units,
          header.element_type.shape,
          geometry.layout,
          geometry.k,
          header.element_type.family,
          {}};
  return geometry.bytes() <= kMaxGroupedBytes;
}

std::uint64_t key_hash(const GroupKey &key) {
  const std::uint64_t hash = hash_bytes(&key, sizeof key, 0);
  return hash != 0 ? hash : 1;
}

std::uint64_t check_of(const IndexMeta &meta) {
  return hash_bytes(&meta, offsetof(IndexMeta, check), 0);
}

bool is_index_page(const std::uint8_t *page, PageKind kind) {
  const IndexPageHead *head = head_of(page);
  if (head->magic != kIndexMagic || head->version != kIndexVersion || head->kind != kind ||
      head->count > (kind == PageKind::list ? kListEntries : 0))
    return false;
  const IndexMeta &meta = *content_of<IndexMeta>(page);
  return kind != PageKind::meta || meta.check == check_of(meta);
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

ColumnSet live_columns(const GroupSlot &slot) {
  ColumnSet live = {};
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

ProbedLine probed_line(std::size_t offset, std::uint32_t word, int count) {
  ProbedLine probed;
  probed.line = static_cast<std::uint32_t>(offset / kLineBytes);
  probed.count = count;
  for (int i = 0; i < count; i++)
    probed.bits[i] = static_cast<std::uint16_t>(bit_position(word, i));
  return probed;
}

} // namespace

int probed_lines(const GroupKey &key, std::uint64_t hash, ProbedLine *probed) {
  const std::size_t unit = unit_offset(key.geometry(), hash);
  const std::uint32_t x = first_word(hash), y = second_word(hash);
  if (key.layout == Layout::lines) {
    probed[0] = probed_line(unit, x, key.k);
    return 1;
  }
  probed[0] = probed_line(unit + first_line_offset(x), x, key.k / 2);
  probed[1] = probed_line(unit + second_line_offset(y), y, key.k / 2);
  return 2;
}

namespace {

constexpr int kWordBits = 64;

// The number of columns of a slice that are written or read together, from column `first` on: 64,
// or the number that is left.
int columns_from(int first, int columns) {
  return columns - first < kWordBits ? columns - first : kWordBits;
}

// The bits of a slice for at most 64 columns, from column `first` on.
std::uint64_t slice_bits(const std::uint8_t *slices, int columns, int slice, int first) {
  const int count = columns_from(first, columns);
  const std::size_t at = static_cast<std::size_t>(slice) * static_cast<std::size_t>(columns) +
                         static_cast<std::size_t>(first);
  const std::size_t byte = at / 8;
  const int shift = static_cast<int>(at % 8);
  std::uint64_t bits =
      load_first(slices + byte, static_cast<std::size_t>(columns) * kLineBytes - byte) >> shift;
  if (shift + count > kWordBits)
    bits |= std::uint64_t{slices[byte + 8]} << (kWordBits - shift);
  return bits & ~std::uint64_t{0} >> (kWordBits - count);
}

// Writes numbers of 1 to 64 bits one after the other. The bytes written end with a whole word.
class BitWriter {
public:
  explicit BitWriter(std::uint8_t *to) : to_(to), pending_(0), count_(0) {}

  void add(std::uint64_t bits, int count) {
    pending_ |= bits << count_;
    if (count_ + count < kWordBits) {
      count_ += count;
      return;
    }
    store(to_, pending_);
    to_ += sizeof pending_;
    const int written = kWordBits - count_;
    pending_ = written < kWordBits ? bits >> written : 0;
    count_ = count - written;
  }

private:
  std::uint8_t *to_;
  std::uint64_t pending_;
  int count_;
};

// Transposes 64 words: bit r of word c becomes bit c of word r. (Henry S. Warren, "Hacker's
// Delight", 7-3.)
void transpose(std::uint64_t *words) {
  std::uint64_t mask = 0x00000000FFFFFFFF;
  for (int distance = kWordBits / 2; distance != 0; distance /= 2, mask ^= mask << distance)
    for (int i = 0; i < kWordBits; i = ((i | distance) + 1) & ~distance) {
      const std::uint64_t differing = (words[i] >> distance ^ words[i | distance]) & mask;
      words[i] ^= differing << distance;
      words[i | distance] ^= differing;
    }
}

} // namespace

void write_slices(const std::uint8_t *const *lines, int columns, std::uint8_t *slices) {
  BitWriter writer(slices);
  for (std::size_t byte = 0; byte < kLineBytes; byte += sizeof(std::uint64_t)) {
    std::uint64_t words[2][kWordBits] = {};
    for (int column = 0; column < columns; column++)
      words[column / kWordBits][column % kWordBits] = load<std::uint64_t>(lines[column] + byte);
    transpose(words[0]);
    transpose(words[1]);
    for (int bit = 0; bit < kWordBits; bit++)
      for (int first = 0; first < columns; first += kWordBits)
        writer.add(words[first / kWordBits][bit], columns_from(first, columns));
  }
}

void read_slices(const std::uint8_t *slices, int columns, std::uint8_t *lines) {
  for (int slice = 0; slice < kLineBits; slice += kWordBits)
    for (int first = 0; first < columns; first += kWordBits) {
      std::uint64_t words[kWordBits];
      for (int bit = 0; bit < kWordBits; bit++)
        words[bit] = slice_bits(slices, columns, slice + bit, first);
      transpose(words);
      for (int i = 0; i < columns_from(first, columns); i++)
        store(lines + (first + i) * kLineBytes + slice / 8, words[i]);
    }
}

ColumnSet columns_with(const std::uint8_t *slices, int columns, const ProbedLine &probed) {
  ColumnSet found = {};
  for (int first = 0; first < columns; first += kWordBits) {
    std::uint64_t all = ~std::uint64_t{0};
    for (int i = 0; i < probed.count; i++)
      all &= slice_bits(slices, columns, probed.bits[i], first);
    found.words[first / kWordBits] = all;
  }
  return found;
}

} // namespace bloomfilter
