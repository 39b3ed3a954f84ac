// <button data-copy="id"> copies the text of that element. The button is hidden where it could not work.

function show(root) {
  for (const button of root.querySelectorAll("[data-copy]")) button.hidden = !navigator.clipboard;
}
show(document);
document.addEventListener("htmx:load", (event) => show(event.detail.elt));

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  await navigator.clipboard.writeText(source.value ?? source.innerText.trim());
  const label = button.querySelector("span");
  const before = label.textContent;
  label.textContent = "Copied";
  document.dispatchEvent(new CustomEvent("announce", { detail: "Copied" }));
  setTimeout(() => (label.textContent = before), 2000);
});
