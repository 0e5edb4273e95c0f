// Uploads: a place to drop files, the list of those chosen, and a page that follows the reading.
// Without it the file field, the form and the page's own refresh do the same.
const POLL_MS = 1000;
const LONGEST_POLL_MS = 8000;

/** Let files be dropped on `zone` and show those chosen, each with a way to remove it. */
export function startZone(zone) {
  const field = zone.querySelector("input[type=file]");
  const list = zone.querySelector("[data-chosen]");
  const warning = zone.querySelector("[data-warning]");
  const chosen = new DataTransfer();
  const show = () => {
    field.files = chosen.files;
    list.replaceChildren(...[...chosen.files].map((file, at) => entry(file, at, zone, remove)));
    const words = wrong(chosen.files, zone.dataset);
    warning.hidden = !words;
    warning.textContent = words;
  };
  const add = (files) => {
    for (const file of files) chosen.items.add(file);
    show();
  };
  const remove = (at) => {
    chosen.items.remove(at);
    show();
    (list.querySelector("button") ?? field).focus();
  };
  zone.querySelector("[data-hint]").hidden = false;
  field.addEventListener("change", () => add([...field.files].filter((file) => !has(chosen, file))));
  for (const name of ["dragenter", "dragover"]) {
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
  }
  zone.addEventListener("dragleave", (event) => {
    if (!zone.contains(event.relatedTarget)) zone.classList.remove("over");
  });
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    add([...event.dataTransfer.files].filter((file) => !has(chosen, file)));
  });
}

function has(chosen, file) {
  return [...chosen.files].some(
    (one) => one.name === file.name && one.size === file.size && one.lastModified === file.lastModified,
  );
}

function wrong(files, { mostFiles, mostBytes, tooMany, tooLarge }) {
  if (files.length > Number(mostFiles)) return tooMany;
  const size = [...files].reduce((sum, file) => sum + file.size, 0);
  return size > Number(mostBytes) ? tooLarge : "";
}

function entry(file, at, zone, remove) {
  const item = document.createElement("li");
  const name = document.createElement("b");
  name.textContent = file.name;
  const size = document.createElement("span");
  size.textContent = sizeWords(file.size);
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = zone.dataset.remove;
  button.setAttribute("aria-label", `${zone.dataset.remove}: ${file.name}`);
  button.addEventListener("click", () => remove(at));
  item.append(name, size, button);
  return item;
}

function sizeWords(bytes) {
  const format = (value, unit, unitDisplay = "short") =>
    new Intl.NumberFormat(document.documentElement.lang, {
      style: "unit",
      unit,
      unitDisplay,
      maximumSignificantDigits: 3,
    }).format(value);
  if (bytes < 1e3) return format(bytes, "byte", "long");
  return bytes < 1e6 ? format(bytes / 1e3, "kilobyte") : format(bytes / 1e6, "megabyte");
}

/** Ask for the page again until the reading is over, then show it. */
async function follow(phase, wait) {
  await new Promise((resolve) => setTimeout(resolve, wait));
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const now = page.querySelector("[data-phase]")?.dataset.phase;
    if (now !== phase) {
      location.reload();
      return;
    }
  } catch {
    // the server may be starting again
  }
  follow(phase, Math.min(wait * 1.5, LONGEST_POLL_MS));
}

/** Open the folded part that the address leads to. */
function unfold() {
  const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
  }
}

document.querySelectorAll("[data-drop]").forEach(startZone);
if (document.querySelector('[data-phase="reading"]')) follow("reading", POLL_MS);
addEventListener("hashchange", unfold);
unfold();
