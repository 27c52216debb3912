# What a rate costs, and whether it is the rate obtained.

set multiplot layout 1, 2
set logscale x
set xrange [0.2:0.000005] reverse
set xtics ("10 %%" 0.1, "1 %%" 0.01, "0.1 %%" 0.001, "0.01 %%" 0.0001, "0.001 %%" 0.00001)
set xlabel "false positive rate asked"

set ylabel "bits per value"
set yrange [0:30]
plot sprintf("< grep -P '^rates\\tbits\\t' '%s'", table) using 3:7 with linespoints linestyle 1 title "this extension", \
  -log(x) / log(2) ** 2 linestyle 3 title "theory: 1.44 log2(1/rate)"

set ylabel "rate obtained / rate asked"
set yrange [0.5:1.5]
plot sprintf("< grep -P '^rates\\trates\\t' '%s'", table) using 3:11:12:13 with yerrorbars linestyle 1 \
    title "median and range of five times ten million strangers", \
  1 linestyle 3 notitle
