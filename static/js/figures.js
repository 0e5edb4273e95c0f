// Plotly charts, drawn over the bars that the server sent once they come near the view.
// The figures are made by the server; here they only get the colours of the theme.

const NEAR = "600px";
const PHONE = matchMedia("(max-width: 599px)");
const CONFIG = {
  displaylogo: false,
  responsive: true,
  modeBarButtonsToRemove: [
    "sendChartToCloud",
    "sendDataToCloud",
    "select2d",
    "lasso2d",
    "autoScale2d",
  ],
};

let library;
const drawn = new Map();

/** Draw each `[data-figure]` in `scope` when it comes near; `address` is the library's. */
export function watchFigures(scope, address) {
  const source = document.getElementById("figures");
  if (!source) return;
  const figures = JSON.parse(source.textContent);
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        watcher.unobserve(target);
        draw(target, figures[target.dataset.figure], address);
      }
    },
    { rootMargin: NEAR },
  );
  scope.querySelectorAll("[data-figure]").forEach((host) => watcher.observe(host));
  document.addEventListener("themechange", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

function load(address) {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.addEventListener("load", () => resolve(window.Plotly));
    script.addEventListener("error", reject);
    document.head.append(script);
  });
  return library;
}

async function draw(host, figure, address) {
  // On a phone the server's grouped bars lie down; a standing chart would not fit.
  if (!figure || (host.dataset.kind === "grouped" && PHONE.matches)) return;
  let plotly;
  try {
    plotly = await load(address);
  } catch {
    return; // the server's bars stay
  }
  const area = document.createElement("div");
  area.className = "plot";
  area.setAttribute("role", "img");
  area.setAttribute("aria-label", host.dataset.label);
  host.append(area);
  host.classList.add("drawn");
  const { data, layout } = dress(figure);
  await plotly.newPlot(area, data, layout, CONFIG);
  area.on("plotly_click", (event) => {
    const run = event.points[0]?.customdata;
    if (run) location.assign(run);
  });
  drawn.set(area, figure);
}

function redraw() {
  for (const [area, figure] of drawn) {
    const { data, layout } = dress(figure);
    window.Plotly.react(area, data, layout, CONFIG);
  }
}

/** A copy of `figure` in the colours of the theme that shows now. */
function dress(figure) {
  const style = getComputedStyle(document.documentElement);
  const token = (name) => style.getPropertyValue(`--${name}`).trim();
  const { data, layout } = structuredClone(figure);
  data.forEach((trace) => dressTrace(trace, token));
  layout.font.color = token("ink");
  layout.font.family = token("sans");
  layout.hoverlabel = {
    bgcolor: token("paper"),
    bordercolor: token("ink3"),
    font: { color: token("ink") },
  };
  layout.modebar = { bgcolor: "rgba(0,0,0,0)", color: token("ink3"), activecolor: token("ink") };
  for (const axis of [layout.xaxis, layout.yaxis]) {
    axis.gridcolor = token("hair");
    axis.tickfont = { ...axis.tickfont, color: token(axis.showgrid ? "ink2" : "ink") };
  }
  return { data, layout };
}

function dressTrace(trace, token) {
  const colours = trace.meta.slots.map((slot) => token(`c${slot}`));
  if (trace.type === "scatter") {
    trace.line.color = trace.marker.color = colours[0];
  } else if (trace.meta.hollow) {
    trace.marker.line.color = colours;
  } else {
    trace.marker.color = colours;
    trace.marker.pattern.fgcolor = token("paper");
  }
}
