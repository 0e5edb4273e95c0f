// Runs before the first paint, so that a remembered theme does not flash in; theme.js does the rest.
(() => {
  try {
    const kept = localStorage.getItem("theme");
    if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
  } catch {
    // storage may be forbidden: the system's theme then shows
  }
})();
