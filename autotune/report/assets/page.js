// The page: its sections in order, drawn anew when the problem, the theme or the width changes.

function summarySection(report, chosen, choose) {
  const group = report.groups[chosen];
  const { winner, roofline, counts } = group;
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const share = winner && (100 * roofline.micros) / winner.micros;
  const shown = group.trials.number.length;
  const tiles = winner
    ? [
        tile(duration(winner.micros), `best time, ${group.time_source}`),
        tile(percent(share), `of the roofline (${roofline.bound})`, share),
        tile(`${figure((share / 100) * roofline.rate, 3)} ${roofline.unit}`, "rate of the best"),
        ...Object.entries(winner.ratios).map(([name, times]) => tile(ratio(times), `as fast as ${name}`)),
      ]
    : [];
  tiles.push(tile(String(total), `trials, ${total - (counts.ok || 0)} failed`));
  const names = report.groups.map((one) => `${one.problem}, ${one.device}, ${one.time_source}`);
  const controls = element("div", { className: "controls" }, chooser("Problem", names, chosen, choose));
  const sampled =
    shown < total ? `The pictures have ${shown} of these ${total} trials: the fastest, and every few others.` : null;
  return card(
    "summary",
    `${group.operator} ${group.problem} on ${group.device}`,
    sampled,
    report.groups.length > 1 ? controls : null,
    element("div", { className: "tiles" }, ...tiles),
    winner ? element("p", {}, element("code", {}, winner.words)) : null,
  );
}

function factsSection(report) {
  return report.facts.length ? card("facts", "The run", null, factTable(report.facts)) : null;
}

function show(report, chosen) {
  forgetCharts();
  applyTheme();
  const group = report.groups[chosen];
  const parts = [
    convergence(group),
    importance(group),
    pareto(group),
    byTwo(group),
    parallel(group),
    fastestSection(group),
    winnerSection(group),
    failureSection(group),
    roofs(report, group),
    measured(report, group),
    ...ratioSections(report),
    ...profileSections(report),
  ].filter((part) => part);
  document.getElementById("main").replaceChildren(
    summarySection(report, chosen, (next) => switchTo(report, next)),
    ...parts.map((part) => part.section),
    ...[factsSection(report)].filter((part) => part),
  );
  parts.forEach((part) => part.draw());
}

let shownGroup = 0;

function switchTo(report, chosen) {
  shownGroup = chosen;
  show(report, chosen);
  document.querySelector("#summary select").focus();
}

function watchWidth(redraw) {
  let width = document.body.clientWidth;
  addEventListener("resize", () => {
    if (document.body.clientWidth !== width) {
      width = document.body.clientWidth;
      redraw();
    }
  });
}

// On paper the page is light, and as wide as A4 between its margins.
function watchPrinting(redraw) {
  let before = null;
  addEventListener("beforeprint", () => {
    before = chosenTheme;
    chosenTheme = "light";
    document.documentElement.dataset.paper = "true";
    redraw();
  });
  addEventListener("afterprint", () => {
    chosenTheme = before;
    delete document.documentElement.dataset.paper;
    redraw();
  });
}

async function start() {
  const report = await unpacked(document.getElementById("data"));
  const redraw = () => show(report, shownGroup);
  document.getElementById("made").textContent = report.made;
  watchTheme(redraw);
  watchWidth(redraw);
  watchPrinting(redraw);
  redraw();
  document.documentElement.dataset.drawn = "true";
}

start();
