// See probe_control.hpp.

#include "pg/table/probe_control.hpp"

namespace bloomfilter {
namespace {

// A scan does not know what its filters do before it has read this share of its pages, but at most
// this number of pages.
constexpr double kFirstShare = 1.0 / 16, kMostFirstPages = 64.0;

// A filter is judged after kJudged rows. If it is not worth its time, it is not probed for a
// multiple of this number. If it is still not worth its time after that, it is not probed for twice
// as long, up to a limit.
constexpr uint64 kJudged = 8192;
constexpr uint64 kFirstBackoff = 16 * kJudged, kLongestBackoff = 32 * kFirstBackoff;
// During a backoff, one page of this number is probed.
constexpr uint64 kPagesPerLook = 16;
// Of the rows that come one at a time, this number counts as a page.
constexpr int kRowsPerDecision = 64;
// A filter is not worth its time if it lets more than this share of the rows through. Each of these
// rows has cost a probe for nothing. The planner places a filter only for a lower share. The limit
// here is higher because a filter is worth more below an expensive join.
constexpr double kWorthless = 0.85;

bool is_worthless(double probed, double passed) {
  return passed > kWorthless * probed;
}

// True if the next rows pass without a probe.
bool decides_to_rest(ProbeControl *control, int rows) {
  if (control->left == 0)
    return false;
  control->left -= Min(control->left, static_cast<uint64>(rows));
  if (++control->pages % kPagesPerLook == 0)
    return false;
  control->unprobed += static_cast<uint64>(rows);
  return true;
}

} // namespace

double first_pages(double all) {
  return Min(kFirstShare * all, kMostFirstPages);
}

bool pays_to_build(ProbeControl *control, int rows, const ScanProgress &progress) {
  if (!control->by_planner)
    return true;
  // A hash join may take the first row of a scan, find its hash table empty, and stop. So even a
  // filter that costs little is not built on the first page, unless the table has few.
  if (control->needed <= 0.0)
    return progress.read > 1.0 || first_pages(progress.all) < 1.0;
  control->reached += rows;
  return progress.read >= first_pages(progress.all) &&
         control->reached * progress.all >= control->needed * progress.read;
}

bool backs_off(ProbeControl *control, int rows) {
  if (!control->by_row)
    return decides_to_rest(control, rows);
  if (control->undecided == 0) {
    control->rests = decides_to_rest(control, kRowsPerDecision);
    control->undecided = kRowsPerDecision;
    control->let_through = 0;
  }
  control->undecided--;
  return control->rests;
}

void judge(ProbeControl *control, int probed, int passed) {
  if (!control->by_planner || probed == 0)
    return;
  if (control->by_row) {
    control->let_through += passed;
    if (control->undecided > 0)
      return;
    probed = kRowsPerDecision;
    passed = control->let_through;
  }
  if (control->left > 0) { // this page was a look during a backoff
    if (!is_worthless(probed, passed))
      control->left = control->length = 0;
    return;
  }
  control->probed += static_cast<uint64>(probed);
  control->passed += static_cast<uint64>(passed);
  if (control->probed < kJudged)
    return;
  const bool worthless =
      is_worthless(static_cast<double>(control->probed), static_cast<double>(control->passed));
  control->length = worthless ? Min(Max(2 * control->length, kFirstBackoff), kLongestBackoff) : 0;
  control->left = control->length;
  control->probed = control->passed = 0;
}

bool comes_before(const ProbeControl &one, const ProbeControl &other) {
  if (!one.by_planner || !other.by_planner || one.seconds <= 0.0 || other.seconds <= 0.0)
    return false;
  return one.dropped * other.seconds > other.dropped * one.seconds;
}

void forget_history(ProbeControl *control) {
  ProbeControl kept = {};
  kept.by_planner = control->by_planner;
  kept.by_row = control->by_row;
  kept.needed = control->needed;
  kept.unprobed = control->unprobed;
  *control = kept;
}

} // namespace bloomfilter
