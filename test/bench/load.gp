# How the false positive rate rises as values are added, below and above what the filter was made for

eval page(620)
eval panel(60, 530)
set lmargin at screen 0.17
eval heading("False positive rate (log scale)")
set logscale y
set xrange [0.4:4.1]
set yrange [4e-8:1.5]
eval "set ytics " . percent_tics
set xtics ("half" 0.5, "full" 1, "twice" 2, "3 times" 3, "4 times" 4)
set xlabel "values in the filter, as a multiple of what it was made for"
set key at graph 0.98, 0.04 right bottom Left reverse width -2
set arrow 1 from 1, 4e-8 to 1, 1.5 nohead linecolor rgb '#404040' linewidth 1.5
theory(load, rate) = (1 - 0.5 ** load) ** (-log(rate) / log(2))
plot rows(table, "load_0.1") using 3:7 with points linestyle 2 pointsize 0.9 title "made for 10 %", \
  rows(table, "load_0.01") using 3:7 with points linestyle 1 pointsize 0.9 title "made for 1 %", \
  rows(table, "load_0.0001") using 3:7 with points linestyle 4 pointsize 0.9 title "made for 0.01 %", \
  [0.5:4] theory(x, 0.1) linestyle 3 title "theory: a textbook Bloom filter", \
  [0.5:4] theory(x, 0.01) linestyle 3 notitle, \
  [0.5:4] theory(x, 0.0001) linestyle 3 notitle
