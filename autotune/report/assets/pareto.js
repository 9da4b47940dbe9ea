// Time against energy of a launch, and the schedules that no other one beats in both.

function pareto(group) {
  const { millijoules, front } = group.trials.energy;
  if (!front.length) return null;
  const box = chartBox(isNarrow() ? 340 : 420);
  const section = card(
    "pareto",
    "Time against energy",
    "The energy is the whole board's, as NVML counts it while one launch follows the other. " +
      "No trial takes both less time and less energy than one on the line, the Pareto front.",
    box,
  );
  return { section, draw: () => drawPareto(box, group, millijoules, front) };
}

function drawPareto(box, group, millijoules, front) {
  const { series, accent } = colours();
  const { micros } = group.trials;
  const rows = rowsOf(group).filter((row) => millijoules[row]);
  const point = (row) => [micros[row], millijoules[row], row];
  const ahead = [...front].sort((one, other) => micros[one] - micros[other]);
  const value = (name, gap) => merged(gap(name), { type: "value", scale: true });
  drawChart(
    box,
    `The time and the energy of ${rows.length} trials, of which ${front.length} are on the Pareto front.`,
    {
      legend: legend(),
      grid: grid({ left: 66 }),
      tooltip: {
        trigger: "item",
        formatter: ({ data }) => paretoTip(group, data),
      },
      xAxis: value("time of a launch (µs)", xAxis),
      yAxis: merged(value("energy of a launch (mJ)", yAxis), { nameGap: 52 }),
      series: [
        {
          name: "trial",
          type: "scatter",
          symbolSize: 7,
          itemStyle: { color: series[0], opacity: 0.65 },
          data: rows.filter((row) => !front.includes(row)).map(point),
        },
        {
          name: "Pareto front",
          type: "line",
          symbol: "diamond",
          symbolSize: 11,
          lineStyle: { color: series[1], width: 1.5 },
          itemStyle: { color: series[1], borderColor: accent },
          data: ahead.map(point),
        },
      ],
    },
    rows.length,
  );
}

function paretoTip(group, [micros, millijoules, row]) {
  const watts = (millijoules / micros) * 1e3;
  const told = `${duration(micros)}, ${figure(millijoules, 3)} mJ, ${figure(watts, 3)} W`;
  return tip(`Trial ${group.trials.number[row]}: ${told}`, element("code", {}, scheduleOf(group, row)));
}
