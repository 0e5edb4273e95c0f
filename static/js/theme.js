// Reading needs none of this: it switches the theme (early.js has set the remembered one)
// and, on a phone, folds long parts.
const root = document.documentElement;
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

/** The theme that shows now: the reader's choice, else the system's. */
export function theme() {
  return root.dataset.theme || (systemIsDark.matches ? "dark" : "light");
}

function remember(name) {
  try {
    localStorage.setItem("theme", name);
  } catch {
    // storage may be forbidden; the choice then lasts as long as the page
  }
}

function startTheme(button) {
  const label = () => {
    button.textContent = theme() === "dark" ? button.dataset.light : button.dataset.dark;
  };
  button.hidden = false;
  label();
  systemIsDark.addEventListener("change", label);
  button.addEventListener("click", () => {
    root.dataset.theme = theme() === "dark" ? "light" : "dark";
    remember(root.dataset.theme);
    label();
    document.dispatchEvent(new CustomEvent("themechange", { detail: theme() }));
  });
}

/** Fold the controls and all categories but the first, and open what a link leads to. */
export function foldForPhone(scope = document) {
  scope.querySelector("details.ctl")?.removeAttribute("open");
  scope.querySelectorAll("[data-fold]").forEach(startFold);
}

function startFold(button, position) {
  const body = button.closest("tbody");
  const holdsTarget = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  const set = (folded) => {
    body.classList.toggle("folded", folded);
    button.textContent = folded ? button.dataset.show : button.dataset.hide;
    button.setAttribute("aria-expanded", String(!folded));
  };
  button.hidden = false;
  set(position > 0 && !(holdsTarget && body.contains(holdsTarget)));
  button.addEventListener("click", () => set(!body.classList.contains("folded")));
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#"]');
    const target = link && document.getElementById(link.getAttribute("href").slice(1));
    if (target && body.contains(target)) set(false);
  });
}

const toggle = document.querySelector("[data-theme-toggle]");
if (toggle) startTheme(toggle);
if (matchMedia("(max-width: 599px)").matches) foldForPhone();
