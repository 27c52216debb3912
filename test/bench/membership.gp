# Is x in the set? Time and space of a filter and of exact ways, for a set of a million values

once = system("cat '" . tables . "membership.tsv' 2>/dev/null | grep -c '^membership'") + 0 > 0
eval page(once ? 1230 : 850)

eval panel(60, 350)
eval bar_panel
eval heading("Time per row of WHERE, a million values in the set")
set xrange [0:800]
set xtics 200
set xlabel "nanoseconds per row, its scan included"
set yrange [-5.6:-0.3]
name(s, settings) = strstrt(s, "@>") ? "filter @> x, row by row" : \
  strstrt(s, "IN (") ? "IN or EXISTS by hash join, " . (settings eq "work_mem=4MB" ? "work_mem 4 MB" : "work_mem 64 MB") : \
  strstrt(s, "ANY") ? "x = ANY (array)" : strstrt(s, "EXISTS") ? "EXISTS by btree index, row by row" : s
chosen = bars(tables . "probe.tsv", "probe", "$3 ~ /1.2 MB/ || $3 ~ /IN |ANY|EXISTS/")
ns(ms, rows) = ms * 1e6 / rows
plot chosen using (ns($7, $17)):($16 - 0.2):(0):(ns($7, $17)):($16 - 0.35):($16 - 0.05):(bar_colour(strcol(3))) with boxxyerror linecolor rgb variable, \
  chosen using (0):($16 + 0.2):(name(strcol(3), strcol(4))) with labels left offset 0.2, 0, \
  chosen using (ns($7, $17)):($16 - 0.2):(sprintf("%.0f", ns($7, $17))) with labels left offset 0.5, 0

eval panel(500, 740)
eval bar_panel
eval heading("Space for the million values")
set xrange [0:42]
set xtics 10
set xlabel "bytes per value (a bigint)"
set yrange [-4.6:-0.3]
space(s) = s[1:6] eq "bf_agg" ? "filter, 1 % false positives" : s[1:5] eq "array" ? "array" : \
  s eq "btree index" ? "btree index of a table" : "table without its index"
chosen = bars(tables . "size.tsv", "size_exact", "1")
plot chosen using 7:($16 - 0.2):(0):7:($16 - 0.35):($16 - 0.05):(bar_colour(strcol(3))) with boxxyerror linecolor rgb variable, \
  chosen using (0):($16 + 0.2):(space(strcol(3))) with labels left offset 0.2, 0, \
  chosen using 7:($16 - 0.2):(sprintf("%.3g", $7)) with labels left offset 0.5, 0

duration(us) = us < 1000 ? sprintf("%.3g µs", us) : sprintf("%.3g ms", us / 1000)
if (once) {
  eval panel(890, 1130)
  eval bar_panel
  eval heading("One question in a statement of its own")
  set logscale x
  set xrange [2:1e6]
  set xtics ("10 µs" 10, "0.1 ms" 100, "1 ms" 1e3, "10 ms" 1e4, "0.1 s" 1e5)
  set xlabel "time of a statement (log scale)"
  chosen = bars(tables . "membership.tsv", "membership", "1")
  plot chosen using 7:($16 - 0.2):(2):7:($16 - 0.35):($16 - 0.05):(bar_colour(strcol(3))) with boxxyerror linecolor rgb variable, \
    chosen using (2):($16 + 0.2):(strstrt(strcol(3), "@>") ? "filter @> x" : strstrt(strcol(3), "IN (") ? "x IN (SELECT …)" : strstrt(strcol(3), "EXISTS") ? "EXISTS by btree index" : name(strcol(3), strcol(4))) with labels left offset 0.2, 0, \
    chosen using 7:($16 - 0.2):(duration($7)) with labels left offset 0.5, 0
}
