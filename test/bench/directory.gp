# Which of many stored filters hold a value: an index over them, and a scan

eval page(560)
eval panel(60, 475)
eval heading("Time of SELECT id … WHERE filter @> x, milliseconds (log scale)")
set logscale xy
set xrange [700:140e3]
set xtics ("1000" 1e3, "10 000" 1e4, "100 000" 1e5)
set yrange [0.01:5000]
set ytics ("0.01" 0.01, "0.1" 0.1, "1" 1, "10" 10, "100" 100, "1000" 1000)
set xlabel "number of filters (log scale)"
# Column 16 is the number of filters.
asked(size, way) = sprintf("< awk -F '\\t' -v OFS='\\t' '$2 == \"directory_asked\" && $3 ~ /of %s KB: the %s/ { n = $3; sub(/ .*/, \"\", n); gsub(/,/, \"\", n); $16 = n; print }' '%s'", size, way, table)
plot asked("12.8", "scan") using 16:7:8:9 with yerrorlines linestyle 2 title "filters of 12.8 KB, scan", \
  asked("12.8", "index") using 16:7:8:9 with yerrorlines linestyle 1 title "with an index", \
  asked("1.3", "scan") using 16:7:8:9 with yerrorlines linestyle 2 dashtype 2 title "filters of 1.3 KB, scan", \
  asked("1.3", "index") using 16:7:8:9 with yerrorlines linestyle 1 dashtype 2 title "with an index"
