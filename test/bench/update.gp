# What adding one value costs: a large filter is written whole, a shard of 1.9 KB in place.

set multiplot layout 1, 2
set logscale xy
set xrange [1e3:40e6]
@size_tics
set xlabel "size of the filter in the row"
set ylabel "µs per value added"
plot sized("update", "one row") using 5:7:8:9 with yerrorlines linestyle 1 title "one filter", \
  sized("update", "1000 rows") using 5:7:8:9 with yerrorbars linestyle 2 title "one of 1000 shards"
set ylabel "bytes of WAL per value added"
set format y "%.0s %cB"
plot sized("update_wal", "one row") using 5:7:8:9 with yerrorlines linestyle 1 title "one filter", \
  sized("update_wal", "1000 rows") using 5:7:8:9 with yerrorbars linestyle 2 title "one of 1000 shards"
