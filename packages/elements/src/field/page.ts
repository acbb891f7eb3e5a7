import type { FromFrame } from '../protocol.ts';

/** The page around the frame, at the other end of the port. */
export class Page {
  readonly #port: MessagePort;
  readonly #states = new Set<string>();
  #told: string | undefined;
  readonly #asked = new Map<number, (refusal: string) => void>();

  constructor(port: MessagePort) {
    this.#port = port;
  }

  tell(message: FromFrame) {
    this.#port.postMessage(message);
  }

  /** Shows the page whether the field is in this state, if that is new, so that the page cannot count keystrokes. */
  mark(state: string, holds: boolean) {
    if (holds) this.#states.add(state);
    else this.#states.delete(state);
    const field = [...this.#states].join(' ');
    if (field === this.#told) return;
    this.#told = field;
    this.tell({ dataset: { field } });
  }

  /** Asks the page to authorize a session. @returns the reason for a refusal, or an empty string. */
  authorize(call: number, nonce: string): Promise<string> {
    this.tell({ call, nonce });
    return new Promise((resolve) => this.#asked.set(call, resolve));
  }

  authorized(call = 0, refusal = '') {
    this.#asked.get(call)?.(refusal);
  }
}
