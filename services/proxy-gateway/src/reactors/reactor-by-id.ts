import { isDeepStrictEqual } from 'node:util';
import type { Caller } from '@sluice/credentials';
import type { Queryable } from '@sluice/database';
import { ServiceError } from '@sluice/problems';
import type { Selection } from '../acting/acting.ts';
import type { ReactorDefinition } from './definition.ts';
import { type FindingReactors, findReactor, reactorNotFound } from './find-reactor.ts';
import type { ReactorRun } from './reactor-run.ts';

type SelectedRun = Pick<ReactorRun, 'reactorId' | 'caller'> & Partial<Pick<ReactorRun, 'look' | 'signal'>>;

const names = { owner: 'reactor', caller: 'caller', application: 'Application of this reactor' } as const;

/** The reactor that a run names. The run's own `look` judges its caller. */
export class ReactorById implements Selection<ReactorDefinition> {
  readonly #run: SelectedRun;
  readonly #context: FindingReactors;

  constructor(run: SelectedRun, context: FindingReactors) {
    this.#run = run;
    this.#context = context;
  }

  find() {
    return this.findAgain();
  }

  findAgain(tx?: Queryable) {
    const { caller, reactorId: id } = this.#run;
    return findReactor({ tenantId: caller.tenantId, id }, this.#context, tx);
  }

  notFound(): ServiceError {
    return reactorNotFound(this.#run.reactorId);
  }

  /** @throws {ServiceError} 403 if the session is limited to other reactors. */
  async authenticate({ id }: ReactorDefinition): Promise<Caller> {
    const { caller } = this.#run;
    if (caller.reactors && !caller.reactors.includes(id))
      throw new ServiceError(
        'forbidden',
        `This ${caller.type === 'session' ? 'session' : 'Application'} may not call this reactor`,
      );
    return caller;
  }

  async lookFirst(): Promise<void> {
    this.#run.signal?.throwIfAborted();
    await this.#run.look?.();
  }

  /** A run keeps the code with which it began, because that may have charged a card. */
  goOnWith(found: ReactorDefinition, known: ReactorDefinition, isBeforeCode: boolean): ReactorDefinition | undefined {
    const isUnchanged = isBeforeCode ? isDeepStrictEqual(found, known) : found.applicationId === known.applicationId;
    return isUnchanged ? known : undefined;
  }

  changed(what: keyof typeof names): ServiceError {
    const detail = `The ${names[what]} was changed during the run; try again`;
    return new ServiceError('unavailable', detail, { retryAfterSeconds: 1 });
  }
}
