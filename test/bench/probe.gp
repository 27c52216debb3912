# What it costs to ask a stored filter in WHERE, by its size, beside exact ways

eval page(940)
eval panel(60, 340)
eval heading("WHERE filter @> x: time, as a multiple of WHERE x > -1")
set logscale x
set xrange [80e3:20e6]
@size_tics
set yrange [0:5]
set ytics 1
set xlabel "size of the filter (log scale)"
plot sized("probe", "@>") using 5:11:12:13 with yerrorlines linestyle 1 title "10 million rows asked", \
  1 linestyle 3 title "WHERE x > -1"

eval panel(480, 855)
eval bar_panel
eval heading("The same rows asked in other ways: a million keys")
unset logscale x
set xrange [0:18]
set xtics 2
set yrange [-6.6:-0.3]
set xlabel "time, as a multiple of WHERE x > -1"
name(s, settings) = s[1:7] eq "nothing" ? "a function that does nothing" : \
  strstrt(s, "@>") ? "filter @> x, filter of 1.2 MB" : \
  strstrt(s, "IN (") ? "IN or EXISTS by hash join, " . (settings eq "work_mem=4MB" ? "work_mem 4 MB" : "work_mem 64 MB") : \
  strstrt(s, "ANY") ? "x = ANY (array)" : "EXISTS by btree index, row by row"
chosen = bars(table, "probe", "!$5 && $3 != \"x > -1\" || $3 ~ /1.2 MB/")
plot chosen using 11:($16 - 0.2):(0):11:($16 - 0.35):($16 - 0.05):(bar_colour(strcol(3))) with boxxyerror \
    linecolor rgb variable, \
  chosen using (0):($16 + 0.2):(name(strcol(3), strcol(4))) with labels left offset 0.2, 0, \
  chosen using 11:($16 - 0.2):(sprintf("%.3g", $11)) with labels left offset 0.5, 0
