// A search field that hides what does not match in the list it names; without it the server searches.

/** Start every `<input data-filters="id of a list">` in `scope`. */
export function startFilters(scope) {
  scope.querySelectorAll("input[data-filters]").forEach(startFilter);
}

function startFilter(field) {
  const list = document.getElementById(field.dataset.filters);
  // A list that is only a part of what there is has to be searched by the server.
  if (!list || list.dataset.whole !== "true") return;
  const entries = [...list.children];
  const empty = document.getElementById(`${list.id}-empty`);
  const submit = field.form?.querySelector("[data-search]");
  if (submit) submit.hidden = true;
  const filter = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const entry of entries) {
      const text = entry.textContent.toLowerCase();
      entry.hidden = !words.every((word) => text.includes(word));
    }
    if (empty) empty.hidden = entries.some((entry) => !entry.hidden);
  };
  field.addEventListener("input", filter);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
  filter();
}
