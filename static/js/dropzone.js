// The file input covers its drop zone, so dropping works without script; this shows the file that was chosen.

for (const zone of document.querySelectorAll(".dropzone")) {
  const input = zone.querySelector("input[type=file]");
  const text = zone.querySelector("[data-dropzone-text]");
  const mark = (isOver) => zone.classList.toggle("is-dragover", isOver);
  zone.addEventListener("dragover", () => mark(true));
  zone.addEventListener("dragleave", () => mark(false));
  zone.addEventListener("drop", () => mark(false));
  input.addEventListener("change", () => {
    text.textContent = [...input.files].map((file) => file.name).join(", ");
  });
}
