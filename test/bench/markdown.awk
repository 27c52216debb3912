# Turns the tables of script/bench (SECTION.tsv) into Markdown.

function compared(value,  sign) {
  sign = field["compare"] == "difference" && value > 0 ? "+" : ""
  return sign value
}

BEGIN { FS = "\t" }

/^# / {
  sub(/^# /, "")
  environment = $0
  next
}

environment != "" {
  # The line below the environment names the columns.
  split("", column)
  for (i = 1; i <= NF; i++) column[i] = $i
  next_section = 1
  heading = environment
  environment = ""
  next
}

{
  for (i = 1; i <= NF; i++) field[column[i]] = $i
  if (field["title"] == "") next # only for a figure
  if (next_section) {
    printf "\n## %s\n\n%s\n", field["section"], heading
    next_section = 0
  }
  if (field["workload"] != workload) {
    workload = field["workload"]
    printf "\n### %s\n\n", field["title"]
    printf "| case | settings | %s |%s\n", field["unit"], field["compare"] == "" ? "" : " against " field["against"] " |"
    printf "|---|---|---|%s\n", field["compare"] == "" ? "" : "---|"
  }
  gsub(/\|/, "\\|", field["case"])
  printf "| `%s` | %s | %s (%s .. %s) |", field["case"], field["settings"], field["median"], field["min"], field["max"]
  if (field["compare"] != "")
    printf " %s (%s .. %s) |", compared(field["compared"]), compared(field["compared_min"]), compared(field["compared_max"])
  print ""
}
