import { send } from "./send.js";
import { offer, siblingOf } from "./siblings.js";
import { makeInput } from "./typed-input.js";
export function open(start, page, entries) {
    const inputs = new Inputs(start, page, entries);
    offer(start.group, start.id, inputs);
    return inputs;
}
class Inputs {
    #start;
    #page;
    #filled;
    #form = document.createElement('form');
    #brand = document.createElement('span');
    #told = '';
    constructor(start, page, entries) {
        this.#start = start;
        this.#page = page;
        this.#filled = entries.map((entry) => ({ entry, ...makeInput(entry) }));
        const [first, ...others] = this.#filled.map(({ input }) => input);
        const box = document.createElement('div');
        if (first)
            box.append(first, this.#brand);
        this.#form.append(box, ...others);
        this.#form.className = start.kind;
        this.#brand.ariaHidden = 'true';
        document.body.append(this.#form);
        this.#listen();
        this.#changed();
    }
    focus() {
        (this.#filled.find((filled) => !this.#read(filled)) ?? this.#filled[0])?.input.focus();
    }
    clear() {
        for (const { input } of this.#filled) {
            input.value = '';
            input.dispatchEvent(new Event('input'));
        }
    }
    update({ title = '', placeholder, disabled = false }) {
        const [first, ...others] = this.#filled;
        if (first && placeholder !== undefined)
            first.input.placeholder = placeholder;
        const named = others.length > 0 ? this.#form : first?.input;
        named?.setAttribute('aria-label', title);
        if (others.length > 0)
            this.#form.role = 'group';
        for (const { input } of this.#filled)
            input.disabled = disabled;
    }
    send(message) {
        return send(message, this.#start.key, this.#page);
    }
    take() {
        const { kind, name = kind } = this.#start;
        const isText = kind === 'text';
        for (const { input, refresh } of this.#filled) {
            if (isText)
                input.blur();
            refresh();
        }
        const wrong = this.#filled.filter((filled) => !this.#isRight(filled));
        for (const filled of this.#filled)
            this.#judge(filled, wrong.includes(filled));
        if (wrong.length > 0)
            return { name: isText ? name : kind, isText };
        const data = this.#filled.map((filled) => this.#read(filled));
        return isText ? { name, isText, data: data[0] } : { name: kind, isText, data: Object.assign({}, ...data) };
    }
    number() {
        const { kind } = this.#start;
        return kind === 'number' || kind === 'card' ? this.#filled[0]?.input.value : undefined;
    }
    reconsider() {
        for (const filled of this.#filled) {
            const { entry, input } = filled;
            if (this.#read(filled))
                this.#judge(filled, false);
            else if (entry.followsNumber && input.value !== '' && input !== document.activeElement)
                this.#judge(filled, true);
        }
        this.#changed();
    }
    #listen() {
        for (const filled of this.#filled) {
            const { input } = filled;
            input.addEventListener('input', () => {
                this.#judge(filled, false);
                this.reconsider();
                if (this.#start.kind === 'number')
                    siblingOf('cvc')?.reconsider();
            });
            input.addEventListener('blur', () => {
                this.#judge(filled, filled.isRefused() || (input.value !== '' && !this.#isRight(filled)));
                this.#changed();
            });
        }
        for (const name of ['focus', 'blur']) {
            this.#form.addEventListener(name === 'focus' ? 'focusin' : 'focusout', ({ relatedTarget }) => {
                if (relatedTarget)
                    return;
                this.#page.mark('focused', name === 'focus');
                this.#page.tell({ emit: name });
            });
        }
        this.#form.addEventListener('keydown', ({ key, isComposing }) => {
            if (key === 'Enter' && !isComposing)
                this.#page.tell({ emit: 'submit' });
        });
        this.#form.addEventListener('submit', (event) => event.preventDefault());
        document.addEventListener('mousedown', (event) => {
            if (event.target instanceof HTMLInputElement)
                return;
            event.preventDefault();
            this.focus();
        });
    }
    #judge({ input }, isInvalid) {
        input.ariaInvalid = isInvalid ? 'true' : null;
        this.#page.mark('invalid', this.#filled.some((filled) => filled.input.ariaInvalid));
    }
    #changed() {
        const [first] = this.#filled;
        const change = {
            empty: this.#filled.every(({ input }) => input.value === ''),
            complete: this.#filled.every((filled) => this.#read(filled)),
        };
        const { name = '', ...told } = first?.entry.tell?.(first.input.value, first.input !== document.activeElement) ?? {};
        this.#brand.textContent = name;
        if (change.complete)
            Object.assign(change, told);
        const text = JSON.stringify(change);
        if (text === this.#told)
            return;
        this.#told = text;
        this.#page.mark('empty', change.empty);
        this.#page.mark('complete', change.complete);
        this.#page.tell({ emit: 'change', event: change });
    }
    #read({ entry, input }) {
        return entry.read(input.value, this.#start.kind === 'cvc' ? siblingOf('number')?.number() : this.number());
    }
    #isRight(filled) {
        return this.#read(filled) !== undefined && (filled.entry.isRight?.(filled.input.value) ?? true);
    }
}
