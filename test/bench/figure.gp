# Settings and functions that all figures share. `table` is the section's TSV file, `tables` the
# directory of all tables. The columns of a table: 2 workload, 3 case, 4 settings, 5 filter_bytes,
# 7 ... 9 median, min and max, 11 ... 13 median, min and max of the comparison, 15 title.
#
# A figure is 720 pixels wide, with its panels one below the other. The letters are large enough for
# a phone, which shows the figure half as wide. The background is white, even on a dark page.

set datafile separator tab
set encoding utf8
set style line 1 linecolor rgb "#1f5fa8" linewidth 2.5 pointtype 7 pointsize 0.8
set style line 2 linecolor rgb "#c2410c" linewidth 2.5 pointtype 5 pointsize 0.8
set style line 3 linecolor rgb "#707070" linewidth 2 dashtype 2
set style line 4 linecolor rgb "#2a8a57" linewidth 2.5 pointtype 9 pointsize 0.8
set border 3 linecolor rgb "#404040"
set tics nomirror textcolor rgb "#1a1a1a"
set grid xtics ytics linecolor rgb "#dddddd" linetype 1
set key left top Left reverse samplen 2 width -6
set xlabel offset 0, 0.4
set style fill solid 1 noborder
set boxwidth 0.4

# page(height) starts a page. panel(top, bottom) starts a panel between these pixels. heading(text)
# writes a panel's heading.
page(height) = sprintf("pixels = %d; set terminal svg noenhanced size 720, %d font 'sans-serif,18' background 'white'; set multiplot", height, height)
panel(top, bottom) = sprintf("set lmargin at screen 0.15; set rmargin at screen 0.945; set tmargin at screen %f; set bmargin at screen %f", \
  1 - top / (1.0 * pixels), 1 - bottom / (1.0 * pixels))
heading(text) = sprintf("set label 1 \"%s\" at screen 0.025, graph 1 offset 0, 1.2 font 'sans-serif,20' textcolor rgb '#1a1a1a'", text)

# rows() returns all rows of a workload. sized() returns the rows that have a filter's size and a
# case that matches the pattern.
rows(file, workload) = sprintf("< awk -F '\\t' '$2 == \"%s\"' '%s'", workload, file)
sized(workload, pattern) = sprintf("< awk -F '\\t' '$2 == \"%s\" && $5 && $3 ~ /%s/' '%s'", workload, pattern, table)

# bars() returns the rows of a workload that an awk condition chooses, least time or space first.
# Column 16 is the bar's number, counted from the top, as a negative number. Column 17 is the number
# of rows of the case's query. A bar has its label above it and its figure at its end. A filter's
# bars are blue.
bars(file, workload, condition) = sprintf("< awk -F '\\t' -v OFS='\\t' '$2 == \"%s\" && (%s) { split($15, word, / /); n = 0; for (i in word) { w = word[i]; gsub(/,/, \"\", w); if (w + 0 > n) n = w + 0 } print $0, 0, n }' '%s' | sort -t '\t' -s -k 7,7g | awk -F '\\t' -v OFS='\t' '{ $16 = -NR; print }'", workload, condition, file)
bar_panel = "unset ytics; set border 1; set grid noytics; set lmargin at screen 0.025; set key off"
bar_colour(name) = strstrt(name, "@>") || strstrt(name, "bf_agg") ? 0x1f5fa8 : 0x9aa5b1

size_tics = "set xtics ('1.9 KB' 1.9e3, '8 KB' 8.2e3, '120 KB' 124e3, '1.2 MB' 1.24e6, '12 MB' 12.4e6, '120 MB' 124e6)"
rate_tics = "('10 %%' 0.1, '1 %%' 0.01, '0.1 %%' 0.001, '0.01 %%' 0.0001, '0.001 %%' 0.00001, '0.0001 %%' 0.000001, '0.00001 %%' 0.0000001)"
percent_tics = "('100 %%' 1, '10 %%' 0.1, '1 %%' 0.01, '0.1 %%' 0.001, '0.01 %%' 0.0001, '0.001 %%' 0.00001, '0.0001 %%' 0.000001, '0.00001 %%' 0.0000001)"
