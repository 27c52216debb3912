# An index on a column of random values: its size, and the time of a lookup

eval page(920)
kind(s) = s[1:7] eq "trace: " ? s[8:] : s[15:]
colour(s) = strstrt(s, "bloompages") ? 0x1f5fa8 : 0x9aa5b1

eval panel(60, 380)
eval bar_panel
eval heading("Bytes per row, an index on a uuid")
set xrange [0:48]
set xtics 10
set xlabel "bytes of the index, for each row of the table"
set yrange [-7.6:-0.3]
bytes(size, rows) = size / (1.0 * rows)
chosen = bars(table, "columns_size", "$3 ~ /^trace: /")
plot chosen using (bytes($7, $17)):($16 - 0.2):(0):(bytes($7, $17)):($16 - 0.35):($16 - 0.05):(colour(strcol(3))) with boxxyerror linecolor rgb variable, \
  chosen using (0):($16 + 0.2):(kind(strcol(3))) with labels left offset 0.2, 0, \
  chosen using (bytes($7, $17)):($16 - 0.2):(sprintf("%.3g", bytes($7, $17))) with labels left offset 0.5, 0

duration(us) = us < 1000 ? sprintf("%.3g µs", us) : sprintf("%.3g ms", us / 1000)
eval panel(540, 840)
eval bar_panel
eval heading("One lookup of a value that is there, in memory")
set logscale x
set xrange [2:1e6]
set xtics ("10 µs" 10, "0.1 ms" 100, "1 ms" 1e3, "10 ms" 1e4, "0.1 s" 1e5)
set xlabel "time of a statement (log scale)"
chosen = bars(table, "columns_find", "$3 ~ /^trace, there: /")
plot chosen using 7:($16 - 0.2):(2):7:($16 - 0.35):($16 - 0.05):(colour(strcol(3))) with boxxyerror linecolor rgb variable, \
  chosen using (2):($16 + 0.2):(kind(strcol(3))) with labels left offset 0.2, 0, \
  chosen using 7:($16 - 0.2):(duration($7)) with labels left offset 0.5, 0
