# What the figures have in common. `table` is the section's TSV: columns 3 case, 4 settings,
# 5 filter_bytes, 7 ... 9 median, min and max, 11 ... 13 the same of the comparison.

set terminal svg noenhanced size 960, 400 font "sans-serif,12" background "white"
set datafile separator tab
set style line 1 linecolor rgb "#1f5fa8" linewidth 2 pointtype 7 pointsize 0.5
set style line 2 linecolor rgb "#c8501e" linewidth 2 pointtype 5 pointsize 0.5
set style line 3 linecolor rgb "#808080" linewidth 1 dashtype 2
set border 3
set tics nomirror
set grid ytics linecolor rgb "#dddddd" linetype 1
set key left top Left reverse

# Rows of a workload: of those that name a filter's size the ones whose case matches the pattern, or
# those that name none, numbered from below in column 16.
sized(workload, pattern) = sprintf("< awk -F '\\t' '$2 == \"%s\" && $5 && $3 ~ /%s/' '%s'", workload, pattern, table)
others(workload) = sprintf("< awk -F '\\t' -v OFS='\\t' '$2 == \"%s\" && !$5 { if ($4 ~ /work_mem/) $3 = $3 \", \" $4; print $0, --n }' '%s'", workload, table)

size_tics = "set xtics ('1.9 KB' 1.9e3, '8 KB' 8.2e3, '120 KB' 124e3, '1.2 MB' 1.24e6, '12 MB' 12.4e6, '120 MB' 124e6)"
