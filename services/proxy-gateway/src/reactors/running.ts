import type { Acting } from '../acting/acting.ts';
import type { ReactorDefinition } from './definition.ts';
import type { ReactorRun } from './reactor-run.ts';

/** What the steps of a run share. */
export class Running {
  readonly run: ReactorRun;
  readonly acting: Acting<ReactorDefinition>;
  #mayAct: Promise<void> | undefined;

  constructor(run: ReactorRun, acting: Acting<ReactorDefinition>) {
    this.run = run;
    this.acting = acting;
  }

  /** Resolves when the run may call a destination or change something. */
  beforeEffect(): Promise<void> {
    this.#mayAct ??= this.run.beforeFirstEffect?.() ?? Promise.resolve();
    return this.#mayAct;
  }
}
