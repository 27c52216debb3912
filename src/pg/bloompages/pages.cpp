// See pages.hpp.

#include "pg/bloompages/pages.hpp"

extern "C" {
#include "access/rmgr.h"
#include "access/transam.h"
#include "access/xloginsert.h"
}

namespace bloomfilter {
namespace {

constexpr BlockNumber kFirstDirectory = 1, kFirstFree = 2;

// A change to some bytes of a page. Bytes beside each other are stored as a region of a generic WAL
// record: the region's offset in the page and its length, as numbers of 16 bits, and the bytes.
//
// The server's own way, GenericXLogStart() to GenericXLogFinish(), makes the same record by copying
// the page and comparing the copy with it. For the few bits of a row that takes ten times as long.
// The form of the record is not documented, but generic_xlog.c has read it since 9.6. The tests
// compare what redo makes of it (wal_consistency_checking).
class ByteChanges {
public:
  ByteChanges() : length_(0), begin_(0), end_(0), at_(0) {}

  // Sets a bit in a byte of a page, and remembers the byte. Bytes come in ascending order, and none
  // is the page's first.
  void set(Page page, Size byte, uint8 mask) {
    auto *changed = reinterpret_cast<uint8 *>(page) + byte;
    *changed |= mask;
    if (byte < end_) {
      regions_[length_ - 1] = *changed;
      return;
    }
    if (byte > end_) {
      at_ = length_;
      put(at_, byte);
      length_ += kRegionHead;
      begin_ = byte;
    }
    regions_[length_++] = *changed;
    end_ = byte + 1;
    put(at_ + sizeof(uint16), end_ - begin_);
  }
  // Logs all changes of a page. Call this in the critical section in which they were made.
  void log(Buffer buffer) {
    XLogBeginInsert();
    XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
    XLogRegisterBufData(0, reinterpret_cast<char *>(regions_), static_cast<uint32>(length_));
    const XLogRecPtr position = XLogInsert(RM_GENERIC_ID, 0); // PageSetLSN() is a macro
    PageSetLSN(BufferGetPage(buffer), position);
  }

private:
  void put(Size at, Size number) {
    const auto stored = static_cast<uint16>(number);
    memcpy(regions_ + at, &stored, sizeof stored);
  }

  static constexpr Size kRegionHead = 2 * sizeof(uint16);
  // A region for each second byte would take the most.
  uint8 regions_[(kRegionHead + 1) * (kContentBytes / 2 + 1)];
  Size length_;      // of the regions
  Size begin_, end_; // the bytes of the last region
  Size at_;          // where it begins in `regions_`
};

Size byte_of(const SliceBit &bit) {
  return kContentAt + bit.byte;
}

bool is_set(const uint8 *page, const SliceBit &bit) {
  return (page[byte_of(bit)] & bit.mask) != 0;
}

SliceBit place_of(const LineBit &bit) {
  return slice_bit(kGroupRanges, bit.bit, bit.range);
}

bool are_set(const uint8 *page, const LineBit *bits, int count) {
  bool all = true;
  for (int i = 0; i < count; i++)
    all &= is_set(page, place_of(bits[i]));
  return all;
}

void set_and_log(Relation index, Buffer buffer, const LineBit *bits, int count) {
  ByteChanges changes;
  Page page = BufferGetPage(buffer);
  START_CRIT_SECTION();
  MarkBufferDirty(buffer);
  for (int i = 0; i < count; i++) {
    const SliceBit bit = place_of(bits[i]);
    if (!is_set(bytes_of(buffer), bit))
      changes.set(page, byte_of(bit), bit.mask);
  }
  if (RelationNeedsWAL(index))
    changes.log(buffer);
  END_CRIT_SECTION();
}

} // namespace

Buffer lock_range_page(Relation index, BlockNumber block, PageKind kind, BufferLockMode mode) {
  return lock_right_page(index, block, kind, mode, is_range_page);
}

RangeMeta read_range_meta(Relation index) {
  return copied_content<RangeMeta>(
      lock_range_page(index, kMetaBlock, PageKind::range_meta, BUFFER_LOCK_SHARE), 0);
}

RangeSlot read_range_slot(Relation index, SlotPlace place) {
  const RangeSlot slot = copied_content<RangeSlot>(
      lock_range_page(index, place.block, PageKind::range_directory, BUFFER_LOCK_SHARE),
      place.number);
  const RangeSlot none = {};
  if (memcmp(&slot, &none, sizeof slot) != 0 && !is_sound_slot(slot, kNoBlock))
    raise_wrong_slot(index, place);
  return slot;
}

void raise_wrong_slot(Relation index, SlotPlace place) {
  raise_index_damaged(index, place.block, "has a wrong slot");
}

Buffer lock_line(Relation index, const RangeSlot &slot, uint32 group, uint32 line,
                 BufferLockMode mode) {
  const Buffer buffer = lock_range_page(index, slot.start + line, PageKind::range_lines, mode);
  if (!is_line_page(bytes_of(buffer), group, line))
    raise_index_damaged(index, slot.start + line, "is not a page of its group");
  return buffer;
}

FilterSet probe_ranges(Relation index, const RangeSlot &slot, uint32 group, uint64 hash,
                       FilterSet among) {
  ProbedLine lines[kMaxProbedLines];
  const int count = probed_lines(slot.geometry(), hash, lines);
  for (int i = 0; i < count && !among.is_empty(); i++) {
    const Buffer buffer = lock_line(index, slot, group, lines[i].line, BUFFER_LOCK_SHARE);
    among = among & filters_with(bytes_of(buffer) + kContentAt, kGroupRanges, lines[i]);
    UnlockReleaseBuffer(buffer);
  }
  return among;
}

void initialize_line(Page page, uint32 group, uint32 line) {
  initialize_page(page, PageKind::range_lines);
  changed_head(page)->group = group;
  changed_head(page)->place = line;
}

void set_line_bits(Relation index, const RangeSlot &slot, uint32 group, uint32 line,
                   const LineBit *bits, int count) {
  Buffer buffer = lock_line(index, slot, group, line, BUFFER_LOCK_SHARE);
  if (!are_set(bytes_of(buffer), bits, count)) {
    LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
    LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
    if (!are_set(bytes_of(buffer), bits, count))
      set_and_log(index, buffer, bits, count);
  }
  UnlockReleaseBuffer(buffer);
}

void read_range_filter(Relation index, const RangeSlot &slot, uint32 group, int range,
                       uint8 *filter) {
  for (uint32 line = 0; line < slot.lines(); line++) {
    CHECK_FOR_INTERRUPTS();
    uint8 *copy = filter + line * kLineBytes;
    memset(copy, 0, kLineBytes);
    const Buffer buffer = lock_line(index, slot, group, line, BUFFER_LOCK_SHARE);
    for (int bit = 0; bit < kLineBits; bit++)
      if (is_set(bytes_of(buffer), slice_bit(kGroupRanges, bit, range)))
        copy[bit / 8] |= static_cast<uint8>(1 << bit % 8);
    UnlockReleaseBuffer(buffer);
  }
}

// A transaction that is not newer than the next one.
uint64 full_transaction_id(TransactionId transaction) {
  const FullTransactionId next = ReadNextFullTransactionId();
  const uint32 epoch =
      EpochFromFullTransactionId(next) - (transaction > XidFromFullTransactionId(next) ? 1 : 0);
  return U64FromFullTransactionId(FullTransactionIdFromEpochAndXid(epoch, transaction));
}

void make_empty_range_index(Relation index, ForkNumber fork, uint32 range_pages, double rate) {
  append_to_fork(index, fork, [=](Page page) {
    initialize_page(page, PageKind::range_meta);
    auto *meta = changed_content<RangeMeta>(page);
    meta->range_pages = range_pages;
    meta->rate = rate;
    meta->blocks = kFirstFree;
    meta->directories = 1;
    meta->directory[0] = kFirstDirectory;
    meta->check = check_of(*meta);
    set_used(page, sizeof(RangeMeta));
  });
  append_to_fork(index, fork, [](Page page) { initialize_page(page, PageKind::range_directory); });
}

} // namespace bloomfilter
