// The members of a workspace, their roles, and the invitations to it.
import { del, get, patch, post } from "./api.js";
import { confirm } from "./confirm.js";
import { startCopy } from "./copy.js";
import { announce, h, icon, parts, toast } from "./dom.js";
import { startFormDialog } from "./form-dialog.js";
import { ago, day } from "./format.js";
import { t } from "./texts.js";

const ROLES = ["viewer", "editor", "admin", "owner"];
const ROLE_NAMES = { viewer: t("Viewer"), editor: t("Editor"), admin: t("Admin"), owner: t("Owner") };

export async function startMembers(page) {
  await new MembersPage(page).start();
}

class MembersPage {
  #parts;
  #workspace;
  #name;
  #me;
  #role;
  #next = null;

  constructor(page) {
    const { workspace, name, user, role } = page.dataset;
    this.#parts = parts(page);
    this.#workspace = `/workspaces/${workspace}`;
    this.#name = name;
    this.#me = Number(user);
    this.#role = role;
  }

  get #isAdmin() {
    return this.#role === "admin" || this.#role === "owner";
  }

  async start() {
    const { more, dialog, invite, form, secret, secretDone, copy, secretValue } = this.#parts;
    more.addEventListener("click", () => this.#attempt(async () => this.#take(await get(this.#next))));
    if (this.#isAdmin) {
      startCopy(copy, secretValue);
      secretDone.addEventListener("click", () => (secret.hidden = true));
      form.addEventListener("change", () => this.#suitForm());
      startFormDialog(dialog, invite, () => this.#invite());
    }
    await this.#attempt(() => this.#load());
  }

  async #load() {
    const { rows } = this.#parts;
    const members = await get(`${this.#workspace}/members`, { limit: 200 });
    rows.replaceChildren();
    this.#take(members);
    if (this.#isAdmin) await this.#loadInvitations();
  }

  #take({ results, next }) {
    const { rows, more } = this.#parts;
    this.#next = next;
    more.hidden = !next;
    rows.append(...results.map((member) => this.#memberRow(member)));
  }

  #memberRow(member) {
    const { user_id: id, email, name, joined_at: joined } = member;
    const who = [h("span", { class: "person-name" }, name || email), id === this.#me ? ` ${t("(you)")}` : null];
    const address = name ? h("p", { class: "person-address" }, email) : null;
    return h(
      "tr",
      {},
      h("td", { class: "cell-name" }, h("p", {}, who), address),
      h("td", { "data-label": "" }, this.#roleControl(member)),
      h("td", { "data-label": t("Since") }, day(joined)),
      h("td", { class: "cell-actions" }, this.#mayChange(member) && id !== this.#me ? this.#removeButton(member) : null),
    );
  }

  /** Admins manage everybody but owners; owners manage everybody. */
  #mayChange({ role }) {
    return this.#role === "owner" || (this.#role === "admin" && role !== "owner");
  }

  #roleControl(member) {
    if (!this.#mayChange(member)) return ROLE_NAMES[member.role];
    const offered = this.#role === "owner" ? ROLES : ROLES.slice(0, 3);
    const options = offered.map((role) => h("option", { value: role, selected: role === member.role }, ROLE_NAMES[role]));
    const label = t("Role of {email}", { email: member.email });
    return h("select", { class: "role-choice", "aria-label": label, autocomplete: "off", onchange: ({ target }) => this.#changeRole(member, target) }, options);
  }

  #removeButton(member) {
    const label = t("Remove {email}", { email: member.email });
    return h("button", { class: "icon-button", type: "button", "aria-label": label, title: label, onclick: () => this.#remove(member) }, icon("user-round-minus"));
  }

  async #changeRole(member, control) {
    const before = member.role;
    try {
      if (member.user_id === this.#me && !(await this.#agreesToResign(control.value))) throw null;
      await patch(`${this.#workspace}/members/${member.user_id}`, { role: control.value });
      member.role = control.value;
      toast(`${member.email}: ${ROLE_NAMES[member.role]}`);
      announce(t("The role is changed."));
      // The page shows what the role allows.
      if (member.user_id === this.#me) location.reload();
    } catch (error) {
      control.value = before;
      if (error) toast(error.message, { error: true });
    }
  }

  #agreesToResign(role) {
    return confirm({
      title: t("Change your own role?"),
      text: t("Your role in “{workspace}” will be {role}. You can’t undo this yourself.", { workspace: this.#name, role: ROLE_NAMES[role] }),
      action: t("Change my role"),
    });
  }

  async #remove(member) {
    const agreed = await confirm({
      title: t("Remove {email}?", { email: member.email }),
      text: t("They no longer see “{name}”. What they added to it stays.", { name: this.#name }),
      action: t("Remove"),
    });
    if (!agreed) return;
    await this.#attempt(async () => {
      await del(`${this.#workspace}/members/${member.user_id}`);
      await this.#load();
      toast(t("{email} is removed.", { email: member.email }));
    });
  }

  #suitForm() {
    const { form, emailField, usesField } = this.#parts;
    const isForAddress = form.elements.for.value === "email";
    emailField.hidden = !isForAddress;
    form.elements.email.required = isForAddress;
    usesField.hidden = isForAddress;
  }

  async #invite() {
    const { elements } = this.#parts.form;
    const isForAddress = elements.for.value === "email";
    const invitation = await post(`${this.#workspace}/invitations`, {
      role: elements.role.value,
      expires_in_days: Number(elements.days.value),
      ...(isForAddress ? { email: elements.email.value.trim() } : { max_uses: Number(elements.max_uses.value) }),
    });
    this.#showSecret(invitation);
    await this.#loadInvitations();
    return true;
  }

  #showSecret({ link, email, mailed, role }) {
    const { secret, secretText, secretValue } = this.#parts;
    const whom = email ?? t("Whoever opens it");
    const sent = mailed ? `${t("An e-mail to {email} is on its way.", { email })} ` : "";
    secretText.textContent = sent + t("{whom} joins with the role {role}. The link is shown this once.", { whom, role: ROLE_NAMES[role] });
    secretValue.textContent = link;
    secret.hidden = false;
    // After the dialog has closed, which gives the focus back.
    setTimeout(() => secret.focus());
  }

  async #loadInvitations() {
    const { invitations, invitationRows } = this.#parts;
    const { results } = await get(`${this.#workspace}/invitations`, { limit: 200 });
    invitationRows.replaceChildren(...results.map((one) => this.#invitationRow(one)));
    invitations.hidden = !results.length;
  }

  #invitationRow({ id, email, role, uses, max_uses: most, expires_at: expires, open, created_at: created }) {
    const isExpired = Date.parse(expires) <= Date.now();
    const label = email ? t("Withdraw the invitation for {email}", { email }) : t("Withdraw the invitation for whoever has the link");
    const withdraw = h("button", { class: "icon-button", type: "button", "aria-label": label, title: label, onclick: () => this.#withdraw(id) }, icon("trash-2"));
    return h(
      "tr",
      { class: open ? null : "is-over" },
      h("td", { class: "cell-name" }, h("p", {}, email ?? t("Whoever has the link")), h("p", { class: "person-address" }, t("made {ago}", { ago: ago(created) }))),
      h("td", { "data-label": "" }, ROLE_NAMES[role]),
      h("td", { "data-label": t("Used") }, t("{uses} of {most}", { uses, most })),
      h("td", { "data-label": t("Expires"), class: isExpired ? "is-expired" : null }, isExpired ? t("expired {day}", { day: day(expires) }) : day(expires)),
      h("td", { class: "cell-actions" }, withdraw),
    );
  }

  async #withdraw(id) {
    await this.#attempt(async () => {
      await del(`/invitations/${id}`);
      await this.#loadInvitations();
      toast(t("The invitation is withdrawn."));
    });
  }

  async #attempt(action) {
    try {
      await action();
    } catch (error) {
      toast(error.message, { error: true });
    }
  }
}
