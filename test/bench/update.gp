# What adding one value costs: a large filter is written whole, a small one of many in place

eval page(940)
set logscale xy
set xrange [1.2e3:20e6]
@size_tics
set xlabel "size of the filter that is updated (log scale)"
one = "one filter in one row"
many = "one of 1000 filters in 1000 rows"

eval panel(60, 380)
eval heading("Time of UPDATE and COMMIT, per value added (log scale)")
set yrange [8:2e5]
set ytics ("10 µs" 10, "0.1 ms" 100, "1 ms" 1e3, "10 ms" 1e4, "0.1 s" 1e5)
plot sized("update", "one row") using 5:7:8:9 with yerrorlines linestyle 1 title one, \
  sized("update", "1000 rows") using 5:7 with points linestyle 2 pointsize 1.5 title many, \
  sized("update", "1000 rows") using 5:7:(sprintf("%.0f µs", $7)) with labels left offset 1.4, 0 textcolor rgb "#c2410c" notitle

eval panel(520, 850)
eval heading("WAL written, per value added (log scale)")
set yrange [80:1e8]
set ytics ("100 B" 100, "1 KB" 1e3, "10 KB" 1e4, "100 KB" 1e5, "1 MB" 1e6, "10 MB" 1e7, "100 MB" 1e8)
plot sized("update_wal", "one row") using 5:7:8:9 with yerrorlines linestyle 1 title one, \
  sized("update_wal", "1000 rows") using 5:7 with points linestyle 2 pointsize 1.5 title many, \
  sized("update_wal", "1000 rows") using 5:7:(sprintf("%.0f B", $7)) with labels left offset 1.4, 0 textcolor rgb "#c2410c" notitle
