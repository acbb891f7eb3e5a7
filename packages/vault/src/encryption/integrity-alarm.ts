import { channel } from 'node:diagnostics_channel';
import { Counter, type Registry } from 'prom-client';

const failures = channel('sluice:vault-integrity');

/** Called when the error is created, because a transform may catch it before anything logs it. */
export function announceIntegrityFailure(error: Error): void {
  failures.publish(error);
}

export interface IntegrityAlarm {
  log: { error(details: { err: unknown }, message: string): void };
  metrics: Registry;
  stack: AsyncDisposableStack;
}

/** The error names the record but no value. */
export function raiseIntegrityAlarms({ log, metrics, stack }: IntegrityAlarm): void {
  const counter = new Counter({
    name: 'sluice_integrity_failures_total',
    help: 'Ciphertexts or keys that differ from what was stored. Each one needs an alert',
    registers: [metrics],
  });
  const onFailure = (err: unknown) => {
    counter.inc();
    log.error({ err }, 'stored data is not what was written');
  };
  failures.subscribe(onFailure);
  stack.defer(() => void failures.unsubscribe(onFailure));
}
