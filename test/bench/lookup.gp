# What one probe of a stored filter costs beyond the statement around it: hardly more for a large one.

set logscale x
set xrange [4e3:300e6]
set yrange [-2:10]
@size_tics
set xlabel "size of the filter"
set ylabel "µs beyond a no-op call"
plot sized("lookup_first", "@>") using 5:11:12:13 with yerrorlines linestyle 1 \
    title "first probe in a transaction", \
  sized("lookup_again", "@>") using 5:11:12:13 with yerrorlines linestyle 2 \
    title "5000 probes in a transaction", \
  0 linestyle 3 notitle
