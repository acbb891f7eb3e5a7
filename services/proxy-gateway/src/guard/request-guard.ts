import type { MemoryPart } from '@sluice/body-bytes';
import type { AtOnceOrLater } from '@sluice/cache-coherence';
import { ServiceError } from '@sluice/problems';
import type { Pieces } from '@sluice/service-runtime';
import { Automaton } from './automaton.ts';
import { patternsOf } from './forms.ts';
import { GuardedValues, tooMuch } from './guarded-values.ts';
import { type GuardMode, ResponseGuard } from './response-guard.ts';

/** All forms of a byte of a value together, at most. */
const bytesOfForms = 100;
/** While the answer is on its way, the patterns are built anew at most so often. */
const mostExtensions = 100;

interface Building {
  memory(): Pick<MemoryPart, 'bytes' | 'grow' | 'shrinkTo'>;
  inPieces<T>(work: Pieces<T>): AtOnceOrLater<T>;
}

/** The guard of one request: what is put into it, and then what looks for that in its answer. */
export class RequestGuard {
  readonly values = new GuardedValues();
  readonly #mode: GuardMode;
  readonly #building: Building;
  #guard: ResponseGuard | undefined;
  #opening: Promise<void> | undefined;
  /** How many texts the patterns are of. */
  #built = 0;
  /** How many expressions there were when the patterns were built. */
  #asked = 0;
  #extensions = 0;

  constructor(mode: GuardMode, building: Building) {
    this.#mode = mode;
    this.#building = building;
  }

  /** What was found so far. */
  get found(): { hits: number; tokenIds: string[] } {
    const ids = new Set<string>();
    let hits = 0;
    for (const [value, count] of this.#guard?.hits ?? []) {
      hits += count;
      const id = this.values.tokenIds[value];
      if (id !== undefined) ids.add(id);
    }
    return { hits, tokenIds: [...ids] };
  }

  /**
   * Call it before the head of an answer is written. Undefined if there is nothing to look for, now and, unless
   * `mayGrow`, later.
   */
  async open(mayGrow = false): Promise<ResponseGuard | undefined> {
    if (this.values.texts.length === 0 && !mayGrow) return undefined;
    await this.#build();
    return this.#guard;
  }

  /**
   * Call it before values leave that were put in while the answer may be on its way. Whether it throws depends on the
   * expressions alone. @throws {ServiceError} 413 if there were too many new ones since the answer began.
   */
  async extend(): Promise<void> {
    if (!this.#guard && !this.#opening) return;
    const { asked } = this.values;
    if (asked !== this.#asked) {
      this.#asked = asked;
      this.#extensions += 1;
      if (this.#extensions > mostExtensions) throw tooManyExtensions();
    }
    await this.#build();
  }

  /** One after another. */
  async #build(): Promise<void> {
    while (this.#opening) await this.#opening;
    if (this.#guard && this.#built === this.values.texts.length) return;
    this.#opening = this.#buildOnce();
    try {
      await this.#opening;
    } finally {
      this.#opening = undefined;
    }
    await this.#build();
  }

  async #buildOnce(): Promise<void> {
    const { asked, bytes } = this.values;
    const texts = [...this.values.texts];
    const memory = this.#building.memory();
    const ofForms = bytes * bytesOfForms;
    await reserve(memory, ofForms);
    const patterns = await this.#building.inPieces(patternsOf(texts));
    const ofAutomaton = Automaton.bytesFor(patterns);
    await reserve(memory, ofAutomaton);
    const automaton = await this.#building.inPieces(Automaton.build(patterns));
    this.#built = texts.length;
    this.#asked = Math.max(this.#asked, asked);
    if (this.#guard) this.#guard.lookFor(automaton);
    else this.#guard = new ResponseGuard(this.#mode, automaton, this.values.expressions);
    memory.shrinkTo(ofForms + ofAutomaton);
  }
}

/** @throws {ServiceError} 413 for more than one request may ever hold. */
async function reserve(memory: Pick<MemoryPart, 'bytes' | 'grow'>, bytes: number): Promise<void> {
  const wanted = memory.bytes + bytes;
  await memory.grow(bytes);
  if (memory.bytes < wanted) throw tooMuch();
}

function tooManyExtensions(): ServiceError {
  const detail = `The Proxy has a response_guard. After the response has begun, the rest of the request body may add new expressions at most ${mostExtensions} times`;
  return new ServiceError('payload_too_large', detail, { limit: 'guarded_values' });
}
