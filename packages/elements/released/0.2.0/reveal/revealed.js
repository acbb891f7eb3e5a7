import { problemOf, request } from "../field/requests.js";
import { openSession } from "../field/session.js";
import { rowsOf } from "./rows.js";
import { watchVisibility } from "./visibility.js";
const shownForMs = 60_000;
const copiedForMs = 2_000;
const english = {
    number: 'Number',
    expiry: 'Expiry',
    cvc: 'Security code',
    show: 'Show',
    hide: 'Hide',
    copy: 'Copy',
    copied: 'Copied',
    failed: 'The value cannot be shown',
};
export function open(start, page) {
    return new Revealed(start, page);
}
class Revealed {
    #start;
    #page;
    #words;
    #box = make('div');
    #toggle = make('button');
    #isSeen = true;
    #isDisabled = false;
    #hidesAt;
    #hidden = 0;
    constructor(start, page) {
        this.#start = start;
        this.#page = page;
        this.#words = { ...english, ...start.words };
        this.#box.className = 'reveal';
        this.#box.role = 'group';
        document.body.append(this.#box);
        this.#toggle.addEventListener('click', () => (this.#hidesAt === undefined ? this.#show() : this.clear()));
        for (const name of ['focus', 'blur']) {
            this.#toggle.addEventListener(name, () => {
                page.mark('focused', name === 'focus');
                page.tell({ emit: name });
            });
        }
        watchVisibility(this.#box, (isSeen) => {
            this.#isSeen = isSeen;
            for (const button of this.#box.querySelectorAll('button'))
                this.#enable(button);
        });
        addEventListener('pagehide', () => this.clear());
        this.clear();
    }
    focus() {
        this.#toggle.focus();
    }
    clear() {
        this.#hidden += 1;
        clearTimeout(this.#hidesAt);
        this.#hidesAt = undefined;
        this.#draw([], '••••••••', this.#words.show);
    }
    update({ title, disabled = false }) {
        if (title !== undefined)
            this.#box.ariaLabel = title;
        this.#isDisabled = disabled;
        for (const button of this.#box.querySelectorAll('button'))
            this.#enable(button);
    }
    #enable(button) {
        button.disabled = button === this.#toggle ? this.#isDisabled : !this.#isSeen;
    }
    async #show() {
        this.#toggle.disabled = true;
        const hidden = this.#hidden;
        try {
            const key = await openSession(this.#start.key, this.#page, 0);
            const { type, data } = await request('GET', `/tokens/${encodeURIComponent(this.#start.token ?? '')}`, { key });
            if (hidden === this.#hidden) {
                this.#hidesAt = setTimeout(() => this.clear(), shownForMs);
                this.#draw(rowsOf(type, data), '', this.#words.hide);
            }
        }
        catch (error) {
            this.#draw([], this.#words.failed, this.#words.show);
            this.#page.tell({ emit: 'error', event: problemOf(error) });
        }
        this.#enable(this.#toggle);
    }
    #draw(rows, instead, action) {
        this.#toggle.textContent = action ?? '';
        const last = make('div');
        last.append(make('output', instead), this.#toggle);
        this.#box.replaceChildren(...rows.map((row) => this.#line(row)), last);
        const isShown = this.#hidesAt !== undefined;
        this.#page.mark('shown', isShown);
        this.#page.tell({ emit: 'change', event: { empty: !isShown, complete: isShown } });
    }
    #line({ name, shown, copied }) {
        const line = make('div');
        if (name !== '')
            line.append(make('small', this.#words[name] ?? name));
        line.append(make('output', shown));
        const button = make('button', this.#words.copy);
        button.addEventListener('click', async () => {
            await navigator.clipboard.writeText(copied);
            button.textContent = this.#words.copied ?? '';
            setTimeout(() => {
                button.textContent = this.#words.copy ?? '';
            }, copiedForMs);
        });
        this.#enable(button);
        line.append(button);
        return line;
    }
}
function make(tag, text = '') {
    const element = document.createElement(tag);
    element.textContent = text;
    if (element instanceof HTMLButtonElement)
        element.type = 'button';
    return element;
}
