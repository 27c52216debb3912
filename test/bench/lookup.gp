# What one question to a stored filter costs, by its size

eval page(560)
eval panel(60, 475)
eval heading("Time of SELECT filter @> x, microseconds")
set logscale x
set xrange [5e3:200e6]
@size_tics
set yrange [0:20]
set ytics 5
set xlabel "size of the filter (log scale)"
nothing(workload) = system("awk -F '\t' '$2 == \"" . workload . "\" && $3 ~ /no-op/ { print $7 }' '" . table . "'") + 0
plot sized("lookup_first", "@>") using 5:7:8:9 with yerrorlines linestyle 1 title "a transaction for each question", \
  nothing("lookup_first") linecolor rgb "#1f5fa8" linewidth 1.5 dashtype 2 notitle, \
  sized("lookup_again", "@>") using 5:7:8:9 with yerrorlines linestyle 2 title "5000 questions in a transaction", \
  nothing("lookup_again") linecolor rgb "#c2410c" linewidth 1.5 dashtype 2 notitle, \
  NaN linestyle 3 title "the same with a call that does nothing"
