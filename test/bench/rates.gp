# What a false positive rate costs, and whether it is the rate obtained

eval page(880)
set logscale x
set xrange [0.13:0.0000077] reverse
eval "set xtics " . rate_tics
set xlabel "false positive rate asked for (log scale)"

eval panel(60, 400)
eval heading("Size, bits per value")
set yrange [0:30]
set ytics 5
plot rows(table, "bits_curve") using ($3 >= 0.00001 ? $3 : NaN):7 with lines linestyle 1 title "bloomfilter", \
  -log(x) / log(2) ** 2 linestyle 3 title "theory: 1.44 log2(1/rate)"

eval panel(540, 795)
eval heading("Rate obtained / rate asked for")
set yrange [0.5:1.5]
set ytics 0.25
plot 1 linestyle 3 notitle, \
  rows(table, "rates") using 3:11:12:13 with yerrorbars linestyle 1 \
    title "five filters, each asked for ten million others"
