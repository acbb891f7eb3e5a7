import type { Caller, Judgement } from '@sluice/credentials';
import { type DecryptionBudget, SeenTokens } from '@sluice/vault';
import type { Held } from '../limits/body-memory.ts';
import { ConsoleSecrets } from '../transforms/console/secrets.ts';
import type { HostedRun } from '../transforms/transform-host.ts';
import type { ReactorDefinition } from './definition.ts';
import type { ReactorRun } from './reactor-run.ts';

/** The state that the steps of a run share: its memory, the secrets to redact, and the rights that later checks compare with. */
export class Running implements HostedRun {
  readonly run: ReactorRun;
  readonly reactor: ReactorDefinition;
  /** Created before the reactor was read, so that it notices every later change. */
  readonly judgement: Judgement;
  readonly held: Held = {};
  readonly secrets = new ConsoleSecrets();
  /** The tokens of its arguments. */
  readonly seen = new SeenTokens();
  /** The Application as which `req.svc` acts. */
  application: Caller | undefined;
  decryption: DecryptionBudget | undefined;
  expressions = 0;
  #mayAct: Promise<void> | undefined;

  constructor(run: ReactorRun, reactor: ReactorDefinition, judgement: Judgement) {
    this.run = run;
    this.reactor = reactor;
    this.judgement = judgement;
  }

  get tenantId(): string {
    return this.reactor.tenantId;
  }

  get traceId(): string {
    return this.run.traceId;
  }

  /** Resolves when the run may call a destination or change something. */
  beforeEffect(): Promise<void> {
    this.#mayAct ??= this.run.beforeFirstEffect?.() ?? Promise.resolve();
    return this.#mayAct;
  }

  release(): void {
    this.held.request?.release();
    this.held.answer?.release();
  }
}
