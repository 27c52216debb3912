# What it costs to build a filter, by its size, beside sizing itself, exact ways and HyperLogLog

eval page(980)
eval panel(60, 340)
eval heading("Time of bf_agg(x, n), as a multiple of count(x)")
set logscale x
set xrange [80e3:200e6]
@size_tics
set yrange [0:3]
set ytics 1
set xlabel "size of the filter (log scale)"
by(way) = sized("build", "bf_agg") . " | awk -F '\\t' '($4 ~ /scan=off/) == (\"" . way . "\" == \"row\")'"
plot by("page") using 5:11:12:13 with yerrorlines linestyle 1 title "10 million values, a page at a time", \
  by("row") using 5:11:12:13 with yerrorlines linestyle 2 title "row by row", \
  1 linestyle 3 title "count(x)"

eval panel(480, 895)
eval bar_panel
eval heading("Other aggregates over the same 10 million values")
unset logscale x
set xrange [0:7.2]
set xtics 1
set yrange [-7.6:-0.3]
set xlabel "time, as a multiple of count(x)"
name(s, settings) = s[1:7] eq "nothing" ? "an aggregate that does nothing" : \
  s eq "bf_agg(x)" ? "bf_agg(x), sizing itself, " . (settings eq "work_mem=4MB" ? "work_mem 4 MB" : "work_mem 64 MB") : \
  s[1:3] eq "hll" ? "hll_add_agg, HyperLogLog" : s[1:6] eq "bf_agg" ? "bf_agg(x, 10 million), filter of 12 MB" : s
chosen = bars(table, "build", "$4 !~ /scan=off/ && (!$5 && $3 != \"count(x)\" || $3 ~ /, 10000000\\)/ && $5)")
plot chosen using 11:($16 - 0.2):(0):11:($16 - 0.35):($16 - 0.05):(bar_colour(strcol(3))) with boxxyerror \
    linecolor rgb variable, \
  chosen using (0):($16 + 0.2):(name(strcol(3), strcol(4))) with labels left offset 0.2, 0, \
  chosen using 11:($16 - 0.2):(sprintf("%.3g", $11)) with labels left offset 0.5, 0
