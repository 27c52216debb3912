# Bytes per value of the three types, by the false positive rate asked for

eval page(960)
set logscale x
set xrange [0.13:0.0000007] reverse
eval "set xtics " . rate_tics
set xlabel "false positive rate asked for (log scale)"

eval panel(60, 460)
eval heading("Bytes per value")
set yrange [0:17]
set ytics 4
plot rows(table, "size_countingbloomfilter_curve") using 3:7 with lines linestyle 2 title "countingbloomfilter", \
  rows(table, "size_bloomfilter_curve") using 3:7 with lines linestyle 1 title "bloomfilter", \
  rows(table, "size_cuckoofilter_curve") using 3:7 with lines linestyle 4 title "cuckoofilter", \
  -log(x) / log(2) ** 2 / 8 linestyle 3 title "theory: 0.18 log2(1/rate)"

eval panel(590, 875)
eval heading("Bytes per value / theory of a Bloom filter")
set yrange [0.8:1.6]
set ytics 0.2
set key right top
plot rows(table, "size_bloomfilter_curve") using 3:11 with lines linestyle 1 title "bloomfilter", \
  rows(table, "size_cuckoofilter_curve") using 3:11 with lines linestyle 4 title "cuckoofilter", \
  1 linestyle 3 notitle
