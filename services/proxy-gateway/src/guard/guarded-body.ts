import type { BodyReader, BodyStream } from '../http/message.ts';
import type { Replacer } from './replacer.ts';
import type { ResponseGuard } from './response-guard.ts';

/** The body of an answer without the values of its request. */
export class GuardedBody implements BodyStream, BodyReader {
  readonly #body: BodyStream;
  readonly #guard: ResponseGuard;
  #replacer: Replacer;
  #automaton: ResponseGuard['automaton'];
  #reader: BodyReader | undefined;

  constructor(body: BodyStream, guard: ResponseGuard) {
    this.#body = body;
    this.#guard = guard;
    this.#automaton = guard.automaton;
    this.#replacer = guard.replacer();
  }

  takeWhole(): Buffer | undefined {
    const whole = this.#body.takeWhole();
    return whole && this.#guard.whole(whole);
  }

  read(reader: BodyReader): void {
    this.#reader = reader;
    this.#body.read(this);
  }

  resume(): void {
    this.#body.resume();
  }

  abort(reason: unknown): void {
    this.#body.abort(reason);
  }

  onData(chunk: Buffer): boolean {
    return this.#giving(() => {
      const isTaken = this.#automaton === this.#guard.automaton || this.#give(this.#lookAnew());
      return this.#give(this.#replacer.read(chunk)) && isTaken;
    });
  }

  onEnd(trailers: string[]): void {
    this.#giving(() => {
      const guarded = this.#guard.lines(trailers);
      const isTaken = this.#give(this.#replacer.end());
      this.#reader?.onEnd(guarded);
      return isTaken;
    });
  }

  onError(error: unknown): void {
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.onError(error);
  }

  #lookAnew(): Buffer {
    this.#automaton = this.#guard.automaton;
    return this.#replacer.lookFor(this.#automaton);
  }

  #give(text: Buffer): boolean {
    return text.length === 0 || (this.#reader?.onData(text) ?? true);
  }

  /** If the guard blocks, the reader gets that as its error, and the call ends. */
  #giving(give: () => boolean): boolean {
    if (!this.#reader) return true;
    try {
      return give();
    } catch (error) {
      this.onError(error);
      this.#body.abort(error);
      return true;
    }
  }
}
