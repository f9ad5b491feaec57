// Who answers in a conversation: an assistant, or nobody in particular; its questions to begin with are shown.

/** `onChange(id)` is called with the id of the assistant, or null. Where there is none to choose, nothing happens. */
export function startAssistantChoice(page, { assistant: choice, question }, { onChange }) {
  if (!choice) return { show() {}, ofSession: () => ({}) };
  const chosen = () => choice.value || null;

  function draw() {
    for (const list of page.querySelectorAll("[data-starters]")) list.hidden = list.dataset.starters !== choice.value;
    page.classList.toggle("has-assistant", Boolean(chosen()));
  }

  choice.addEventListener("change", () => {
    draw();
    onChange(chosen());
  });
  for (const button of page.querySelectorAll("[data-starter]")) {
    button.addEventListener("click", () => {
      question.value = button.textContent;
      question.dispatchEvent(new Event("input", { bubbles: true }));
      question.focus();
    });
  }
  const named = new URLSearchParams(location.search).get("assistant");
  if ([...choice.options].some(({ value }) => value === named)) choice.value = named;
  draw();
  return {
    show(id) {
      choice.value = id ?? "";
      draw();
    },
    /** What a new conversation begins with: the assistant's workspace decides what is switched on, and pays. */
    ofSession: () => (chosen() ? { assistant_id: chosen(), workspace_id: choice.selectedOptions[0].dataset.workspace } : {}),
  };
}
