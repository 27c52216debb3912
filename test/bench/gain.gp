# What a filter saves: asking it beside a comparison, and beside exact ways, for a set of a million values

rows_of_scan = system("awk -F '\t' '$2 == \"scan\" && $3 ~ /: by page$/' '" . tables . "scan.tsv' | wc -l") + 0
rows_of_join = system("awk -F '\t' '$2 == \"semijoin\" && $3 !~ /filter, by row|DuckDB/' '" . tables . "scan.tsv' | wc -l") + 0
bar = 46 # pixels of a bar and the label above it
first = 60 + bar * rows_of_scan
eval page(first + 150 + bar * rows_of_join + 90)

eval panel(60, first)
eval bar_panel
eval heading("Asking a stored filter for each row of a table")
set xrange [0:*]
set xtics autofreq
set xlabel "time, as a multiple of comparing the column with a constant"
eval sprintf("set yrange [%f:-0.3]", -0.6 - rows_of_scan)
set arrow 1 from 1, graph 0 to 1, graph 1 nohead linestyle 3
asked = "< awk -F '\t' -v OFS='\t' '$2 == \"scan\" && $3 ~ /: by page$/ { sub(/: by page$/, \"\", $3); sub(/, few hits/, \"\", $3); split($3, part, /, /); print \"filter of \" part[1] \", which \" (part[2] == \"all\" ? \"all rows\" : part[2] \" of the rows\") \" pass\", $11, -++n }' '" . tables . "scan.tsv'"
plot asked using 2:($3 - 0.2):(0):2:($3 - 0.35):($3 - 0.05) with boxxyerror linecolor rgb "#1f5fa8", \
  asked using (0):($3 + 0.2):1 with labels left offset 0.2, 0, \
  asked using 2:($3 - 0.2):(sprintf("%.2f", $2)) with labels left offset 0.5, 0, \
  asked using (1.1 * $2):3 with dots linecolor rgb "white" # room for the figure at the end of a bar
unset arrow 1

eval panel(first + 150, first + 150 + bar * rows_of_join)
eval bar_panel
eval heading("Which rows are in a set of a million values?")
set xrange [0:*]
set xtics autofreq
set xlabel "nanoseconds per row (in brackets: bytes for each of the million)"
eval sprintf("set yrange [%f:-0.3]", -0.6 - rows_of_join)
taken(case) = sprintf("%.3g", system("awk -F '\t' '$2 == \"size_exact\" && index($3, \"" . case . "\") == 1 { print $7 }' '" . tables . "size.tsv'") + 0)
table_takes = taken("table")
filter_takes = taken("bf_agg")
name(s, settings) = s eq "filter, by page" ? "filter @> x, 1 % false positives (" . filter_takes . ")" : \
  strstrt(s, "filter by page") ? "filter @> x AND x IN (SELECT …), exact (" . filter_takes . " and " . table_takes . ")" : \
  s eq "hash semi join" ? "x IN (SELECT …), hash join, work_mem " . (settings eq "work_mem=4MB" ? "4" : "64") . " MB (" . table_takes . ")" : \
  s eq "merge semi join" ? "x IN (SELECT …), merge join (" . table_takes . ")" : \
  strstrt(s, "ANY") ? "x = ANY (array) (" . taken("array_agg") . ")" : "EXISTS (SELECT …) by a btree index (" . taken("btree") . ")"
chosen = bars(tables . "scan.tsv", "semijoin", "$3 !~ /filter, by row|DuckDB/")
ns(ms, rows) = ms * 1e6 / rows
plot chosen using (ns($7, $17)):($16 - 0.2):(0):(ns($7, $17)):($16 - 0.35):($16 - 0.05):(strstrt(strcol(3), "filter") ? 0x1f5fa8 : 0x9aa5b1) with boxxyerror linecolor rgb variable, \
  chosen using (0):($16 + 0.2):(name(strcol(3), strcol(4))) with labels left offset 0.2, 0, \
  chosen using (ns($7, $17)):($16 - 0.2):(sprintf("%.0f", ns($7, $17))) with labels left offset 0.5, 0, \
  chosen using (1.1 * ns($7, $17)):16 with dots linecolor rgb "white"
