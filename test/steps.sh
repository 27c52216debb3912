#!/usr/bin/env bash
# Tests script/steps.sh: a run of tests must print what it did not test. Runs steps that pass, are
# skipped or fail, and compares what is printed about them, except the seconds. Needs no build.

BLOOMFILTER_SANDBOX=$(mktemp -d)
trap 'rm -rf "$BLOOMFILTER_SANDBOX"' EXIT
# shellcheck source=script/lib.sh
. "$(dirname "$0")/../script/lib.sh"
BLOOMFILTER_LOGS='' BLOOMFILTER_WITHOUT='clang-tidy-14 qemu-user'
# shellcheck source=script/steps.sh
. "$ROOT/script/steps.sh"

passes() {
  note '[12:00:01] test/t/027_citus.pl ... skipped: the server has no Citus'
  mkdir -p tmp_check/log
  printf '%s\n' 'ok 1 - it works' 'ok 2 # skip no Ruby' 'ok 3 # skip no Ruby' >tmp_check/log/regress_log_019_drivers
  echo '[12:00:02.345](0.001s) ok 2 # skip no ICU' >tmp_check/log/regress_log_025_shipped
  skipped_within
  note 'src/core/a.cpp:7:2: warning: it is odd'
}
skips() { skip 'there is no compiler'; }
fails() { note 'this is why' && false; }

# Two steps that can end only if they run at the same time. The fourth then ends before the fifth.
eventually() { # CONDITION...
  for _ in {1..600}; do
    ! "$@" || return 0
    sleep 0.1
  done
  return 1
}
fourth() { eventually [ -e begun ] && skips; }
fifth() { touch begun && eventually grep -q fourth "$LOGS/results.tsv"; }

cd "$SANDBOX"
status=0
{
  step 'first' passes
  step 'second' skips
  step 'third' fails
  one() { step 'fourth' fourth; }
  two() { step 'fifth' fifth; }
  beside one two
  finish || status=1
} >told
[ $status = 1 ]

diff - <(sed -E 's/ +/ /g; s/[0-9]+ s$/N s/' told) <<'END'
first ok N s
 test/t/027_citus.pl is skipped: the server has no Citus
 a part of test/t/019_drivers.pl (2 tests) is skipped: no Ruby
 a part of test/t/025_shipped.pl is skipped: no ICU
 warnings of the compiler: 1, first
 src/core/a.cpp:7:2: warning: it is odd
second skipped (there is no compiler)
third FAILED N s
 this is why
fourth skipped (there is no compiler)
fifth ok N s
Skipped:
 first: test/t/027_citus.pl is skipped: the server has no Citus
 first: a part of test/t/019_drivers.pl (2 tests) is skipped: no Ruby
 first: a part of test/t/025_shipped.pl is skipped: no ICU
 second is skipped: there is no compiler
 fourth is skipped: there is no compiler
Packages that could not be installed: clang-tidy-14 qemu-user
2 passed, 1 failed, 2 skipped
END

# The script starts again in the sandbox with the same options. Unknown options are refused.
# --werror makes warnings errors.
read_options --seed=7
[ "$WERROR ${OPTIONS[*]}" = 'OFF --seed=7 --minutes=1' ]
[[ $WARNINGS != *-Werror* ]]
read_options --werror --seed=7
[ "$WERROR ${OPTIONS[*]}" = 'ON --seed=7 --minutes=1 --werror' ]
[[ $WARNINGS == *-Werror* ]]
says 'unknown option --quickly' bash "$ROOT/script/test" --quick --quickly
says '--seed wants a number' bash "$ROOT/script/test" --seed=
bash "$ROOT/script/test" --help | grep -q -e '--quick '
