// The comparison page: charts drawn over the server's bars, and a search in the list of systems.
import { watchFigures } from "./figures.js";
import { startFilters } from "./filter.js";

startFilters(document);
const main = document.querySelector("[data-plotly]");
if (main) addEventListener("load", () => watchFigures(main, main.dataset.plotly), { once: true });
