// What went wrong.

function failureSection(group) {
  if (!group.failures.length) return null;
  const failed = Object.entries(group.counts).reduce(
    (sum, [status, count]) => (status === "ok" ? sum : sum + count),
    0,
  );
  const rows = group.failures.map(({ status, count, error, schedule }) => [
    element("span", {}, String(count), bar(count / failed)),
    element("span", { className: "bad" }, status),
    element(
      "span",
      {},
      error,
      element("details", {}, element("summary", {}, "schedule of the newest"), element("code", {}, words(schedule))),
    ),
  ]);
  const total = Object.values(group.counts).reduce((sum, count) => sum + count, 0);
  const columns = [{ title: "trials", number: true }, { title: "status" }, { title: "cause, as the newest says it" }];
  return {
    section: card(
      "failures",
      "What failed, by cause",
      `${failed} of ${total} trials failed. Errors that differ in numbers only have one cause. ` +
        "autotune replay runs a failed one again.",
      dataTable(columns, rows),
    ),
    draw: () => {},
  };
}

function bar(share) {
  return element("div", { className: "track" }, element("div", { style: `width: ${100 * share}%` }));
}

function words(schedule) {
  return Object.entries(schedule)
    .map(([name, value]) => `${name}=${word(value)}`)
    .join(" ");
}
