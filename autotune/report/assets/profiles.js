// What Nsight Compute counted of kernels.

function profileSections(report) {
  return report.profiles.map((profile, position) => ({
    section: card(
      `profile-${position}`,
      `What its kernels were counted to do: ${profile.title}`,
      "By Nsight Compute: one launch, cold caches, clocks as they were.",
      dataTable(
        [{ title: "counter" }, ...profile.kernels.map((kernel) => ({ title: kernel, number: true }))],
        profile.rows
          .filter(([, ...values]) => values.some((value) => value !== null))
          .map(([label, ...values]) => [label, ...values.map((value) => (value === null ? "" : counter(value)))]),
      ),
    ),
    draw: () => {},
  }));
}

function counter(value) {
  return value.toLocaleString("en-US", { maximumSignificantDigits: 5 });
}
