// See filter_index_pages.hpp.

#include "core/filter_index_pages.hpp"

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
  if (!has_head(page, kind) || head->count > (kind == PageKind::list ? kListEntries : 0))
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

FilterSet live_filters(const GroupSlot &slot) {
  if (slot.live == slot.columns)
    return first_filters(slot.columns);
  FilterSet live = {};
  for (int column = 0; column < slot.columns; column++)
    if (!slot.rows[column].is_none())
      live.add(column);
  return live;
}

} // namespace bloomfilter
