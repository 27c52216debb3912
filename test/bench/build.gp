# What it costs to build a filter, by its size, beside sizing itself, the exact ways and HyperLogLog.

set multiplot
set logscale x
set logscale y
set ytics (1, 1.5, 2, 3, 5, 10, 20, 50, 100)
set size 0.4, 1
set xrange [60e3:300e6]
set yrange [0.7:10]
@size_tics
set xlabel "size of the filter"
set ylabel "time / time of count(x)"
plot sized("build", "bf_agg") using 5:11:12:13 with yerrorlines linestyle 1 title "bf_agg(x, n)", \
  1 linestyle 3 notitle

set origin 0.4, 0
set size 0.6, 1
unset logscale y
set xrange [0.7:10]
set yrange [*:-0.5]
set xtics (1, 1.5, 2, 3, 5, 10, 20, 50, 100)
set xlabel "time / time of count(x)"
unset ylabel
set grid xtics
set offsets 0, 0, 0, 0.5
plot others("build") using 11:16:12:13:ytic(3) with xerrorbars linestyle 2 notitle
