// Light or dark: as the system says, until the button is pressed.

const SYSTEM_DARK = matchMedia("(prefers-color-scheme: dark)");

// Colours that people with colour vision deficiency tell apart (Okabe and Ito), each with a symbol of its own.
const SERIES = {
  light: ["#0072b2", "#c44e00", "#008060", "#b04f8a", "#8a6a00", "#3f3f8f", "#5b6675"],
  dark: ["#56b4e9", "#ff9d52", "#34d0a0", "#ee9fcb", "#f0d24a", "#a9a6ff", "#aab6c4"],
};
// Each has its point in its middle, which ECharts' own pin and arrow have not: a triangle that points down, a plus and
// a hexagon are drawn here.
const SYMBOLS = [
  "circle",
  "diamond",
  "triangle",
  "rect",
  "path://M0,0 L10,0 L5,10 Z",
  "path://M3,0 H7 V3 H10 V7 H7 V10 H3 V7 H0 V3 H3 Z",
  "path://M3,0 H7 L10,5 L7,10 H3 L0,5 Z",
];
// From slow to fast; the fast end has the most contrast with the ground.
const SCALE = {
  light: ["#cfd8e3", "#8fbcd4", "#3f92bd", "#1a5f96", "#0a2a56"],
  dark: ["#344252", "#2c6f92", "#35a39d", "#8edb7f", "#fdf3a0"],
};

let chosenTheme = null;

function themeName() {
  return chosenTheme || (SYSTEM_DARK.matches ? "dark" : "light");
}

// The colours of the page, for charts.
function colours() {
  const name = themeName();
  const style = getComputedStyle(document.documentElement);
  const css = (variable) => style.getPropertyValue(`--${variable}`).trim();
  return {
    text: css("text"),
    muted: css("muted"),
    line: css("line"),
    card: css("card"),
    accent: css("accent"),
    bad: css("bad"),
    series: SERIES[name],
    scale: SCALE[name],
  };
}

function applyTheme() {
  const button = document.getElementById("theme");
  document.documentElement.dataset.theme = themeName();
  button.textContent = themeName() === "dark" ? "☀ Light" : "☾ Dark";
  button.setAttribute("aria-label", `switch to the ${themeName() === "dark" ? "light" : "dark"} theme`);
}

function watchTheme(redraw) {
  document.getElementById("theme").addEventListener("click", () => {
    chosenTheme = themeName() === "dark" ? "light" : "dark";
    redraw();
  });
  SYSTEM_DARK.addEventListener("change", redraw);
}
