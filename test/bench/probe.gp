# What it costs to ask a stored filter in WHERE, by its size, beside the exact ways.

set multiplot
set logscale x
set logscale y
set ytics (1, 2, 5, 10, 20, 50, 100)
set size 0.4, 1
set xrange [60e3:300e6]
set yrange [0.7:100]
@size_tics
set xlabel "size of the filter"
set ylabel "time / time of x > const"
plot sized("probe", "@>") using 5:11:12:13 with yerrorlines linestyle 1 title "stored filter @> x", \
  1 linestyle 3 notitle

set origin 0.4, 0
set size 0.6, 1
unset logscale y
set xrange [0.7:100]
set yrange [*:-0.5]
set xtics (1, 2, 5, 10, 20, 50, 100)
set xlabel "time / time of x > const"
unset ylabel
set grid xtics
set offsets 0, 0, 0, 0.5
plot others("probe") using 11:16:12:13:ytic(3) with xerrorbars linestyle 2 notitle
