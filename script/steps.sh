# shellcheck shell=bash
# Functions that script/test and the checks of script/matrix share, in addition to lib.sh. A check
# consists of steps; each step has a log and a verdict. Other functions build and test the core and
# the extension.
#
#   read_options "$@"    sets SEED and MINUTES from --seed=N and --minutes=N, and obeys --werror
#   step NAME COMMAND... runs a command, and prints its verdict
#   beside FUNCTION...   runs functions at the same time, and prints each step when it ends
#   finish               prints what was skipped and how many steps passed; fails if a step failed

WARNINGS='-Wall -Wextra' WERROR=OFF # CI makes the warnings of its own compiler errors
LOGS=${BLOOMFILTER_LOGS:-$SANDBOX}  # has the steps' logs and results.tsv; script/matrix keeps them
[ -z "$SANDBOX" ] || : >"$LOGS/results.tsv"
BESIDE='' # "yes" in a function that `beside` runs
# An ANALYZE at a random moment would change plans, and keep VACUUM from removing rows.
CLUSTER_SETTINGS+=('autovacuum = off')

# What npm installs: node-postgres, and what clients/javascript needs.
NODE_PACKAGES=(pg@8.23.1 hash-wasm@4.13.0)
# Optional packages for the tests of the extension: drivers and other systems.
TEST_PACKAGES=(libipc-run-perl libguava-java default-jdk-headless python3-psycopg python3-psycopg2
  python3-xxhash python3-asyncpg libpostgresql-jdbc-java ruby-pg)
# What runs the JavaScript library, unless it is here.
NODE=()
command -v npm >/dev/null || NODE=(node-pg npm)
TEST_PACKAGES+=("${NODE[@]}")

# By default, each search takes a minute and has a random seed, so that it tries new values.
read_options() {
  local argument
  SEED=$RANDOM MINUTES=1
  for argument; do
    case $argument in
      --help) sed -n '2,/^$/s/^# \{0,1\}//p' "$SELF"; exit ;;
      --seed=*[!0-9]* | --seed= | --minutes=*[!0-9]* | --minutes= | --minutes=0) die "${argument%%=*} wants a number" ;;
      --seed=*) SEED=${argument#*=} ;;
      --minutes=*) MINUTES=${argument#*=} ;;
      --werror) WARNINGS+=' -Werror' WERROR=ON ;;
      *) die "unknown option $argument; --help explains" ;;
    esac
  done
  # shellcheck disable=SC2034 # for enter_sandbox, which starts the script again with the same seed
  OPTIONS=("--seed=$SEED" "--minutes=$MINUTES")
  [ $WERROR = OFF ] || OPTIONS+=(--werror)
}

# step NAME COMMAND...: runs the command and prints its verdict. A command that ends with `skip` has
# tested nothing. If other steps may run at the same time, nothing is printed before the command
# ends.
step() {
  local name=$1 log started=$SECONDS status
  log=$LOGS/$(tr -cs '[:alnum:]\n' - <<<"$name").log
  [ "$BESIDE" ] || printf '%-44s ' "$name"
  set +e
  (set -e; "${@:2}") >"$log" 2>&1
  status=$?
  set -e
  tell "$name" "$log" $status $((SECONDS - started)) 9>>"$LOGS/results.tsv"
}

# Prints the verdict of a step and appends it to results.tsv, which is open as descriptor 9. A lock
# on that file keeps apart the output of steps that end at the same time. For a step that passed,
# also prints what it skipped and how often a compiler warned. Its log names skipped parts by lines
# such as `# WHAT is skipped: WHY`, and in prove's lines of skipped files.
tell() { # NAME LOG STATUS SECONDS
  local verdict part warnings
  flock 9
  [ ! "$BESIDE" ] || printf '%-44s ' "$1"
  case $3 in
    0)
      verdict=ok
      note "ok      $4 s"
      while IFS= read -r part; do
        note "    $part"
        note "$1: $part" >>"$SANDBOX/skips"
      done < <(sed -nE 's|^(\[[0-9:]*\] )?(test/t/[^ ]*) .*skipped: |\2 is skipped: |p
        s|^# (.* is skipped: .*)|\1|p' "$2")
      warnings=$(grep -E '^[^ ]+:[0-9]+:([0-9]+:)? warning: ' "$2") || true
      [ -z "$warnings" ] || printf '    %s\n' "warnings of the compiler: $(wc -l <<<"$warnings"), first" \
        "${warnings%%$'\n'*}"
      ;;
    77)
      verdict=skipped
      note "skipped ($(tail -n 1 "$2"))"
      note "$1 is skipped: $(tail -n 1 "$2")" >>"$SANDBOX/skips"
      ;;
    *)
      verdict=FAILED
      note "FAILED  $4 s"
      tail -n 300 "$2" | sed 's/^/    /'
      ;;
  esac
  printf '%s\t%s\t%s\n' "$1" $verdict "$4" >&9
}

# beside FUNCTION...: runs the functions at the same time and waits for all. Each function has a
# process group of its own, which leave_sandbox kills if the script is interrupted.
beside() {
  local BESIDE=yes function group groups=()
  for function; do
    set -m
    (set +m; "$function") </dev/null &
    set +m
    groups+=($!)
  done
  for group in "${groups[@]}"; do wait "$group"; done
}

# Prints the summary. It names the packages that need_packages could not install, because they may
# be the reason for a skip.
finish() {
  local passed failed skipped
  count() { cut -f 2 "$LOGS/results.tsv" | grep -cx "$1" || true; }
  passed=$(count ok) failed=$(count FAILED) skipped=$(count skipped)
  [ ! -e "$SANDBOX/skips" ] || { note Skipped: && sed 's/^/    /' "$SANDBOX/skips"; }
  [ -z "${BLOOMFILTER_WITHOUT:-}" ] || note "Packages that could not be installed: $BLOOMFILTER_WITHOUT"
  note "$passed passed, $failed failed$([ "$skipped" = 0 ] || note ", $skipped skipped")"
  [ "$failed" = 0 ]
}

skip() {
  note "$*"
  exit 77
}

need() { command -v "$1" >/dev/null || skip "$1 is not installed"; }

# Succeeds if its input is empty. Otherwise prints the input, which says what is wrong, and fails.
none() { ! grep .; }

# Succeeds if the command fails and prints a single line, which contains TEXT.
says() { # TEXT COMMAND...
  local said
  ! said=$("${@:2}" 2>&1) || { note "$said" "succeeded: ${*:2}" && return 1; }
  note "$said"
  [[ $said == *"$1"* && $said != *$'\n'* ]]
}

# --- the core, without PostgreSQL -----------------------------------------------------------------

core_build() { # DIRECTORY OPTION...
  cmake -S . -DCMAKE_COMPILE_WARNING_AS_ERROR=$WERROR -B "$@"
  cmake --build "$1" -j 2
}

# Runs the unit tests in two processes, half of the tests in each. With one process for each test,
# as ctest runs them, the sanitizers would take 1.5 times as long.
core_tests() { # DIRECTORY OPTION...
  local log shard pids=() status=0
  core_build "$@"
  log=$SANDBOX/${1//\//-}
  for shard in 0 1; do
    GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=$shard "$1/core_tests" >"$log.$shard" 2>&1 &
    pids+=($!)
  done
  for shard in "${pids[@]}"; do wait "$shard" || status=1; done
  grep -Ehv '^\[ (RUN|      OK)' "$log".[01]
  awk '/: Skipped$/ { getline why } /^\[  SKIPPED \] .* \(/ { print "# " $4 " is skipped: " why }' "$log".[01]
  return $status
}

# Runs every fuzz target for SECONDS, and PARALLEL targets at a time. They start from the committed
# inputs, which archives lack. An input that breaks a target is printed, and kept beside the logs.
# Commit it together with the fix, as test/fuzz/corpus/TARGET/NAME, where NAME says what the input
# is.
fuzz() { # SECONDS PARALLEL
  local target name found pids=() status=0
  need clang++
  echo 'extern "C" int LLVMFuzzerTestOneInput(const char *, unsigned long) { return 0; }' |
    clang++ -fsanitize=fuzzer -x c++ - -o "$SANDBOX/probe" || skip 'clang has no libFuzzer here'
  core_build build/fuzz -DCMAKE_CXX_COMPILER=clang++ -DBLOOMFILTER_FUZZ=ON
  for target in build/fuzz/fuzz_*; do
    while [ "$(jobs -pr | wc -l)" -ge "$2" ]; do sleep 1; done
    name=${target##*/}
    found=$(mktemp -d "$SANDBOX/found.XXXXXX")
    mkdir -p "test/fuzz/corpus/$name"
    "$target" -max_total_time="$1" "-seed=$SEED" -verbosity=0 -print_final_stats=1 \
      -artifact_prefix="$LOGS/$name-" "$found" "test/fuzz/corpus/$name" >"$SANDBOX/$name.log" 2>&1 &
    pids+=($!)
  done
  for target in "${pids[@]}"; do wait "$target" || status=1; done
  grep -v NEW_FUNC "$SANDBOX"/fuzz_*.log
  for found in "$LOGS"/fuzz_*-*; do # printed, because LOGS may be in the sandbox, which is removed
    [ ! -e "$found" ] || { note "${found##*/}, in base64:" && base64 "$found"; }
  done
  return $status
}

# Links xxHash's headers into a directory of their own, for compilers for other processors. These
# headers are the same for all processors; the other headers of the system's directory are not.
xxhash_headers() { # DIRECTORY
  note '#include <xxhash.h>' | g++ -M -x c++ - | grep -o '/[^ ]*/xxh[^ ]*' | xargs ln -st "$1"
}

# --- the extension --------------------------------------------------------------------------------

pgxs() { make --no-print-directory PG_CONFIG="$PG_CONFIG" "$@"; }

# Prints a variable of the server's configuration.
configured() { # VARIABLE of Makefile.global
  sed -n "s/^$1[[:space:]]*=[[:space:]]*//p" "$(dirname "$("$PG_CONFIG" --pgxs)")/../Makefile.global"
}

# Builds and installs the extension. Builds bitcode for JIT, too, if the server has JIT, its clang
# is installed and this is no quick run.
extension_build() {
  local clang llvm=()
  clang=$(configured CLANG)
  if [ -z "${QUICK:-}" ] && [ "$(configured with_llvm)" = yes ] &&
    command -v "${clang:-clang}" >/dev/null; then llvm=(with_llvm=yes); fi
  pgxs -j 2 PG_CPPFLAGS="$WARNINGS" "${llvm[@]}" all
  pgxs "${llvm[@]}" install
}

# Runs pg_regress and pg_isolation_regress, but not the TAP tests, which are a step of their own.
regress() { # [VARIABLE=VALUE...]
  pgxs installcheck TAP_TESTS= "$@" || {
    cat regression.diffs output_iso/regression.diffs 2>/dev/null
    false
  }
}

# Makes require('pg') and require('hash-wasm') work: npm installs in the sandbox what the system does
# not have. Steps that run at the same time wait for each other.
node_packages() {
  local package missing=()
  export NODE_PATH=$SANDBOX/node_modules
  command -v npm || return 0
  flock 8
  for package in "${NODE_PACKAGES[@]}"; do
    node -e "require('${package%@*}')" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  mkdir -p "$NODE_PATH"
  (cd "$SANDBOX" && timeout 60 npm install --no-save --fetch-retries=0 "${missing[@]}") || true
} 8>"$SANDBOX/npm.lock"

# Runs the TAP tests, or those that PROVE_TESTS names. A server that was built without
# --enable-tap-tests lacks the Perl modules for TAP tests; make would only print that, and succeed.
# If every file skips itself, the step counts as skipped.
tap() { # VARIABLE=VALUE of make...
  local log
  perl -MIPC::Run -e 1 || skip "perl's IPC::Run is not installed"
  [ "$(configured enable_tap_tests)" = yes ] || skip 'the server was built without --enable-tap-tests'
  node_packages
  pgxs installcheck REGRESS= ISOLATION= PROVE_FLAGS='-j2 --timer' "$@" | tee "$SANDBOX/prove" || {
    for log in tmp_check/log/regress_log_*; do
      if grep -q 'not ok' "$log" || ! grep -q '1\.\.[0-9]' "$log"; then
        grep -v '^#.*: running' "$log" | tail -n 100
      fi
    done
    return 1
  }
  skipped_within
  ! grep -q '^Result: NOTESTS' "$SANDBOX/prove" || skip "$(sed -n 's/.* skipped: //p' "$SANDBOX/prove" | tail -n 1)"
  grep -q '^Result: PASS' "$SANDBOX/prove"
}

# Prints the tests that were skipped in files that passed, because prove does not print them.
skipped_within() {
  local log
  for log in tmp_check/log/regress_log_*; do
    sed -nE 's/^(.*\) )?ok [0-9]+ # skip (.*)/\2/p' "$log" | sort | uniq -c |
      awk -v file="test/t/${log#*/regress_log_}.pl" '{
        count = $1
        sub(/^ *[0-9]+ /, "")
        print "# a part of " file (count > 1 ? " (" count " tests)" : "") " is skipped: " $0
      }'
  done
}

# Sets PYTHON to a python3 that has the modules.
find_python() { # MODULE...
  local modules=$*
  for PYTHON in python3 /usr/bin/python3; do
    ! "$PYTHON" -c "$(printf 'import %s\n' "$@")" || return 0
  done
  skip "python3's ${modules// / or } is not installed"
}

# Runs searches (test/search) at the same time on the private cluster. Only histories has a cluster
# of its own, because it sets the counter of OIDs back. That must not happen while other searches
# make tables and types.
searches() { # SECONDS NAME...
  local name port pids=() status=0
  find_python psycopg2 xxhash
  node_packages
  for name in "${@:2}"; do
    port=${PGPORT:-5432}
    if [ "$name" = histories ]; then
      port=5433
      start_server "$SANDBOX/histories" $port "${CLUSTER_SETTINGS[@]}"
    fi
    PGPORT=$port "$PYTHON" -B "test/search/$name.py" --seconds="$1" --seed="$SEED" \
      >"$SANDBOX/$name.log" 2>&1 &
    pids+=($!)
  done
  for name in "${pids[@]}"; do wait "$name" || status=1; done
  for name in "${@:2}"; do cat "$SANDBOX/$name.log"; done
  return $status
}

# --- PostgreSQL's sources -------------------------------------------------------------------------

# Fetches Debian's source package of a major version into the working directory, in the newest minor
# release that apt finds. Uses package lists of its own, because not every /etc/apt has deb-src, and
# not every user may write there.
fetch_postgres() { # MAJOR
  local apt=$SANDBOX/apt file version
  need apt-get
  mkdir -p "$apt"/{parts,lists/partial,cache/archives/partial}
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
    [ ! -e "$file" ] || sed 's/^deb /deb-src /; s/^Types:.*/Types: deb-src/' "$file" \
      >"$apt/parts/${file##*/}"
  done
  [ ! -e "$apt/parts/sources.list" ] || mv "$apt/parts/sources.list" "$apt/parts/main.list"
  by_lists() {
    "$1" -o Debug::NoLocking=1 -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$apt/parts" \
      -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache" "${@:2}"
  }
  by_lists apt-get update || true # a failure does not matter if the needed list was fetched
  for version in $(by_lists apt-cache madison "postgresql-$1" | awk '/Sources$/ { print $3 }' | sort -rVu); do
    ! by_lists apt-get source -q --download-only "postgresql-$1=$version" || return 0
  done
  skip "apt has no sources of PostgreSQL $1, and BLOOMFILTER_POSTGRES_SOURCES names none"
}
