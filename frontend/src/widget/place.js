// A cited place: the quote, and on demand its page with the quote marked.
import { h } from "./elements.js";

/** Return a card that fills itself; `connection` asks for the place when it is opened. */
export function placeCard(connection, { rank, chunk }, say) {
  const id = `place-${rank}-${Math.random().toString(36).slice(2)}`;
  const card = h("section", { class: "place", id, tabindex: "-1", "aria-label": say("source", { number: rank, name: "" }) }, h("p", { class: "note" }, say("searching")));
  fill().catch(() => card.replaceChildren(h("p", { class: "note" }, say("gone"))));

  async function fill() {
    const place = await connection.place(chunk);
    const name = place.document_name;
    const where = place.page_number ? [name, say("page", { page: place.page_number })] : place.start_time === null ? [name] : [name, clock(place.start_time)];
    card.setAttribute("aria-label", say("source", { number: rank, name }));
    const quotes = (place.quotes ?? []).map(({ text }) => h("blockquote", {}, text));
    card.replaceChildren(h("h3", {}, where.join(", ")), ...(quotes.length ? quotes : [h("blockquote", {}, place.text.slice(0, 600))]));
    if (place.has_page) card.append(pageButton(place, name));
  }

  function pageButton(place, name) {
    const button = h("button", { type: "button" }, say("show"));
    const replace = (element) => {
      // Without this a keyboard would be back at the start of the site's page.
      if (button.matches(":focus")) card.focus();
      button.replaceWith(element);
    };
    async function draw() {
      const boxes = place.quotes.flatMap(({ bbox }) => bbox ?? []);
      const number = boxes[0].page_number;
      const picture = await createImageBitmap(await connection.page(chunk));
      replace(drawn(picture, boxes.filter((box) => box.page_number === number), say("picture", { page: number, name })));
    }
    button.addEventListener("click", () => draw().catch(() => replace(h("p", { class: "note" }, say("gone")))));
    return button;
  }
  return card;
}

/** A canvas and no <img>: the site's policy need not allow pictures from elsewhere. */
function drawn(picture, boxes, label) {
  const canvas = h("canvas", { width: picture.width, height: picture.height, role: "img", "aria-label": label });
  const context = canvas.getContext("2d");
  context.drawImage(picture, 0, 0);
  context.globalCompositeOperation = "multiply";
  context.fillStyle = "#ffd76a";
  for (const { bbox: [x1, y1, x2, y2], layout_width: width } of boxes) {
    const scale = picture.width / width;
    context.fillRect(x1 * scale, y1 * scale, (x2 - x1) * scale, (y2 - y1) * scale);
  }
  return canvas;
}

const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
