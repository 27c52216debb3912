// Decides while a table is scanned how filters are used that the planner has placed by itself: from
// when on a filter is built, in which order the filters are probed, and when one is not probed.
//
// Such a filter drops rows that a join would drop later, so no decision changes the result. All are
// made from what the scan has counted and measured, because estimates of joins are often wrong.
//
// - **Building.** The planner says how many rows must reach a filter so that building it pays. The
//   scan counts these rows on its first pages and expects as many on the other pages. A filter that
//   another scan has built, or that was built before workers started, is always used.
// - **Order.** The filter that drops most rows in a second of its own time comes first. Time is
//   measured on one page in a few.
// - **Backoff.** A filter that lets nearly all rows through is not probed for some time. A page now
//   and then is probed nevertheless. If the filter drops rows of this page, the backoff ends:
//   tables are often in the order of a key. Rows that come one at a time count as pages of 64 rows.
#pragma once

#include "pg/server.hpp"

namespace bloomfilter {

// Starts at zero. It belongs to one filter in one process.
struct ProbeControl {
  // Set when the scan begins.
  bool by_planner; // otherwise, nothing is decided here
  bool by_row;     // true if rows come one at a time
  double needed;   // rows that must reach the filter in the whole scan; 0: it is built at once
  // The rows that reached the filter before it was built.
  double reached;
  // Since the filter was judged last.
  uint64 probed, passed;
  // Of the backoff.
  uint64 length;   // of the last one in rows; 0 if the filter proved useful
  uint64 left;     // the rows that are left
  uint64 pages;    // how many pages came during backoffs
  uint64 unprobed; // rows that passed without a probe, in all scans of this process
  // If rows come one at a time.
  bool rests;      // the last decision whether rows pass without a probe
  int undecided;   // the rows that will come before the next decision
  int let_through; // of the rows since the last decision
  // On the pages that were timed.
  double dropped, seconds;
};

// The progress of a scan: pages read, and pages of the table.
struct ScanProgress {
  double read, all;
};

// The number of pages of a table that a scan reads before it decides whether to build a filter.
double first_pages(double all);

// True if the filter is to be built now. Counts the rows that have reached it.
bool pays_to_build(ProbeControl *control, int rows, const ScanProgress &progress);

// True if the rows of a page pass without a probe, because of a backoff.
bool backs_off(ProbeControl *control, int rows);

// Notes that a filter was probed for some rows, and begins or ends a backoff.
void judge(ProbeControl *control, int probed, int passed);

// The order of filters. True if the first filter should be probed before the second.
bool comes_before(const ProbeControl &one, const ProbeControl &other);

// Forgets what was counted, but not `unprobed`: the filter may be another one now.
void forget_history(ProbeControl *control);

} // namespace bloomfilter
