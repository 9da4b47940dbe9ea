// Which fields of the schedule matter.

const MOST_FIELDS = 12;

function importance(group) {
  if (!group.importances.length) return null;
  const [first] = group.importances;
  const names = Object.keys(first.shares)
    .sort((a, b) => first.shares[b] - first.shares[a])
    .slice(0, MOST_FIELDS);
  const box = chartBox(90 + names.length * (14 + 10 * group.importances.length));
  const tells = group.importances.map(({ name, tells }) => `${name}: ${tells}`).join(". ");
  return {
    section: card("importance", "Which parameters matter", `By Optuna's evaluators. ${tells}.`, box),
    draw: () => drawImportance(box, group, names),
  };
}

function drawImportance(box, group, names) {
  const { series, text } = colours();
  const left = Math.min(isNarrow() ? 130 : 200, Math.max(...names.map((name) => name.length)) * 7 + 20);
  const percentOf = (shares, name) => Number((100 * (shares[name] || 0)).toFixed(1));
  return drawChart(box, `The importance of ${names.join(", ")}.`, {
    legend: legend(),
    grid: grid({ left, right: 50 }),
    tooltip: {
      trigger: "item",
      formatter: ({ name, seriesName, value }) => tip(name, `${seriesName}: ${percent(value)}`),
    },
    xAxis: xAxis("importance (% of all parameters)", { type: "value" }),
    yAxis: merged(yAxis(""), {
      type: "category",
      inverse: true,
      data: names,
      axisLabel: { color: text, width: left - 12, overflow: "truncate" },
      splitLine: { show: false },
    }),
    series: group.importances.map(({ name, shares }, position) => ({
      name,
      type: "bar",
      barMaxWidth: 14,
      itemStyle: { color: series[position] },
      label: { show: true, position: "right", color: text, fontSize: 11, formatter: ({ value }) => value.toFixed(1) },
      data: names.map((field) => percentOf(shares, field)),
    })),
  });
}
