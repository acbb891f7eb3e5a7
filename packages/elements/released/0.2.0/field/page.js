export class Page {
    #port;
    #states = new Set();
    #told;
    #asked = new Map();
    constructor(port) {
        this.#port = port;
    }
    tell(message) {
        this.#port.postMessage(message);
    }
    mark(state, holds) {
        if (holds)
            this.#states.add(state);
        else
            this.#states.delete(state);
        const field = [...this.#states].join(' ');
        if (field === this.#told)
            return;
        this.#told = field;
        this.tell({ dataset: { field } });
    }
    authorize(call, nonce) {
        this.tell({ call, nonce });
        return new Promise((resolve) => this.#asked.set(call, resolve));
    }
    authorized(call = 0, refusal = '') {
        this.#asked.get(call)?.(refusal);
    }
}
